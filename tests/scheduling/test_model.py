"""The model of `bench chain`: blocks, joins that are blocked, operators that queries share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from penstock.scheduling.by_rank import ByRank
from penstock.scheduling.chain import Chain
from penstock.scheduling.chart import Chart, MeasuredWork
from penstock.scheduling.fifo import Fifo
from penstock.scheduling.paths import Path, UnchartedPath
from penstock.scheduling.scheduler_list import SCHEDULERS, made_scheduler
from penstock_bench.chain.least_memory import least_memory
from penstock_bench.chain.model import BlockArrival, Model
from penstock_bench.chain.window_join import JoinInput, join_cost

if TYPE_CHECKING:
    from penstock.scheduling.scheduler import Head

#  0 -\
#      2 -> 3
#  1 -/
COSTS = [MeasuredWork(1, 0.5), MeasuredWork(1, 0.5), MeasuredWork(2, 1.0), MeasuredWork(2, 0)]
JOINED = [
    UnchartedPath("r", "q", (0, 2, 3)).charted(COSTS),
    UnchartedPath("s", "q", (1, 2, 3)).charted(COSTS),
]


class Noting(Fifo):
    """FIFO that notes what it was told and what it chose."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[int, Head | None]] = []
        self.chosen: list[tuple[float, int]] = []

    def waits(self, operator: int, head: Head | None) -> None:
        self.told.append((operator, head))
        super().waits(operator, head)

    def choose(self, now: float) -> int | None:
        chosen = super().choose(now)
        if chosen is not None:
            self.chosen.append((now, chosen))
        return chosen


def test_the_check_of_the_formula_of_a_join() -> None:
    assert join_cost(JoinInput(2, 0.5, 10), JoinInput(1, 2, 40)) == MeasuredWork(20, 1)


def test_a_join_is_blocked_while_one_input_is_empty_and_more_may_come_there() -> None:
    noting = Noting()
    times = [
        BlockArrival(0, "r"),
        BlockArrival(1, "r"),
        BlockArrival(10, "s"),
        BlockArrival(30, "s"),
    ]
    found = Model(JOINED, None).run(noting, times)
    # Both blocks of r wait before the join until s has come, which nothing follows until 30.
    assert noting.chosen == [
        (0, 0), (1, 0), (10, 1), (11, 2), (12, 3), (13, 2), (14, 3), (15, 2), (16, 3),
        (30, 1), (31, 2), (32, 3),
    ]  # fmt: skip
    assert found.memory([2, 9.5, 10, 12, 13, 30]) == pytest.approx([1, 1, 2, 1.5, 1, 1])
    assert found.latencies == [13, 14, 7, 3]


def test_a_join_takes_the_blocks_of_both_inputs_in_their_order() -> None:
    class Newest(ByRank):
        """The newest block first, as far as it can be."""

        def rank(self, operator: int, head: Head) -> tuple[float, ...]:
            return (-head.sequence, -operator)

    times = [BlockArrival(at / 8, "rs"[at % 2]) for at in range(6)]
    found = Model(JOINED, None).run(Newest(), times)
    came = [done - latency for done, latency in zip(found.done, found.latencies, strict=True)]
    assert came == [one.time for one in times]


@pytest.mark.parametrize("name", [one.name for one in SCHEDULERS])
@pytest.mark.parametrize("unit", [1.0, None])
def test_every_scheduler_brings_all_results_out_in_the_same_time(
    name: str, unit: float | None
) -> None:
    times = [BlockArrival(at, "rs"[at % 3 == 0]) for at in range(30)]
    found = Model(JOINED, unit).run(made_scheduler(name), times)
    fifo = Model(JOINED, unit).run(Fifo(), times)
    assert len(found.done) == 30
    assert max(found.done) == max(fifo.done)
    assert found.memory([1e9]) == pytest.approx([0])


def test_a_block_of_a_shared_operator_is_worked_on_once_and_then_for_each_query() -> None:
    costs = [MeasuredWork(2, 0.5), MeasuredWork(2, 0), MeasuredWork(4, 0)]
    paths = [
        UnchartedPath("r", "p", (0, 1)).charted(costs),
        UnchartedPath("r", "q", (0, 2)).charted(costs),
    ]
    found = Model(paths, None).run(Fifo(), [BlockArrival(0, "r")])
    assert found.memory([0, 2, 4, 5]) == pytest.approx([1, 1, 0.5, 0])
    assert found.done == [4, 5]


def test_a_stream_is_copied_for_queries_that_share_nothing() -> None:
    chart = Chart.of((0, 1), (1, 0))
    paths = [Path("r", "p", (0,), chart), Path("r", "q", (1,), chart)]
    found = Model(paths).run(Fifo(), [BlockArrival(0, "r")])
    assert found.memory([0, 1, 2]) == pytest.approx([2, 1, 0])
    assert least_memory(paths, [BlockArrival(0, "r")], [0, 1, 2]) == pytest.approx([2, 1, 0])


def test_what_comes_while_a_call_goes_on_waits_from_then_on() -> None:
    chart = Chart.of((0, 1), (4, 0))
    times = [BlockArrival(0, "r"), BlockArrival(1.5, "r")]
    found = Model([Path("r", "q", (0,), chart)], None).run(Chain(), times)
    assert found.memory([1, 1.5, 4]) == pytest.approx([1, 2, 1])
    assert found.latencies == [4, 6.5]


def test_between_the_bound_and_blocks_the_memory_falls_along_the_envelope() -> None:
    chart = Chart.of((0, 1), (1, 0.9), (2, 0.2), (4, 0))
    path, blocks = Path("r", "q", (0, 1, 2), chart), [BlockArrival(0, "r")]
    found = least_memory([path], blocks, [0, 1, 2, 3, 4, 9])
    assert found == pytest.approx([1, 0.6, 0.2, 0.1, 0, 0])
    # A block twice as large takes twice as long.
    blocks = [BlockArrival(0, "r", 2.0)]
    assert least_memory([path], blocks, [0, 4, 8]) == pytest.approx([2, 0.4, 0])


def test_what_paths_share_is_done_once_below_the_bound() -> None:
    costs = [MeasuredWork(2, 0.5), MeasuredWork(2, 0), MeasuredWork(4, 0)]
    paths = [
        UnchartedPath("r", "p", (0, 1)).charted(costs),
        UnchartedPath("r", "q", (0, 2)).charted(costs),
    ]
    # The shared operator frees nothing, as two wait for what it makes; what is behind it frees a
    # half in one unit, and a half in two: all together are one line.
    found = least_memory(paths, [BlockArrival(0, "r")], [0, 3, 4, 5])
    assert found == pytest.approx([1, 0.4, 0.2, 0])
