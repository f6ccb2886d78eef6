"""The instant from which on a query that was created late is exact, against the oracle."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock.algebra.time import INFINITY
from penstock.reference.inputs import Inputs
from penstock.reference.oracle import Oracle

if TYPE_CHECKING:
    from penstock.connection.connection import Connection
    from penstock.reference.timeline import Row

QUERIES = {
    "range": "SELECT k, COUNT(*) AS n FROM s [RANGE 9] GROUP BY k",
    "two": "SELECT s.k, t.ts FROM s [RANGE 5], t [RANGE 14] WHERE s.k = t.k",
    "slide": "SELECT COUNT(*) AS n FROM s [RANGE 10 SLIDE 4]",
    "rows": "SELECT k, ts FROM t [ROWS 3]",
    "since": "SELECT COUNT(*) AS n FROM s [SINCE 30]",
    "ever": "SELECT COUNT(*) AS n FROM t [UNBOUNDED]",
    "keys": "SELECT k, ts FROM t [PARTITION BY k ROWS 1]",
    "over": "SELECT MAX(n) AS most FROM base",
    "twice": "SELECT a.n, b.n AS m FROM base a, base b WHERE a.k = b.k",
}
BASE = "CREATE QUERY base AS SELECT k, COUNT(*) AS n FROM s [RANGE 12] GROUP BY k"


def arrived(db: Connection, random: Random, now: int, seen: dict[str, list[Row]]) -> int:
    """Rows of both streams, in order, and the time after them."""
    for _ in range(random.randint(1, 4)):
        now += random.randint(0, 3)
        row_of_s: Row = (now, random.randint(1, 3))
        seen["s"].append(row_of_s)
        db.insert("s", [row_of_s])
        row_of_t: Row = (now, random.randint(1, 3))
        seen["t"].append(row_of_t)
        db.insert("t", [row_of_t])
    return now


def trial(name: str, seed: int) -> int | None:
    """A query that comes late is exact from the instant it says, which it says; that instant."""
    random = Random(seed)
    db = penstock.connect_inline()
    retain = random.choice(["RETAIN 12", "RETAIN 30", "RETAIN UNBOUNDED", ""])
    for stream in ("s", "t"):
        db.execute(f"CREATE STREAM {stream} (ts BIGINT, k INT, WATERMARK FOR ts AS ts) {retain}")
    db.execute(BASE)
    seen: dict[str, list[Row]] = {"s": [], "t": []}
    now = 0
    for _ in range(random.randint(0, 12)):
        now = arrived(db, random, now, seen)
    start = random.choice(["", "", "START NOW", f"START AT {now // 2}"])
    db.execute(f"CREATE QUERY late {start} AS {QUERIES[name]}")
    late = db["late"]
    for _ in range(random.randint(0, 12)):
        now = arrived(db, random, now, seen)
    exact, clock = late.exact_from, late.clock
    if exact == INFINITY or clock is None:
        return exact
    wanted = Oracle(Inputs(seen)).timeline(late.plan)
    for at in range(exact if exact is not None else 0, clock):
        found = Counter(tuple(row.values()) for row in late.snapshot(at=at).to_pylist())
        assert found == wanted.at(at), (name, seed, retain, start, exact, at)
    return exact


@pytest.mark.parametrize("name", QUERIES)
def test_it_is_exact_from_the_instant_that_it_says(name: str) -> None:
    found = [trial(name, seed) for seed in range(14)]
    assert None in found
    assert any(one is not None for one in found)


def test_a_query_over_a_running_one_begins_with_what_that_holds() -> None:
    db = penstock.connect_inline()
    db.execute("CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts)")
    db.execute(BASE)
    db.insert("s", [(ts, ts % 3) for ts in range(40)])
    db.execute("CREATE QUERY most AS SELECT MAX(n) AS most FROM base")
    db.execute("CREATE QUERY fresh AS SELECT COUNT(*) AS n FROM s [RANGE 12]")
    assert db["most"].snapshot().to_pylist() == [{"most": 4}]
    assert db["fresh"].snapshot().to_pylist() == [{"n": 0}]
    clock, exact = db["most"].clock, db["most"].exact_from
    assert clock is not None
    assert exact is not None
    assert exact < clock
    assert db["fresh"].exact_from == 40 + 11
    assert "exact from 51" in repr(db["fresh"])
    assert "Exact: from 51" in db["fresh"].explain()
    assert db.progress()["queries"]["fresh"]["exact_from"] == 51
