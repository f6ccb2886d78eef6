"""The warm-up: queries of every kind over a few rows, so that their loops are compiled and kept.

The set-up of a checkout runs it, and so does `penstock doctor`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

DECLARATIONS = """
    CREATE STREAM s (ts BIGINT, k INTEGER, name STRING, x DOUBLE, cost DECIMAL(10, 2),
        WATERMARK FOR ts AS ts);
    CREATE STREAM t (ts BIGINT, k INTEGER, name STRING, x DOUBLE, cost DECIMAL(10, 2),
        WATERMARK FOR ts AS ts);
    CREATE STREAM u (ts BIGINT, k INTEGER, name STRING, x DOUBLE, cost DECIMAL(10, 2),
        WATERMARK FOR ts AS ts);
    CREATE RELATION r (k INTEGER, name STRING);
    CREATE NONRETROACTIVE RELATION n (k INTEGER, name STRING);
"""

QUERIES = (
    # The usual ones first: who interrupts us has at least these.
    "SELECT s.k, s.x, t.name FROM s [RANGE 10] JOIN t [RANGE 10] ON s.k = t.k",
    "SELECT k, COUNT(*) AS n, SUM(x) AS x, SUM(k) AS k2, AVG(k) AS a FROM s [RANGE 10] GROUP BY k",
    "SELECT name, MEDIAN(x) AS middle, MEDIAN(k) AS other FROM s [RANGE 10] GROUP BY name",
    "SELECT s.k, s.x, t.name FROM s [RANGE 10] LEFT JOIN t [RANGE 10] ON s.k = t.k",
    "SELECT DISTINCT k, name FROM s [RANGE 10]",
    "SELECT MIN(k) AS low, MAX(x) AS high FROM s [RANGE 10]",
    "SELECT k, MAX(name) AS last FROM s [RANGE 10] GROUP BY k",
    "RSTREAM(SELECT k, COUNT(*) AS n FROM s [RANGE 10 SLIDE 5] GROUP BY k ORDER BY n LIMIT 2)",
    "SELECT s.k, r.name FROM s [ROWS 3] JOIN r ON s.k = r.k",
    "SELECT s.k, r.name FROM s [NOW] LEFT JOIN r ON s.k = r.k",
    "SELECT s.k, n.name FROM s [RANGE 10] JOIN n ON s.k = n.k",
    "SELECT k FROM s [PARTITION BY k ROWS 2]",
    "SELECT k, SUM(x) AS total FROM s [ROWS 4 SLIDE 2] GROUP BY k",
    "SELECT COUNT(DISTINCT name) AS names FROM s [FIXED 10]",
    "SELECT k FROM s [RANGE 10] WHERE NOT EXISTS (SELECT * FROM t [RANGE 10] WHERE t.k = s.k)",
    "SELECT k FROM s [RANGE 10] WHERE k IN (SELECT k FROM t [RANGE 10])",
    "SELECT k FROM s [RANGE 10] EXCEPT SELECT k FROM t [RANGE 10]",
    "SELECT k FROM s [RANGE 10] EXCEPT ALL SELECT k FROM t [RANGE 10]",
    "SELECT k FROM s [RANGE 10] INTERSECT SELECT k FROM t [RANGE 10]",
    "SELECT k FROM s [RANGE 10] INTERSECT ALL SELECT k FROM t [RANGE 10]",
    "SELECT k FROM s [RANGE 10] UNION SELECT k FROM t [RANGE 10]",
    "ISTREAM(SELECT k, COUNT(*) AS n FROM s [RANGE 10] GROUP BY k)",
    "DSTREAM(SELECT DISTINCT name FROM s [RANGE 10])",
    "ISTREAM RESTORE (SELECT k FROM s [RANGE 2 SLIDE 5])",
    "SELECT name, SUM(cost) AS total, AVG(cost) AS mean FROM s [RANGE 10] GROUP BY name",
    "SELECT MAX(cost) AS top FROM s [RANGE 10]",
    "SELECT k, COUNT(DISTINCT x) AS n FROM s [RANGE 10] GROUP BY k",
    "RSTREAM(SELECT k, x FROM s [ROWS 4 SLIDE 2])",
    "SELECT k, STDDEV(x) AS spread, VARIANCE(k) AS square FROM s [RANGE 10] GROUP BY k",
    "SELECT s.k FROM s [RANGE 10] JOIN t [RANGE 10] ON s.k = t.k JOIN u [RANGE 10] ON t.k = u.k",
    "SELECT s.k FROM s [RANGE 10] FULL JOIN t [RANGE 10] ON s.k = t.k AND s.x < t.x",
    "SELECT k, SUM(x) AS total FROM s [RANGE 10] GROUP BY k EMIT FINAL",
    "SELECT SUM(x) AS total FROM s [RANGE 5 SLIDE 5 INTERNAL]",
    "SELECT DISTINCT s.name FROM s [RANGE 9] JOIN t [RANGE 9] ON s.name = t.name EMIT FINAL",
)


def warm_up(queries: Sequence[str] = QUERIES) -> Iterator[str]:
    """Run queries one by one; each is given back when its loops are compiled."""
    # Here, because it loads the operators: the list of queries is there for who only counts them.
    import penstock

    for text in queries:
        db = penstock.connect_inline()
        db.execute(DECLARATIONS)
        query = db.query(text)
        for at in range(0, 60, 3):
            row = (at, at % 4, f"a name, {at % 5}", at / 2, Decimal(at))
            for relation in ("r", "n"):
                db.update(relation, insert=[(at % 4, f"since {at}")])
            for stream in ("s", "t", "u"):
                db.insert(stream, [row, row])
        repr(query)  # asks for what holds now, whatever kind of answer it is
        db.close()
        yield text


def warm_up_in_parallel(say: Callable[[str], None]) -> bool:
    """Run all queries in a few processes of their own; whether all went well."""
    shares = min(4, len(os.sched_getaffinity(0)))
    reading, writing = os.pipe()
    command = [sys.executable, "-P", "-m", "penstock.connection.engines.local.warm_up"]
    running = [
        subprocess.Popen([*command, str(share), str(shares)], stdout=writing)
        for share in range(shares)
    ]
    os.close(writing)
    try:
        with open(reading) as lines:
            for done, _ in enumerate(lines, 1):
                if done % 5 == 0:
                    say(f"compiled the loops of {done} of {len(QUERIES)} kinds of queries")
        return {process.wait() for process in running} == {0}
    finally:
        for process in running:
            process.kill()
            process.wait()


def main() -> None:
    """All queries, by several processes; or, as one of these, a share of them."""
    if not sys.argv[1:]:
        sys.exit(0 if warm_up_in_parallel(_say) else 1)
    share, shares = map(int, sys.argv[1:])
    for text in warm_up(QUERIES[share::shares]):
        print(text, flush=True)  # noqa: T201  # who started us counts the lines


def _say(text: str) -> None:
    print(f"penstock: {text}", flush=True)  # noqa: T201


if __name__ == "__main__":
    # A signal ends it at once: what is compiled is kept, and there is nothing to tidy up.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    main()
