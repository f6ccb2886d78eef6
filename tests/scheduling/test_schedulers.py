"""Schedulers, told of heads by hand: who runs next, and why."""

from __future__ import annotations

from pathlib import Path as File

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import scheduling
from penstock.scheduling.chain import Chain
from penstock.scheduling.chain_flush import ChainFlush
from penstock.scheduling.chart import Chart
from penstock.scheduling.greedy import Greedy
from penstock.scheduling.mixed import Mixed
from penstock.scheduling.paths import Path
from penstock.scheduling.round_robin import RoundRobin
from penstock.scheduling.scheduler import Head, Scheduler
from penstock.scheduling.scheduler_list import SCHEDULERS, ListedScheduler, made_scheduler

HIDDEN = Chart.of((0, 1), (2, 0.9), (6, 0.88), (7, 0.1), (12, 0))
"""The third operator is fast and selective, behind a slow one that is not."""
FRAMES = {"by_rank", "by_slope"}
"""Files with what several schedulers have in common."""


def path(chart: Chart, *operators: int, latency: float | None = None) -> Path:
    return Path("s", f"q{operators[-1]}", operators, chart, latency)


def told(scheduler: Scheduler, heads: dict[int, tuple[float, int]]) -> Scheduler:
    for operator, head in heads.items():
        scheduler.waits(operator, Head(*head))
    return scheduler


def planned(scheduler: Scheduler, *paths: Path) -> Scheduler:
    scheduler.replan(paths, 1 + max(max(one.operators) for one in paths))
    return scheduler


def test_every_scheduler_is_in_the_list() -> None:
    folder = File(str(scheduling.__file__)).parent
    marks = ("def choose(", "(ByRank)", "(BySlope)")
    texts = {one.stem: one.read_text("utf-8") for one in folder.glob("*.py")}
    files = {name for name, text in texts.items() if any(mark in text for mark in marks)}
    assert files - FRAMES - {"scheduler"} == {one.name for one in SCHEDULERS}


@pytest.mark.parametrize("one", SCHEDULERS, ids=lambda one: one.name)
def test_what_is_said_of_a_scheduler_is_true(one: ListedScheduler) -> None:
    made = made_scheduler(one.name)
    assert type(made).__module__ == f"penstock.scheduling.{one.name}"
    assert one.says.endswith(".")
    for option in one.options:
        assert made_scheduler(one.name, **{option.name: 2.5}).choose(0.0) is None
    with pytest.raises(KeyError, match="colour"):
        made_scheduler(one.name, colour=7.0)


def test_greedy_does_not_see_what_is_behind_a_flat_operator_and_chain_does() -> None:
    waiting = {0: (1.0, 1), 3: (0.0, 0)}
    assert told(planned(Greedy(), path(HIDDEN, 0, 1, 2, 3)), waiting).choose(2) == 0
    waiting = {1: (1.0, 1), 3: (0.0, 0)}
    assert told(planned(Greedy(), path(HIDDEN, 0, 1, 2, 3)), waiting).choose(2) == 3
    assert told(planned(Chain(), path(HIDDEN, 0, 1, 2, 3)), waiting).choose(2) == 1


def test_in_a_chain_the_oldest_block_runs_which_is_the_one_that_got_furthest() -> None:
    chain = told(planned(Chain(), path(HIDDEN, 0, 1, 2, 3)), {0: (2.0, 2), 1: (1.0, 1)})
    assert chain.choose(3) == 1
    assert told(chain, {2: (1.0, 1), 1: (1.0, 1)}).choose(3) == 2


def test_an_operator_of_several_paths_is_as_steep_as_the_best_of_them() -> None:
    steep, flat = Chart.of((0, 1), (1, 0.1), (2, 0)), Chart.of((0, 1), (1, 0.9), (5, 0))
    between = Chart.of((0, 1), (2, 0))
    paths = [path(flat, 0, 1), path(steep, 0, 2), path(between, 3)]
    assert told(planned(Chain(), *paths), {3: (0.0, 0), 0: (1.0, 1)}).choose(1) == 0
    assert told(planned(Chain(), *paths), {3: (1.0, 1), 1: (0.0, 0)}).choose(1) == 3


