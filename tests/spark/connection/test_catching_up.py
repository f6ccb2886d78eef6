"""New queries over old rows while rows keep coming, on Spark; what helps them is killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from penstock.errors import DataError, UnknownName
from penstock.lane_host.lane_client import _address
from penstock.pipeline.sweeping import Retention
from penstock.reference.inputs import Inputs
from penstock.reference.oracle import Oracle
from penstock.spark.spark_engine import spark_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from penstock.connection.answer_tables import Results
    from penstock.connection.connection import Connection
    from penstock.reference.timeline import Row

DECLARED = """
CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts) RETAIN UNBOUNDED;
CREATE STREAM t (ts BIGINT, k INT, WATERMARK FOR ts AS ts) RETAIN UNBOUNDED;
CREATE QUERY old AS SELECT k, COUNT(*) AS n FROM s [RANGE 50] GROUP BY k;
"""
QUERIES = {
    "grouped": "SELECT k, SUM(v) AS total FROM s [RANGE 100] GROUP BY k",
    "everything": "SELECT COUNT(*) AS n, MAX(v) AS most FROM s [UNBOUNDED]",
    "joined": "SELECT s.v, t.ts FROM s [RANGE 6], t [RANGE 9] WHERE s.k = t.k AND s.v < 3",
    "last": "SELECT k, ts FROM s [PARTITION BY k ROWS 2]",
}


class Arrivals:
    """Rows that come all the time, in order, and that are known to the oracle."""

    def __init__(self, db: Connection, seed: int) -> None:
        self._db = db
        self._random = Random(seed)
        self._now = 0
        self.seen: dict[str, list[Row]] = {"s": [], "t": []}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go_on)

    def bring(self, rows: int) -> None:
        """Bring some rows of both streams."""
        draw = self._random
        instants = [self._now + place // 3 for place in range(rows)]
        self._now += rows // 3 + 1
        of_s: list[Row] = [(ts, draw.randint(1, 5), draw.randint(0, 9)) for ts in instants]
        of_t: list[Row] = [(ts, draw.randint(1, 5)) for ts in instants[::4]]
        self.seen["s"] += of_s
        self.seen["t"] += of_t
        self._db.insert("s", of_s)
        self._db.insert("t", of_t)

    def _go_on(self) -> None:
        while not self._over.wait(0.3):
            self.bring(self._random.randint(1, 3))

    def __enter__(self) -> Arrivals:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def require_true(
    db: Connection, seen: dict[str, list[Row]], names: Sequence[str], *, earlier: bool = True
) -> None:
    """The contents are those of the oracle at the last instant, and at some earlier ones."""
    db.wait_idle()
    oracle = Oracle(Inputs(seen))
    for name in names:
        query = db[name]
        wanted = oracle.timeline(query.plan)
        clock = query.clock
        assert clock is not None
        for at in {clock - 1, clock // 2, clock // 3, 1} if earlier else {clock - 1}:
            found = Counter(tuple(row.values()) for row in query.snapshot(at=at).to_pylist())
            assert found == wanted.at(at), (name, at)


def helpers(db: Connection) -> list[int]:
    """The processes that hold the lanes of new queries."""
    application = spark_engine(db).spark.sparkContext.applicationId
    address = str(_address(f"{application} beside", 0))
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if address in (entry / "cmdline").read_text("utf-8"):
                found.append(int(entry.name))
    return found


def test_several_queries_join_while_rows_come_and_their_helper_is_killed(
    connect: Callable[..., Connection],
) -> None:
    db = connect()
    db.execute(DECLARED)
    arrivals = Arrivals(db, 1)
    arrivals.bring(240)
    db.wait_idle()
    db.execute("CREATE QUERY warm AS SELECT COUNT(*) AS n FROM s [RANGE 5]")
    killed = 0
    with arrivals:
        for names in (["grouped", "everything"], ["joined", "last"]):
            text = ";".join(f"CREATE QUERY {name} AS {QUERIES[name]}" for name in names)
            registering = threading.Thread(target=db.execute, args=(text,))
            registering.start()
            while registering.is_alive():
                for process in helpers(db)[: killed < 3]:
                    os.kill(process, signal.SIGKILL)
                    killed += 1
                time.sleep(0.05)
            registering.join()
            assert not spark_engine(db).running.pipeline.ledger.plan.catching_up
        arrivals.bring(5)
    assert killed
    require_true(db, arrivals.seen, ["old", *QUERIES])
    assert all("tried again" not in text for text in errors_of(db))


def errors_of(db: Connection) -> list[str]:
    return [text for _, text in spark_engine(db).running.pipeline.status.errors]


def test_rows_that_cannot_be_read_are_named_and_the_query_is_not_there(
    connect: Callable[..., Connection],
) -> None:
    db = connect("damaged")
    db.execute(DECLARED)
    Arrivals(db, 2).bring(300)
    db.wait_idle()
    pipeline = spark_engine(db).running.pipeline
    pipeline.retention = Retention(seal_bytes=0)
    pipeline.clean()
    (file,) = list(spark_engine(db).home.segments.glob("*.rows"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(DataError, match=file.name):
        db.execute("CREATE QUERY q AS SELECT * FROM s [RANGE 500]")
    assert [one.name for one in spark_engine(db).catalog.of_kind("query")] == ["old"]
    db.execute("CREATE QUERY q START NOW AS SELECT * FROM s [RANGE 500]")
    assert len(db["q"].snapshot()) == 0


def test_a_query_takes_the_place_of_another_and_readers_go_on(
    connect: Callable[..., Connection],
) -> None:
    db = connect("replaced")
    db.execute(DECLARED)
    db.execute("CREATE SINK kept FROM old USING memory")
    arrivals = Arrivals(db, 3)
    arrivals.bring(300)
    db.wait_idle()
    query = db["old"]
    held = net(query.changes(since="last"))
    text = "SELECT k, COUNT(*) AS n FROM s [UNBOUNDED] WHERE v > 4 GROUP BY k"
    db.execute(f"CREATE OR REPLACE QUERY old AS {text}")
    with pytest.raises(UnknownName):
        spark_engine(db).program.definition("old (next)")
    assert query.text == text
    arrivals.bring(30)
    require_true(db, arrivals.seen, ["old"], earlier=False)
    held.update(net(query.changes(since="last")))
    final = Counter(tuple(row.values()) for row in query.snapshot().to_pylist())
    sinks = spark_engine(db).sinks
    assert sinks.wait_written(60)
    taken = sinks.table("kept")
    assert taken is not None
    assert +held == +net(taken) == final
    db.close()
    again = connect("replaced")
    assert again["old"].text == text
    require_true(again, arrivals.seen, ["old"], earlier=False)


def net(changes: Results | pa.Table) -> Counter[tuple[object, ...]]:
    """How often each row has come more than it has gone."""
    found = Counter[tuple[object, ...]]()
    for row in changes.to_pylist():
        found[row["k"], row["n"]] += 1 if row["_sign"] == "+" else -1
    return found
