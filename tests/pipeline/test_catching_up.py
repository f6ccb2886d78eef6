"""New queries over old rows: right from their first commit on, without a gap or a doubled row."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import penstock
from penstock.algebra.streams import RelationToStream
from penstock.pipeline.catching_up import catch_up
from penstock.pipeline.plans import PipelinePlan
from penstock.pipeline.sweeping import Retention
from penstock.reference.inputs import Inputs, RelationHistory
from penstock.reference.oracle import Oracle
from penstock.store.result_files import result_blocks
from penstock.testing.inline import emissions, timeline
from store.driving import Driver, plan_of

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.operators.block import Block
    from penstock.reference.timeline import Row

STREAMS = (
    "CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts - 4) RETAIN UNBOUNDED;",
    "CREATE STREAM t (ts BIGINT, k INT, WATERMARK FOR ts AS ts) RETAIN UNBOUNDED;",
    "CREATE RELATION r (k INT, name STRING);",
    "CREATE QUERY old AS SELECT k FROM s [RANGE 3];",
)
QUERIES = {
    "grouped": "SELECT k, COUNT(*) AS n, SUM(v) AS total FROM s [RANGE 12] GROUP BY k",
    "joined": "SELECT s.k, s.v FROM s [RANGE 15], t [RANGE 9] WHERE s.k = t.k",
    "total": "SELECT COUNT(*) AS n, MAX(v) AS most FROM s [RANGE 20]",
    "regrouped": (
        "SELECT s.v, COUNT(*) AS n FROM s [RANGE 9], t [RANGE 9] WHERE s.k = t.k GROUP BY s.v"
    ),
    "named": "SELECT s.v, name FROM s [RANGE 10] JOIN r ON s.k = r.k",
    "last": "SELECT k, v FROM s [PARTITION BY k ROWS 2]",
    "sent": "ISTREAM(SELECT k FROM t [RANGE 8] EXCEPT SELECT k FROM s [RANGE 8])",
}
SEALING = Retention(seal_bytes=0, grace=0)


def drawn(random: Random, now: int) -> dict[str, list[dict[str, object]]]:
    rows_of_s: list[dict[str, object]] = [
        {"ts": now + random.randint(-6, 6), "k": random.randint(1, 3), "v": random.randint(0, 2)}
        for _ in range(random.randint(0, 4))
    ]
    rows_of_t: list[dict[str, object]] = [
        {"ts": now + random.randint(0, 5), "k": random.randint(1, 3)}
        for _ in range(random.randint(0, 3))
    ]
    return {"s": rows_of_s, "t": rows_of_t}


def taken(driver: Driver, rows: dict[str, list[dict[str, object]]]) -> dict[str, list[Row]]:
    streams = driver.ledger.record.streams
    return {
        name: [
            tuple(one.values())  # type: ignore[arg-type]  # values of columns, all of them
            for one in several
            if one["ts"] >= streams[name].watermark  # type: ignore[operator]
        ]
        for name, several in rows.items()
    }


def with_query(driver: Driver, name: str, clause: str = "") -> PipelinePlan:
    """The plan that runs, and a query more."""
    statements = (*STREAMS, f"CREATE QUERY {name} {clause} AS {QUERIES[name]};")
    made = plan_of(statements, [name], 2, 1 + max(driver.ledger.plan.groups))
    old = tuple(one.group for one in driver.ledger.plan.groups.values())
    return PipelinePlan(statements, (*old, *made.groups), session=made.session)


def trial(path: Path, name: str, seed: int) -> None:
    random = Random(seed)
    seen: dict[str, list[Row]] = {"s": [], "t": []}
    with Driver(path, STREAMS, ["old"], lanes=2) as driver:
        moment = random.randint(1, 8)
        names: list[Row] = [(1, "a"), (2, "b"), (2, "c")]
        content = {"k": [1, 2, 2], "name": ["a", "b", "c"], "_sign": [1, 1, 1]}
        driver.ledger.change_relation("r", pa.table(content))
        for step in range(10):
            rows = drawn(random, step * 5)
            for stream, several in taken(driver, rows).items():
                seen[stream] += several
            driver.batch(rows)
            if random.random() < 0.3:
                driver.housekeeping.clean(SEALING)
            if step == moment:
                driver.ledger.change_plan(with_query(driver, name))
                catch_up(driver.ledger)
        driver.flush()
        blocks: list[Block] = [
            block
            for record in driver.home.chain.since(0)
            for block in result_blocks(driver.home, record, name)
        ]
        plan = driver.ledger.plan.session.bind(QUERIES[name]).plan
        oracle = Oracle(Inputs(seen, {"r": RelationHistory(names)}))
        if isinstance(plan, RelationToStream):
            assert Counter(emissions(blocks)) == Counter(oracle.emissions(plan)), (name, seed)
            return
        found, wanted = timeline(blocks), oracle.timeline(plan)
        for at in sorted({*found.starts, *wanted.starts}):
            assert found.at(at) == wanted.at(at), (name, seed, at)


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_that_comes_later_answers_as_if_it_had_always_run(
    tmp_path: Path, name: str
) -> None:
    for seed in range(4):
        trial(tmp_path / str(seed), name, seed)


def test_in_this_process_too_and_start_says_from_when() -> None:
    db = penstock.connect_inline()
    for text in STREAMS:
        db.execute(text)
    db.insert("s", [(ts, 1, ts) for ts in range(50)])
    db.execute("CREATE QUERY total AS SELECT COUNT(*) AS n FROM s [RANGE 20]")
    db.execute("CREATE QUERY now START NOW AS SELECT COUNT(*) AS n FROM s [RANGE 20]")
    db.execute("CREATE QUERY part START AT 40 AS SELECT COUNT(*) AS n FROM s [RANGE 20]")
    assert [db[one].snapshot().to_pylist() for one in ("total", "now", "part")] == [
        [{"n": 20}],
        [{"n": 0}],
        [{"n": 5}],
    ]
    db.insert("s", [(50, 1, 1), (60, 1, 1)])
    assert [db[one].snapshot()["n"].to_pylist() for one in ("total", "now", "part")] == [
        [15],
        [1],
        [11],
    ]