def test_an_operator_on_no_path_goes_first() -> None:
    chain = Chain()
    chain.replan([path(HIDDEN, 0, 1, 2, 3)], 5)
    assert told(chain, {0: (0.0, 0), 4: (1.0, 1)}).choose(1) == 4


def test_priorities_change_together_and_not_for_a_little() -> None:
    first = [path(Chart.of((0, 1), (1, 0)), 0), path(Chart.of((0, 1), (1.05, 0)), 1)]
    # Both waver, and change places.
    nearly = [path(Chart.of((0, 1), (1.04, 0)), 0), path(Chart.of((0, 1), (1.0, 0)), 1)]
    far = [path(Chart.of((0, 1), (1.2, 0)), 0), path(Chart.of((0, 1), (1.0, 0)), 1)]
    chain = told(planned(Chain(), *first), {0: (1.0, 1), 1: (0.0, 0)})
    assert chain.choose(1) == 0
    assert planned(chain, *nearly).choose(1) == 0
    assert planned(chain, *far).choose(1) == 1


def test_priorities_are_new_when_the_paths_are() -> None:
    chart = Chart.of((0, 1), (1, 0.5), (2.02, 0))
    chain = told(planned(Chain(), path(chart, 0, 1)), {0: (1.0, 1), 1: (0.0, 0)})
    assert chain.choose(1) == 0
    assert planned(chain, path(chart, 1, 0)).choose(1) == 1


def test_mixed_is_chain_but_for_flat_ends_in_which_blocks_keep_their_order() -> None:
    chart = Chart.of((0, 1), (1, 0.4), (2, 0.2), (4, 0))
    waiting = {1: (1.0, 1), 2: (0.0, 0)}
    assert told(planned(Mixed(0.0), path(chart, 0, 1, 2)), waiting).choose(1) == 1
    assert told(planned(Mixed(0.25), path(chart, 0, 1, 2)), waiting).choose(1) == 2
    waiting[0] = (2.0, 2)
    assert told(planned(Mixed(0.25), path(chart, 0, 1, 2)), waiting).choose(2) == 0
    assert told(planned(Mixed(0.7), path(chart, 0, 1, 2)), waiting).choose(2) == 2


def test_round_robin_gives_each_a_quantum_and_then_the_next() -> None:
    robin = RoundRobin(2.0)
    robin.replan([], 3)
    told(robin, {0: (0.0, 0), 1: (0.0, 0), 2: (0.0, 0)})
    turns = []
    for now in range(9):
        chosen = robin.choose(float(now))
        assert chosen is not None
        turns.append(chosen)
        robin.ran(chosen, 1.0)
    assert turns == [0, 0, 1, 1, 2, 2, 0, 0, 1]


def test_a_turn_is_over_when_nothing_waits() -> None:
    robin = RoundRobin(5.0)
    robin.replan([], 3)
    told(robin, {0: (0.0, 0), 1: (0.0, 0)})
    assert robin.choose(0) == 0
    robin.waits(0, None)
    robin.waits(0, Head(1.0, 1))
    assert robin.choose(1) == 1
    robin.waits(1, None)
    robin.waits(2, Head(0.0, 0))
    # Behind 1, and before 0, which waits for the next cycle.
    assert robin.choose(2) == 2


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=60))
def test_round_robin_leaves_none_waiting_for_more_than_a_cycle(
    told_of: list[tuple[int, bool]],
) -> None:
    robin = RoundRobin(1.0)
    robin.replan([], 5)
    ready: dict[int, int] = {}
    for operator, waits in told_of:
        robin.waits(operator, Head(0.0, 0) if waits else None)
        if waits:
            ready.setdefault(operator, 0)
        else:
            ready.pop(operator, None)
        chosen = robin.choose(0.0)
        assert (chosen is None) == (not ready)
        if chosen is not None:
            robin.ran(chosen, 1.0)
            ready = {one: turns + 1 for one, turns in ready.items()} | {chosen: 0}
            assert max(ready.values()) <= 5


