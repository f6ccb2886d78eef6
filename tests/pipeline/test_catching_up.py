"""New queries over old rows: right from their first commit on, without a gap or a doubled row."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import penstock
from penstock.algebra.streams import RelationToStream
from penstock.pipeline.catching_up import with_catching_up
from penstock.pipeline.plans import PipelinePlan
from penstock.pipeline.replanning import replanned
from penstock.pipeline.sweeping import Retention
from penstock.planner.statistics.statistics import Statistics
from penstock.reference.inputs import Inputs, RelationChange, RelationHistory
from penstock.reference.oracle import Oracle
from penstock.store.result_files import result_blocks
from penstock.testing.inline import emissions, timeline
from pipeline.beside import Beside
from store.driving import Driver, plan_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from penstock.operators.block import Block
    from penstock.reference.timeline import Row

STREAMS = (
    "CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts - 4) RETAIN UNBOUNDED;",
    "CREATE STREAM t (ts BIGINT, k INT, WATERMARK FOR ts AS ts) RETAIN 1000;",
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
    # Rows of one instant that came by different lanes have no order among retained ones.
    "last": "SELECT k, ts FROM s [PARTITION BY k ROWS 2]",
    "ever": "SELECT v, COUNT(*) AS n FROM s [UNBOUNDED] GROUP BY v",
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


def with_query(driver: Driver, name: str, clause: str = "") -> None:
    """Run a query more, which catches up if it is to see retained rows."""
    known = driver.ledger.plan.plan
    statements = (*known.statements, f"CREATE QUERY {name} {clause} AS {QUERIES[name]};")
    made = plan_of(statements, [name], 2, 1 + max(driver.ledger.plan.groups))
    plan = PipelinePlan(statements, (*known.groups, *made.groups), session=made.session)
    driver.ledger.change_plan(with_catching_up(driver.ledger, plan))


def change(driver: Driver, random: Random, histories: list[tuple[Row, int]]) -> None:
    """A row more in the relation, from an instant on that no query has passed."""
    at = max([0, *(one.watermark for one in driver.ledger.record.streams.values())])
    row = (random.randint(1, 3), f"n{len(histories)}")
    at += random.randint(0, 3)
    histories.append((row, at))
    columns = {"k": [row[0]], "name": [row[1]], "_sign": [1], "_at": [at]}
    driver.ledger.change_relation("r", pa.table(columns))


def trial(path: Path, names: Sequence[str], seed: int) -> Counter[str]:
    """Random batches, moments and kills; each query has the answers of the oracle."""
    random = Random(seed)
    seen: dict[str, list[Row]] = {"s": [], "t": []}
    histories: list[tuple[Row, int]] = []
    driver = Driver(path, STREAMS, ["old"], lanes=2)
    beside, counts = Beside(driver, random), Counter[str]()
    moments = {name: random.randint(1, 8) for name in names}
    for step in range(12):
        if random.random() < 0.3:
            change(driver, random, histories)
        rows = drawn(random, step * 5)
        for stream, several in taken(driver, rows).items():
            seen[stream] += several
        driver.batch(rows)
        if random.random() < 0.3:
            driver.housekeeping.clean(SEALING)
        for name in [name for name in names if moments[name] == step]:
            with_query(driver, name)
        if random.random() < 0.15:
            driver.close()
            driver = Driver(path)
            counts += beside.counts + Counter({"driver killed": 1})
            beside = Beside(driver, random)
        for _ in range(random.randint(0, 2)):
            beside.step()
    beside.finish()
    if random.random() < 0.5:
        driver.batch(drawn(random, -100))
    driver.flush()
    oracle = Oracle(Inputs(seen, {"r": history_of(histories)}))
    for name in names:
        judge(driver, oracle, name, seed)
    driver.close()
    return counts + beside.counts


def history_of(histories: list[tuple[Row, int]]) -> RelationHistory:
    return RelationHistory([], [RelationChange(at, "+", row) for row, at in histories])


def judge(driver: Driver, oracle: Oracle, name: str, seed: int) -> None:
    blocks: list[Block] = [
        block
        for record in driver.home.chain.since(0)
        for block in result_blocks(driver.home, record, name)
    ]
    plan = driver.ledger.plan.session.bind(QUERIES[name]).plan
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
    counts: Counter[str] = Counter()
    for seed in range(3):
        counts += trial(tmp_path / str(seed), [name], seed)
    assert counts["joined"] >= 3


def test_so_do_several_at_once_whatever_is_killed(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    for seed in range(12):
        names = Random(seed).sample(list(QUERIES), 3)
        counts += trial(tmp_path / str(seed), names, 100 + seed)
    assert all(counts[one] > 5 for one in ("joined", "driver killed", "lanes killed"))


def plan_anew(driver: Driver) -> None:
    """Let all groups be planned anew that are not, or are about to be."""
    for number in list(driver.ledger.plan.groups):
        new = 1 + max(driver.ledger.plan.groups)
        plan = replanned(driver.ledger, number, Statistics(), new, even_if_same=True)
        if plan is not None:
            driver.ledger.change_plan(plan)


def test_windows_that_never_forget_are_planned_anew_from_what_is_retained(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    for seed in range(5):
        random = Random(seed)
        seen: dict[str, list[Row]] = {"s": [], "t": []}
        names = ["last", "ever", "total"]
        created = [f"CREATE QUERY {name} AS {QUERIES[name]};" for name in names]
        driver = Driver(tmp_path / str(seed), (*STREAMS[:2], *created), names, lanes=2)
        beside = Beside(driver, random)
        moment = random.randint(1, 6)
        for step in range(10):
            rows = drawn(random, step * 5)
            for stream, several in taken(driver, rows).items():
                seen[stream] += several
            driver.batch(rows)
            if step == moment:
                plan_anew(driver)
                assert len(driver.ledger.plan.catching_up) >= 2
            beside.step()
            beside.take_over()
        beside.finish()
        driver.flush()
        # A window of time waits until its length has passed.
        groups = [one.group for one in driver.ledger.plan.groups.values()]
        waiting = [one for one in groups if one.replaces is not None]
        assert all({*one.runs.values()} == {"total"} for one in waiting)
        for name in names:
            judge(driver, Oracle(Inputs(seen)), name, seed)
        driver.close()
        counts += beside.counts
    assert counts["took over"] >= 10, counts


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
