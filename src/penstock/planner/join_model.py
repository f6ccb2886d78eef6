"""What it takes to join many windows without keeping results in between, by the order of probes.

The model counts, per unit of time, what the rows that come visit in the other windows. It is that
of the paper on sliding window multi-joins: values of the windows are contained in each other, and
all are equally frequent. A new row of input i starts with one partial result of `v` values. To
probe window j is to visit, for each partial result, all rows of j, or those of one bucket of a hash
table; those with equal values, `live / max(v, v_j)` of them, go on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Order = tuple[int, ...]
"""Inputs in the order in which they are probed."""
LEAST = 1e-9
"""A condition that always holds drops at least this share."""


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
    """

    rate: float
    live: float
    values: Mapping[int, float] = field(default_factory=dict)
    buckets: float | None = 1.0
    follows: bool = True

    def at_rate(self, rate: float) -> Side:
        """The same if rows come more or less often."""
        factor = rate / self.rate if self.follows and self.rate else 1.0
        return replace(self, rate=rate, live=self.live * factor)


@dataclass(frozen=True)
class Asked:
    """A condition beyond equal values: of which inputs, what share holds, how dear it is to ask."""

    inputs: tuple[int, ...]
    share: float
    cost: float = 0.0

    @property
    def rank(self) -> float:
        """What it costs to be rid of a combination; of several conditions the least comes first."""
        return self.cost / max(1.0 - self.share, LEAST)


@dataclass(frozen=True)
class Weights:
    """What it takes to look into a window, to visit a row there, and for each row of the result."""

    look: float = 0.0
    visit: float = 1.0
    result: float = 0.0


@dataclass(frozen=True)
class Probe:
    """The probe of a window, for one new row.

    Args:
        input: The window.
        looks: Partial results, each of which looks into it.
        visits: Rows that are visited there, altogether.
        asked: What it takes to ask conditions whose last input it is.
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
    asked: Sequence[Asked] = ()
    weights: Weights = Weights()

    def probes(self, origin: int, order: Order) -> Iterator[Probe]:
        """The probes for one new row of an input, in an order of the others."""
        partial = 1.0
        bound = {origin}
        values = dict(self.sides[origin].values)
        for place in order:
            side = self.sides[place]
            common = [one for one in side.values if one in values]
            # Beyond so many values nothing is told apart any more.
            apart = math.prod(max(values[one], side.values[one]) for one in common)
            met = partial * side.live / max(apart, 1.0)
            visits = partial * side.live / side.buckets if side.buckets else met
            bound.add(place)
            found, cost = self._asked_of(place, bound, met if common else partial * side.live)
            yield Probe(place, partial, visits, cost, found)
            partial = found
            for one, count in side.values.items():
                values[one] = min(values.get(one, count), count)

    def _asked_of(self, last: int, bound: set[int], met: float) -> tuple[float, float]:
        """How many combinations hold what is asked once an input is there; what it costs."""
        cost = 0.0
        for number in self.asked_behind(last, bound):
            one = self.asked[number]
            cost += met * one.cost
            met *= one.share
        return met, cost

    def asked_behind(self, last: int, bound: set[int]) -> list[int]:
        """The conditions that can be asked once an input is there, by number, one by one."""
        return [
            number
            for number in self._in_turn
            if last in self.asked[number].inputs and bound.issuperset(self.asked[number].inputs)
        ]

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
        """How many pairs two windows have that match."""
        (probe,) = self.probes(first, (second,))
        return self.sides[first].live * probe.found

    def are_joined(self, place: int, bound: set[int]) -> bool:
        """Whether something is asked of rows of an input and of those that are there."""
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

    def at_rates(self, rates: Sequence[float]) -> JoinModel:
        """The same with other rates; windows of time hold as many times more rows as come."""
        changed = [side.at_rate(rate) for side, rate in zip(self.sides, rates, strict=True)]
        return replace(self, sides=changed)


def without(order: Order, origin: int) -> Order:
    """An order without one input."""
    return tuple(one for one in order if one != origin)
