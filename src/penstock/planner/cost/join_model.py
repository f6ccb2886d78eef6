"""The work of joining many windows without results in between, by the order of probes.

The model counts, per unit of time, what the rows that come visit in the other windows. It is that
of the paper on sliding window multi-joins: values of the windows are contained in each other, and
all are equally frequent. A new row of input i starts with one partial result of `v` values. To
probe window j is to visit, for each partial result, all rows of j, or those of one bucket of a hash
table; those with equal values, `live / max(v, v_j)` of them, go on.

A condition beyond equal values is asked when all of its inputs are there, or behind some more
probes, if that is cheaper: a dear one waits for probes that find little.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from penstock.planner.cost.sequencing import StepSequence, led_by, side_by_side

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Order = tuple[int, ...]
"""Inputs in the order in which they are probed."""
Levels = tuple[int, ...]
"""For each condition, behind how many probes it is asked."""
LEAST = 1e-9
"""A condition that always holds drops at least this share."""
_PROBE = -1
"""Among the numbers of conditions: the next probe."""


@dataclass(frozen=True)
class Side:
    """An input of a join of many windows.

    Args:
        rate: Rows that come in a unit of time.
        live: Rows of its window.
        values: How many values it has, by the number of the agreement that asks for equal ones.
        buckets: Into how many parts its hash table divides the window; 1: nested loops. None: a
            table with room for all values, where a probe visits rows with equal values only.
        follows: Whether the window holds more rows when more come; one that counts rows does not.
        is_counted: Whether it holds as many rows as are found there while it runs.
    """

    rate: float
    live: float
    values: Mapping[int, float] = field(default_factory=dict)
    buckets: float | None = 1.0
    follows: bool = True
    is_counted: bool = False

    def fitting(self, values: dict[int, float]) -> tuple[float, float]:
        """The rows that a probe visits, and those with equal keys, for one partial result.

        `values` is how many the partial results have of each agreement: from then on with these.
        """
        # Beyond so many values nothing is told apart any more.
        apart = 1.0
        for one, count in self.values.items():
            before = values.get(one)
            if before is not None:
                apart *= max(before, count)
            if before is None or count < before:
                values[one] = count
        fits = self.live / max(apart, 1.0)
        return self.live / self.buckets if self.buckets else fits, fits

    def at_rate(self, rate: float, size: float) -> Side:
        """The same if rows come more or less often; of what is counted, if it has so many rows."""
        if self.is_counted:
            return replace(self, rate=rate, live=size)
        factor = rate / self.rate if self.follows and self.rate else 1.0
        return replace(self, rate=rate, live=self.live * factor)


@dataclass(frozen=True)
class ConditionEstimate:
    """A condition beyond equal values: of which inputs, what share holds, how dear it is to ask."""

    inputs: tuple[int, ...]
    share: float
    cost: float = 0.0

    @property
    def rank(self) -> float:
        """The cost of being rid of a combination; of several conditions the least comes first."""
        return self.cost / max(1.0 - self.share, LEAST)


@dataclass(frozen=True)
class Weights:
    """The time to look into a window, to visit a row there, and for each row of the result."""

    look: float = 0.0
    visit: float = 1.0
    result: float = 0.0


@dataclass(frozen=True)
class WindowProbe:
    """The probe of a window, for one new row.

    Args:
        input: The window.
        looks: Partial results, each of which looks into it.
        visits: Rows that are visited there, altogether.
        asked: What it takes to ask the conditions behind it; those before the first count there.
        found: Partial results behind it.
    """

    input: int
    looks: float
    visits: float
    asked: float
    found: float


@dataclass(frozen=True)
class JoinModel:
    """A join of many windows."""

    sides: Sequence[Side]
    asked: Sequence[ConditionEstimate] = ()
    weights: Weights = Weights()

    def probes(self, origin: int, order: Order) -> Iterator[WindowProbe]:
        """The probes for one new row of an input, in an order of the others."""
        if not order:
            return
        before, *behind = self.asked_behind(origin, order)
        partial, asked = self._asked_of(before, 1.0)
        for place, (visits, fits), numbers in zip(
            order, self._fitting(origin, order), behind, strict=True
        ):
            found, cost = self._asked_of(numbers, partial * fits)
            yield WindowProbe(place, partial, partial * visits, asked + cost, found)
            partial, asked = found, 0.0

    def _fitting(self, origin: int, order: Order) -> list[tuple[float, float]]:
        """The rows that each probe visits for a partial result, and those with equal keys."""
        values = dict(self.sides[origin].values)
        return [self.sides[place].fitting(values) for place in order]

    def _asked_of(self, numbers: Sequence[int], met: float) -> tuple[float, float]:
        """The number of combinations that hold what is asked, one by one; the cost."""
        cost = 0.0
        for number in numbers:
            one = self.asked[number]
            cost += met * one.cost
            met *= one.share
        return met, cost

    def asked_behind(self, origin: int, order: Order) -> list[list[int]]:
        """The conditions asked before the first probe, and behind each, by number, one by one."""
        found: list[list[int]] = [[] for _ in range(len(order) + 1)]
        if self.asked:
            levels = self.levels(origin, order)
            for number in self._in_turn:
                if levels[number] <= len(order):
                    found[levels[number]].append(number)
        return found

    def levels(self, origin: int, order: Order) -> Levels:
        """Behind how many probes each condition is asked: where that is cheapest.

        One that lacks an input behind all probes is not asked: beyond the last.
        """
        levels = self._earliest(origin, order)
        if any(levels[number] < len(order) for number in self._patient):
            probes = [
                StepSequence((_PROBE,), self.weights.look + self.weights.visit * visits, fits)
                for visits, fits in self._fitting(origin, order)
            ]
            self._postpone(levels, probes)
        return tuple(levels)

    @cached_property
    def _patient(self) -> list[int]:
        """Conditions that may be worth less than a probe which finds nothing at all."""
        nothing = StepSequence((), self.weights.look, 0.0)
        return [number for number, one in enumerate(self._steps) if one.rank > nothing.rank]

    @cached_property
    def _steps(self) -> list[StepSequence]:
        return [
            StepSequence((number,), one.cost, one.share) for number, one in enumerate(self.asked)
        ]

    def _postpone(self, levels: list[int], probes: Sequence[StepSequence]) -> None:
        """Move conditions from where they can be asked to where they had better be."""
        ready: list[list[StepSequence]] = [[] for _ in range(len(probes) + 1)]
        for step, level in zip(self._steps, levels, strict=True):
            if level <= len(probes):
                ready[level].append(step)
        runs: list[StepSequence] = []
        for number in range(len(probes), 0, -1):
            # Of what is alike, conditions come first: as they always do where nothing is gained.
            runs = led_by(probes[number - 1], side_by_side([ready[number], runs]))
        behind = 0
        for number in (one for run in side_by_side([ready[0], runs]) for one in run.steps):
            if number == _PROBE:
                behind += 1
            else:
                levels[number] = behind

    def _earliest(self, origin: int, order: Order) -> list[int]:
        """Behind how many probes all inputs of each condition are there."""
        at = {origin: 0, **{place: level for level, place in enumerate(order, 1)}}
        never = len(order) + 1
        return [max((at.get(one, never) for one in each.inputs), default=0) for each in self.asked]

    @cached_property
    def _in_turn(self) -> list[int]:
        return sorted(range(len(self.asked)), key=lambda number: self.asked[number].rank)

    def local_cost(self, origin: int, order: Order) -> float:
        """Per unit of time, of the rows that come to one input."""
        weights, total, found = self.weights, 0.0, 1.0
        for one in self.probes(origin, order):
            total += weights.look * one.looks + weights.visit * one.visits + one.asked
            found = one.found
        return self.sides[origin].rate * (total + weights.result * found)

    def cost(self, order: Order) -> float:
        """Per unit of time, if all windows are probed in one global order."""
        return sum(self.local_cost(one, without(order, one)) for one in order)

    def total(self, orders: Sequence[Order]) -> float:
        """Per unit of time, if there is an order for the rows of each input."""
        return sum(self.local_cost(origin, order) for origin, order in enumerate(orders))

    def results(self) -> float:
        """Rows of the result in a unit of time."""
        everything = tuple(range(len(self.sides)))
        return sum(
            side.rate * [*self.probes(one, without(everything, one))][-1].found
            for one, side in enumerate(self.sides)
        )

    def pair_size(self, first: int, second: int) -> float:
        """The number of pairs of two windows that match."""
        (probe,) = self.probes(first, (second,))
        return self.sides[first].live * probe.found

    def are_joined(self, place: int, bound: set[int]) -> bool:
        """A condition connects rows of an input with those that are there."""
        values = self.sides[place].values
        if any(one in self.sides[other].values for other in bound for one in values):
            return True
        return any(place in one.inputs and bound.issuperset({*one.inputs} - {place})
                   for one in self.asked)  # fmt: skip

    def lazily(self, interval: float) -> JoinModel:
        """The same if rows that ended leave only once in an interval: windows are longer by half.

        Rows that come within an interval are joined at its end, as many as before.
        """
        longer = [replace(one, live=one.live + one.rate * interval / 2) for one in self.sides]
        return replace(self, sides=longer)

    def at_rates(self, rates: Sequence[float], sizes: Sequence[float] | None = None) -> JoinModel:
        """The same with other rates; windows of time hold as many times more rows as come.

        Those that count their rows hold as many as `sizes` says.
        """
        parts = zip(self.sides, rates, sizes or [one.live for one in self.sides], strict=True)
        return replace(self, sides=[side.at_rate(*each) for side, *each in parts])


def without(order: Order, origin: int) -> Order:
    """An order without one input."""
    return tuple(one for one in order if one != origin)
