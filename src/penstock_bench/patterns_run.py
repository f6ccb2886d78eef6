"""A query under all strategies: that they agree, then what a tuple costs each of them."""

from __future__ import annotations

import gc
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, get_args

import numpy as np

from penstock.algebra.patterns import Strategy
from penstock.errors import InternalError
from penstock.planner.optimizing import plans_to_run
from penstock.planner.physical.building import Choices
from penstock.planner.physical.lowering import operator_graph
from penstock.planner.statistics.measuring import measured
from penstock.runtime.lane import Lane
from penstock_bench.data import LaneFeed, feeds
from penstock_bench.driving import QUERY
from penstock_bench.one_core import Stopwatch
from penstock_bench.snapshots import equal, of_blocks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from penstock.algebra.plan import Plan
    from penstock.operators.block import Block
    from penstock.planner.statistics.statistics import Statistics
    from penstock_bench.patterns_cases import PatternCase

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
VIEW = "DStream"
"""The label of the operator that keeps an answer."""
LOOKED_AT = 500
"""Rows of each link in which it is looked at how many expirations are premature."""
SAMPLE_WINDOW = 300
SAMPLE_STEPS = 1_500
SAMPLE_ROWS = 500
"""The run in which strategies are compared: its window, its length, the rows of its batches."""


@dataclass(frozen=True)
class StrategyEffort:
    """The amount of measuring.

    Args:
        windows: Lengths of windows, in steps of time.
        batch_rows: Rows of all links that come at once.
        lanes: How many lanes each strategy has: two with the same operators were seen to differ by
            up to a fifth.
        rounds: How often each lane takes its turn; the fastest of a strategy counts.
        seconds: CPU seconds that a turn of the slowest strategy takes, about.
        most_batches: How many batches a turn has at most.
        batches: Rows of a batch where it is looked at what they matter.
    """

    windows: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)
    batch_rows: int = 10_000
    lanes: int = 2
    rounds: int = 5
    seconds: float = 0.3
    most_batches: int = 10
    batches: tuple[int, ...] = (1_000, 10_000, 65_536)


QUICK = StrategyEffort((1_000, 10_000), lanes=1, rounds=3, seconds=0.1, most_batches=3)
"""A first look."""


@dataclass(frozen=True)
class StrategyCost:
    """A strategy when the windows are full.

    Args:
        milliseconds: CPU time for 1000 tuples, of each turn.
        state_bytes: What operators remember, without a kept answer.
        answer_bytes: What a kept answer takes.
        shares: Of the time on the wall in operators, by operator.
    """

    milliseconds: tuple[float, ...]
    state_bytes: int
    answer_bytes: int
    shares: Mapping[str, float]

    @property
    def least(self) -> float:
        """That of the fastest turn: other programs make turns slower, and never faster."""
        return min(self.milliseconds)


@dataclass(frozen=True)
class MeasuredForm:
    """A form of a case over windows of one length, under all strategies.

    Args:
        tuples: Of a turn.
        results: Elements per tuple that `upa` sends, those that withdraw others not counted.
        premature: The share of results that is withdrawn before its end; of a kept answer,
            nothing that leaves it says so.
        output_rows: Different rows in the last window, for a DISTINCT.
        agreed: Changes of the answer that all strategies agreed on before the clock started.
        statistics: What a lane has measured of the traffic meanwhile.
    """

    case: PatternCase
    form: str
    window: int
    tuples: int
    results: float
    premature: float
    output_rows: int
    agreed: int
    costs: Mapping[str, StrategyCost]
    statistics: Statistics


def lane_of(case: PatternCase, plan: Plan, strategy: Strategy) -> Lane:
    """A new lane for a plan under a strategy."""
    plans, choices = {QUERY: plan}, Choices(strategy)
    if case.optimized:
        plans = plans_to_run(plans, choices=choices)
    return Lane(operator_graph(plans, choices))


@cache
def verify(case: PatternCase, form: str) -> int:
    """Compare the answers under all strategies in a short run; the changes they agree on.

    Raises:
        InternalError: One gives another answer.
    """
    inputs = case.traffic(SAMPLE_WINDOW).packets(SAMPLE_STEPS, case.links)
    plan = case.plan(form, SAMPLE_WINDOW)
    answers = {}
    for strategy in STRATEGIES:
        lane = lane_of(case, plan, strategy)
        blocks: list[Block] = []
        for feed in feeds(inputs, SAMPLE_ROWS):
            blocks += _results(lane, feed)
        blocks += lane.finish().blocks.get(QUERY, [])
        answers[strategy] = of_blocks(blocks)
    first, *others = answers
    for strategy in others:
        if not equal(answers[first], answers[strategy]):
            msg = f"{case.name}, {form}: {strategy} gives another answer than {first}"
            raise InternalError(msg)
    return len(answers[first])


