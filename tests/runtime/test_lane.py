"""The lane: what queries share, how clocks go, and that steps cut long feeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from penstock.algebra.time import INFINITY
from penstock.errors import DataError, InternalError
from penstock.operators.block import Block, arriving, concatenated
from penstock.planner.physical.lowering import operator_graph
from penstock.runtime.lane import Lane
from penstock.session import Session

if TYPE_CHECKING:
    from penstock.operators.operator import Inputs

DECLARATIONS = """
    CREATE STREAM a (ts BIGINT, k BIGINT, v BIGINT, WATERMARK FOR ts AS ts);
    CREATE STREAM b (ts BIGINT, k BIGINT, v BIGINT, WATERMARK FOR ts AS ts);
    CREATE RELATION r (k BIGINT, name STRING);
"""


def lane_of(*queries: str, step_rows: int = 65_536) -> Lane:
    session = Session()
    session.execute(DECLARATIONS)
    plans = {f"q{number}": session.bind(text).plan for number, text in enumerate(queries)}
    return Lane(operator_graph(plans), step_rows)


def rows(*values: tuple[int, int, int]) -> Block:
    columns = tuple(pa.array([row[n] for row in values], pa.int64()) for n in range(3))
    return arriving(columns, np.array([row[0] for row in values], np.int64))


def labels(lane: Lane) -> list[str]:
    return [node.label for node in lane.graph.nodes]


def test_two_queries_with_the_same_window_and_filter_share_them() -> None:
    lane = lane_of(
        "SELECT v FROM a [RANGE 10] WHERE k = 1",
        "SELECT COUNT(*) AS n FROM a [RANGE 10] AS other WHERE other.k = 1",
    )
    found = labels(lane)
    assert sum(label.startswith("Stream") for label in found) == 1
    assert sum(label.startswith("Window") for label in found) == 1
    assert sum(label.startswith("Filter") for label in found) == 1


def test_two_queries_with_the_same_join_share_it_under_any_alias() -> None:
    lane = lane_of(
        "SELECT x.v FROM a [RANGE 10] AS x, b [RANGE 5] AS y WHERE x.k = y.k",
        "SELECT COUNT(*) AS n FROM a [RANGE 10] AS p JOIN b [RANGE 5] AS q ON p.k = q.k",
    )
    assert sum(label.startswith("Join") for label in labels(lane)) == 1


def test_different_windows_are_not_shared() -> None:
    lane = lane_of("SELECT v FROM a [RANGE 10]", "SELECT v FROM a [RANGE 11]")
    assert sum(label.startswith("Window") for label in labels(lane)) == 2


def test_shared_operators_give_each_query_its_result() -> None:
    lane = lane_of(
        "ISTREAM(SELECT v FROM a [RANGE 10] WHERE k = 1)",
        "ISTREAM(SELECT v + 1 AS w FROM a [RANGE 10] WHERE k = 1)",
    )
    results = lane.feed({"a": rows((1, 1, 7), (2, 2, 8), (3, 1, 9))}, {"a": 3})
    results.extend(lane.finish())
    first, second = (concatenated(results.blocks[name]) for name in ("q0", "q1"))
    assert first.columns[0].to_pylist() == [7, 9]
    assert second.columns[0].to_pylist() == [8, 10]


def test_a_query_waits_for_its_own_sources_only() -> None:
    lane = lane_of("SELECT v FROM a [RANGE 10]", "SELECT a.v FROM a [RANGE 10], b [RANGE 10]")
    lane.feed({"a": rows((5, 1, 1))}, {"a": 5})
    assert lane.clock("q0") == 5
    assert lane.clock("q1") < 5
    lane.feed({"b": rows((3, 1, 1))}, {"b": 3})
    assert lane.clock("q1") == 3
    lane.finish()
    assert lane.clock("q1") == INFINITY


def test_rows_wait_until_the_watermark_has_passed_them() -> None:
    lane = lane_of("SELECT v FROM a [UNBOUNDED]")
    nothing = lane.feed({"a": rows((5, 1, 1), (4, 1, 2))}, {"a": 4})
    assert not nothing.blocks
    some = lane.feed({}, {"a": 5})
    assert [block.columns[0].to_pylist() for block in some.blocks["q0"]] == [[2]]


def test_late_rows_are_counted_and_handed_back() -> None:
    lane = lane_of("SELECT v FROM a [UNBOUNDED]")
    lane.feed({"a": rows((5, 1, 1))}, {"a": 5})
    results = lane.feed({"a": rows((4, 1, 2), (5, 1, 3), (6, 1, 4))}, {"a": 6})
    results.extend(lane.finish())
    assert concatenated(results.blocks["q0"]).columns[0].to_pylist() == [1, 3, 4]
    (late,) = results.late["a"]
    assert late.columns[2].to_pylist() == [2]
    assert lane.late_rows == {"a": 1}


@pytest.mark.parametrize("step_rows", [1, 3, 1000])
def test_a_long_feed_is_cut_into_steps_without_a_trace(step_rows: int) -> None:
    queries = ("SELECT k, COUNT(*) AS n, MAX(v) AS m FROM a [RANGE 3] GROUP BY k",)
    lane = lane_of(*queries, step_rows=step_rows)
    values = [(at // 2, at % 3, at * 7 % 5) for at in range(60)]
    results = lane.feed({"a": rows(*values)}, {"a": 29})
    results.extend(lane.finish())
    expected = lane_of(*queries).feed({"a": rows(*values)}, {"a": INFINITY})
    assert snapshots(results.blocks["q0"]) == snapshots(expected.blocks["q0"])


def snapshots(blocks: list[Block]) -> dict[int, list[tuple[object, ...]]]:
    block = concatenated(blocks)
    found: dict[int, list[tuple[object, ...]]] = {}
    listed = list(zip(*(column.to_pylist() for column in block.columns), strict=True))
    for instant in range(40):
        valid = (block.ts <= instant) & (instant < block.te)
        total: dict[tuple[object, ...], int] = {}
        for number in np.flatnonzero(valid):
            total[listed[number]] = total.get(listed[number], 0) + int(block.signs[number])
        found[instant] = sorted(row for row, copies in total.items() for _ in range(copies))
    return found


def test_every_operator_reports_what_it_did() -> None:
    lane = lane_of("SELECT k, SUM(v) AS s FROM a [RANGE 10] GROUP BY k")
    lane.feed({"a": rows((1, 1, 7), (2, 1, 8), (3, 2, 9))}, {"a": 4})
    report = {one.label.split()[0]: one for one in lane.reports()}
    assert report["Stream"].rows_in == report["Stream"].rows_out == 3
    assert report["Aggregate"].rows_in == 3
    assert report["Aggregate"].rows_out >= 2
    assert report["Aggregate"].state_rows >= 3
    assert report["Aggregate"].state_bytes > 0
    assert report["Aggregate"].seconds > 0


def test_a_restored_lane_goes_on_where_the_other_stopped() -> None:
    query = "SELECT a.v, b.v AS w FROM a [RANGE 10], b [ROWS 2] WHERE a.k = b.k"
    first = lane_of(query)
    started = first.feed({"a": rows((1, 1, 7), (9, 1, 8)), "b": rows((2, 1, 5))}, {"a": 4, "b": 2})
    second = lane_of(query)
    second.restore(first.segments())
    for lane in (first, second):
        rest = lane.feed({"b": rows((3, 1, 6), (9, 2, 1))}, {"a": 9, "b": 9})
        rest.extend(lane.finish())
        whole = [*started.blocks.get("q0", []), *rest.blocks["q0"]]
        assert snapshots(whole)[9] == [(7, 6), (8, 6)]


def test_slides_at_which_nothing_can_be_are_not_waited_for() -> None:
    periodic = "RSTREAM(SELECT k, COUNT(*) AS n FROM a [RANGE 5 SLIDE 5] GROUP BY k)"
    lane = lane_of(periodic)
    results = lane.feed({"a": rows((1, 1, 7))}, {"a": 32})
    assert lane.clock("q0") == 32
    results.extend(lane.feed({"a": rows((47, 1, 7))}, {"a": 60}))
    (sent,) = results.blocks.values()
    assert concatenated(sent).ts.tolist() == [5, 50]


def test_a_row_over_nothing_is_sent_at_slides_without_rows() -> None:
    lane = lane_of("RSTREAM(SELECT COUNT(*) AS n FROM a [RANGE 5 SLIDE 5])")
    results = lane.feed({"a": rows((1, 1, 7))}, {"a": 32})
    # Whether there are slides up to the clock is known with the next row.
    assert lane.clock("q0") == 15
    results.extend(lane.feed({"a": rows((33, 1, 7))}, {"a": 34}))
    results.extend(lane.finish())
    (sent,) = results.blocks.values()
    block = concatenated(sent)
    counts = block.columns[0].to_pylist()
    assert dict(zip(block.ts.tolist(), counts, strict=True)) == {
        5: 1, 10: 0, 15: 0, 20: 0, 25: 0, 30: 0, 35: 1, 40: 0,
    }  # fmt: skip


def test_slides_without_end_are_refused() -> None:
    query = "RSTREAM(SELECT COUNT(*) AS n FROM a [RANGE 4611686018427387904 SLIDE 5])"
    lane = lane_of(query)
    lane.feed({"a": rows((1, 1, 7))}, {"a": 1})
    with pytest.raises(DataError, match="a periodic query with a slide of 5 goes from 5 to"):
        lane.finish()


def test_a_lane_that_failed_once_says_so_for_ever_after(monkeypatch: pytest.MonkeyPatch) -> None:
    lane = lane_of("SELECT k, COUNT(*) AS n FROM a [RANGE 10] GROUP BY k")
    lane.feed({"a": rows((1, 1, 7))}, {"a": 2})
    station = next(one for one in lane.stations if one.node.label.startswith("Aggregate"))
    step = station.operator.step

    def failing(inputs: Inputs, clock: int) -> object:
        step(inputs, clock)
        msg = "the disk is full"
        raise OSError(msg)

    with monkeypatch.context() as patch:
        patch.setattr(station.operator, "step", failing)
        with pytest.raises(OSError, match="the disk is full"):
            lane.feed({"a": rows((2, 1, 8), (3, 2, 9))}, {"a": 4})
    said = "this lane failed before and cannot go on: OSError: the disk is full"
    for attempt in (
        lambda: lane.feed({"a": rows((5, 1, 1))}, {"a": 6}),
        lambda: lane.feed({}, {}),
        lane.finish,
        lane.segments,
    ):
        with pytest.raises(InternalError, match=said) as caught:
            attempt()
        assert isinstance(caught.value.__cause__, OSError)


def test_a_block_that_nobody_reads_does_not_break_a_lane() -> None:
    lane = lane_of("SELECT k FROM a [RANGE 10]")
    with pytest.raises(InternalError, match="no query of this lane reads 'b'"):
        lane.feed({"a": rows((1, 1, 7)), "b": rows((1, 1, 7))}, {"a": 2})
    assert len(lane.feed({"a": rows((1, 1, 7))}, {"a": 2}).blocks["q0"]) == 1