def test_chain_flush_is_chain_while_there_is_time() -> None:
    chart = Chart.of((0, 1), (1, 0.4), (2, 0.2), (4, 0))
    flush = planned(ChainFlush(), path(chart, 0, 1, 2, latency=13.0))
    told(flush, {0: (10.0, 2), 1: (5.0, 1), 2: (0.0, 0)})
    # The oldest block has 2 units of work before it, and was to be done at 13. What Chain would
    # choose takes a unit, and could not be interrupted.
    assert flush.choose(9.9) == 0
    assert flush.choose(10.0) == 2


def test_a_flush_goes_on_until_the_block_and_what_is_older_is_done() -> None:
    chart = Chart.of((0, 1), (1, 0.4), (2, 0.2), (4, 0))
    flush = planned(ChainFlush(), path(chart, 0, 1, 2, latency=6.0))
    told(flush, {0: (0.0, 1), 1: (0.0, 0)})
    assert flush.choose(2.0) == 1
    told(flush, {2: (0.0, 0)}).waits(1, None)
    assert flush.choose(3.0) == 2
    flush.waits(2, None)
    assert flush.choose(5.0) == 0
    told(flush, {0: (5.0, 2), 1: (0.0, 1)})
    assert flush.choose(6.0) == 1
    told(flush, {2: (0.0, 1)}).waits(1, None)
    assert flush.choose(7.0) == 2
    flush.waits(2, None)
    assert flush.choose(9.0) == 0


def test_a_flush_that_is_blocked_lets_others_run() -> None:
    chart = Chart.of((0, 1), (1, 0.5), (2, 0))
    flush = planned(ChainFlush(), path(chart, 0, 1, latency=2.0), path(chart, 2, 3))
    told(flush, {0: (0.0, 0), 2: (0.0, 1)})
    assert flush.choose(1.0) == 0
    flush.waits(0, None)
    assert flush.choose(2.0) == 2


def test_a_flush_leaves_what_is_newer_to_chain() -> None:
    late = path(Chart.of((0, 1), (1, 0.9), (9, 0)), 0, 1, latency=10.6)
    steep = path(Chart.of((0, 1), (1, 0)), 2)
    flush = planned(ChainFlush(), late, steep)
    told(flush, {0: (0.0, 0), 2: (0.5, 5)})
    assert flush.choose(1.0) == 0
    told(flush, {0: (2.5, 1), 1: (0.0, 0)})
    assert flush.choose(2.5) == 1
    # The block is done that was due, and the next one of its path is not due yet.
    flush.waits(1, None)
    assert flush.choose(3.0) == 2


def test_of_parts_of_one_block_a_flush_takes_the_one_that_got_furthest() -> None:
    chart = Chart.of((0, 1), (1, 0.5), (2, 0.2), (3, 0))
    flush = planned(ChainFlush(), path(chart, 0, 1, 2, latency=3.0), path(chart, 0, 1, 3))
    told(flush, {1: (0.0, 0), 2: (0.0, 0)})
    assert flush.choose(9.0) == 2


def test_queries_without_a_latency_are_never_flushed() -> None:
    chart = Chart.of((0, 1), (1, 0.4), (2, 0.2), (4, 0))
    flush = planned(ChainFlush(), path(chart, 0, 1, 2))
    told(flush, {0: (10.0, 2), 2: (0.0, 0)})
    assert flush.choose(1e9) == 0


@pytest.mark.parametrize("name", [one.name for one in SCHEDULERS])
def test_what_waits_is_known_after_a_change_of_plans(name: str) -> None:
    scheduler = made_scheduler(name)
    three = path(Chart.of((0, 1), (1, 0.5), (2, 0.2), (3, 0)), 0, 1, 2, latency=9.0)
    told(planned(scheduler, three), {1: (0.0, 1), 2: (0.0, 0)})
    planned(scheduler, path(Chart.of((0, 1), (1, 0.5), (2, 0)), 0, 1, latency=9.0))
    assert scheduler.choose(0) == 1
    scheduler.waits(1, None)
    assert scheduler.choose(0) is None