def measure(
    case: PatternCase, forms: Sequence[str], window: int, effort: StrategyEffort
) -> list[MeasuredForm]:
    """Compare the strategies, fill the windows, then let all take turns.

    Each form under each strategy has lanes of its own, and all get the same batches. The
    comparison also compiles what is not compiled yet.
    """
    agreed = [verify(case, form) for form in forms]
    links = len(case.links)
    batches = effort.rounds * effort.most_batches
    steps = window + (batches + 2) * -(-effort.batch_rows // links)
    inputs = case.traffic(window).packets(steps, case.links)
    ready = feeds(inputs, effort.batch_rows)
    full = -(-window * links // effort.batch_rows) + 1
    runs = {form: _runs(case, form, window, effort.lanes) for form in forms}
    every = [run for of_form in runs.values() for lanes in of_form.values() for run in lanes]
    slowest = max(run.fill(ready[:full]) for run in every)
    turn = max(min(int(effort.seconds / max(slowest, 1e-9)), effort.most_batches), 1)
    for number in range(effort.rounds):
        start = full + number * turn
        # Nobody is always behind the one that leaves the least in the caches.
        for run in (*every[number:], *every[:number]):
            run.take(ready[start : start + turn])
    output = 0
    if case.distinct:
        clock = ready[full + effort.rounds * turn - 1].watermarks[case.links[0]]
        output = _different(case, inputs.streams[case.links[0]], clock - window, clock)
    after = ready[full + effort.rounds * turn]
    return [
        _measured(case, form, window, runs[form], output, changes, after)
        for form, changes in zip(forms, agreed, strict=True)
    ]


def _runs(case: PatternCase, form: str, window: int, lanes: int) -> dict[str, list[StrategyRun]]:
    plan = case.plan(form, window)
    return {
        strategy: [StrategyRun(lane_of(case, plan, strategy)) for _ in range(lanes)]
        for strategy in STRATEGIES
    }


def _measured(
    case: PatternCase,
    form: str,
    window: int,
    runs: Mapping[str, Sequence[StrategyRun]],
    output: int,
    agreed: int,
    after: LaneFeed,
) -> MeasuredForm:
    upa = runs["upa"][0]
    costs = {strategy: cost_of(lanes) for strategy, lanes in runs.items()}
    tuples, results = upa.tuples // len(upa.milliseconds), upa.positive / upa.tuples
    statistics = measured([upa.lane.reports()])
    premature = upa.premature(after)
    return MeasuredForm(
        case, form, window, tuples, results, premature, output, agreed, costs, statistics
    )


def _different(case: PatternCase, table: pa.Table, start: int, stop: int) -> int:
    """The number of different rows of a DISTINCT over the packets with start <= ts < stop."""
    ts = table["ts"].to_numpy()
    first, last = np.searchsorted(ts, [start, stop]).tolist()
    columns = list(case.distinct)
    return len(table.slice(first, last - first).group_by(columns).aggregate([]))


@dataclass
class StrategyRun:
    """A lane, and what it has done since its windows were full."""

    lane: Lane
    milliseconds: list[float] = field(default_factory=list)
    tuples: int = 0
    positive: int = 0
    _before: list[float] = field(default_factory=list)

    def fill(self, batches: Sequence[LaneFeed]) -> float:
        """Take in what comes before the clock starts; the CPU seconds of the last batch."""
        last = 0.0
        for feed in batches:
            watch = Stopwatch()
            _results(self.lane, feed)
            last = watch.read().cpu
        self._before = [one.seconds for one in self.lane.reports()]
        return last

    def take(self, batches: Sequence[LaneFeed]) -> None:
        """A turn."""
        tuples, cpu = 0, 0.0
        # What another turn left behind is not collected during this one.
        gc.collect()
        for feed in batches:
            watch = Stopwatch()
            blocks = _results(self.lane, feed)
            cpu += watch.read().cpu
            tuples += sum(map(len, feed.blocks.values()))
            self.positive += sum(int((block.signs > 0).sum()) for block in blocks)
        self.tuples += tuples
        self.milliseconds.append(cpu / tuples * 1e6)

    def premature(self, feed: LaneFeed) -> float:
        """The share of results withdrawn before their end, in some rows more.

        They come one instant after the other: in longer steps what comes and goes is sent with
        its interval. The lane has other steps from now on.
        """
        self.lane.step_rows = 1
        stop = min(int(block.ts[min(LOOKED_AT, len(block) - 1)]) for block in feed.blocks.values())
        rows = {name: block.take(block.ts < stop) for name, block in feed.blocks.items()}
        found = _results(self.lane, LaneFeed(rows, dict.fromkeys(feed.watermarks, stop)))
        negative = sum(int((block.signs < 0).sum()) for block in found)
        # Some may have come before.
        return min(negative / max(sum(map(len, found)) - negative, 1), 1.0)

    def cost(self) -> StrategyCost:
        """The cost in this lane."""
        reports = self.lane.reports()
        taken: defaultdict[str, float] = defaultdict(float)
        for report, before in zip(reports, self._before, strict=True):
            taken[report.label] += report.seconds - before
        answer = sum(report.state_bytes for report in reports if report.label == VIEW)
        state = sum(report.state_bytes for report in reports) - answer
        whole = sum(taken.values())
        shares = {label: seconds / whole for label, seconds in taken.items()}
        return StrategyCost(tuple(self.milliseconds), state, answer, shares)


def cost_of(lanes: Sequence[StrategyRun]) -> StrategyCost:
    """The cost of a strategy in all its lanes; the rest is that of its fastest."""
    costs = [run.cost() for run in lanes]
    turns = tuple(one for cost in costs for one in cost.milliseconds)
    return replace(min(costs, key=lambda cost: cost.least), milliseconds=turns)


def _results(lane: Lane, feed: LaneFeed) -> list[Block]:
    return lane.feed(feed.blocks, feed.watermarks).blocks.get(QUERY, [])
