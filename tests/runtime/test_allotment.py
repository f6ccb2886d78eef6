"""Allotments: what a lane does in a time, what waits, and steps that are repeated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from penstock.operators.block import concatenated, to_table
from penstock.runtime.allotment import Allotment
from penstock.runtime.lane import Lane
from penstock.runtime.local_run import LocalRun
from penstock.runtime.work_clock import VirtualClock
from penstock.scheduling.work_rules import WorkRules
from penstock.session import Session

if TYPE_CHECKING:
    from penstock.operators.block import Block
    from penstock.planner.physical.graph import Graph
    from penstock.runtime.lane_output import LaneOutput

SCRIPT = """
CREATE STREAM a (ts BIGINT, k INT, WATERMARK FOR ts AS ts);
CREATE STREAM b (ts BIGINT, k INT, WATERMARK FOR ts AS ts)
"""
QUERY = (
    "SELECT a.k, COUNT(*) AS n FROM a [RANGE 20], b [RANGE 20] WHERE a.k = b.k AND a.k > 0"
    " GROUP BY a.k"
)
ONE_STEP = Allotment(0.0)


def run(rules: WorkRules | None = None) -> LocalRun:
    session = Session()
    session.execute(SCRIPT)
    plan = session.bind(QUERY).plan
    return LocalRun({"q": plan}, rules=rules, clock=VirtualClock(1.0, 0.0))


def graph() -> Graph:
    return run().graph


def rows(start: int, stop: int) -> pa.Table:
    instants = range(start, stop)
    return pa.table({"ts": pa.array(instants, pa.int64()),
                     "k": pa.array([one % 3 for one in instants], pa.int32())})  # fmt: skip


def tables(feed: int) -> dict[str, pa.Table]:
    return {"a": rows(feed * 10, feed * 10 + 10), "b": rows(feed * 10 + 1, feed * 10 + 11)}


def said(results: LaneOutput) -> list[tuple[object, ...]]:
    blocks: list[Block] = results.blocks.get("q", [])
    if not blocks:
        return []
    table = to_table(concatenated([replace(one, sign=one.signs) for one in blocks]))
    return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True))


def test_without_a_budget_nobody_schedules_and_nothing_is_measured() -> None:
    running = run(WorkRules(scheduler="chain"))
    running.feed(tables(0))
    (lane,) = running.lanes.lanes
    assert lane.dispatcher is None
    assert lane.work_report() == {}
    assert not any(len(one.marks) for one in lane.stations)


def test_what_is_not_done_waits_and_is_done_later() -> None:
    whole, budgeted = run(), run(WorkRules(budget=0.0, block_rows=4))
    expected, found = whole.feed(tables(0)), budgeted.feed(tables(0))
    assert budgeted.lanes.is_behind
    assert budgeted.lanes.lanes[0].queued_bytes > 0
    assert budgeted.lanes.lanes[0].clock("q") < whole.lanes.lanes[0].clock("q")
    feeds = 0
    while budgeted.lanes.is_behind:
        found.extend(budgeted.feed({}))
        feeds += 1
    assert feeds > 3
    assert budgeted.lanes.lanes[0].clock("q") == whole.lanes.lanes[0].clock("q")
    expected.extend(whole.finish())
    found.extend(budgeted.finish())
    assert said(found) == said(expected) != []
    assert len(found.steps) == feeds + 1


def test_a_feed_without_an_allotment_does_all() -> None:
    running = run(WorkRules(budget=0.0, block_rows=4))
    running.feed(tables(0))
    running.lanes.work_off()
    assert not running.lanes.is_behind
    assert running.lanes.lanes[0].queued_bytes == 0


@pytest.mark.parametrize("saved_after", [0, 1, 2])
def test_a_lane_that_repeats_its_steps_says_the_same(saved_after: int) -> None:
    """Whatever time it took: from the steps that were written down, and from saved state."""
    first = run(WorkRules(budget=3.0, block_rows=4))
    outcomes, states = [], []
    for feed in range(3):
        outcomes.append(first.feed(tables(feed)))
        states.append(first.save())
    again = run(WorkRules(budget=1000.0, block_rows=4))
    begin = 0
    if saved_after:
        again.restore(states[saved_after - 1])
        begin = saved_after
    (lane,) = again.lanes.lanes
    for feed in range(begin, 3):
        blocks = {
            name: again.intakes[name].read(one).take_in() for name, one in tables(feed).items()
        }
        marks = {name: intake.watermark for name, intake in again.intakes.items()}
        repeated = lane.feed(blocks, marks, Allotment(steps=tuple(outcomes[feed].steps)))
        assert said(repeated) == said(outcomes[feed])
        assert repeated.steps == outcomes[feed].steps
    assert lane.is_behind
    assert said(again.finish()) == said(first.finish())


def test_a_step_is_done_however_short_the_time() -> None:
    lane = Lane(graph(), rules=WorkRules(0.0, block_rows=4), clock=VirtualClock(100.0, 0.0))
    running = run()
    blocks = {name: running.intakes[name].read(one).take_in() for name, one in tables(0).items()}
    marks = {name: intake.watermark for name, intake in running.intakes.items()}
    assert len(lane.feed(blocks, marks, ONE_STEP).steps) == 1


def test_other_numbers_of_lanes_go_on_from_lanes_that_were_behind() -> None:
    session = Session()
    session.execute(SCRIPT)
    plans = {"q": session.bind(QUERY).plan}
    rules = WorkRules(budget=2.0, block_rows=4)
    before = LocalRun(plans, lanes=3, rules=rules, clock=VirtualClock(1.0, 0.0))
    before.feed(tables(0))
    assert before.lanes.is_behind
    after = LocalRun(plans, lanes=2, rules=rules, clock=VirtualClock(1.0, 0.0))
    after.restore(before.save())
    assert not after.lanes.is_behind
    owed = after.feed({})
    expected = run().feed(tables(0))
    assert {row[:1] for row in said(owed)} <= {row[:1] for row in said(expected)}
    assert said(owed)
