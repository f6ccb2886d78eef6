"""Orders of probes that grow window by window, several at a time: only the cheapest go on.

What is found behind some probes does not depend on their order, so of orders of the same windows
only the cheapest is of interest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from penstock.planner.cost.join_model import JoinModel, Order

MOST_GROWING = 16
"""So many orders of one length go on."""


@dataclass(frozen=True)
class _Begun:
    """Some probes: what they cost, what is found behind them, of how many values."""

    order: Order
    cost: float
    found: float
    values: Mapping[int, float]


def grown_orders(model: JoinModel, origin: int) -> Iterator[Order]:
    """Orders for the rows of an input: one with conditions asked at once, one without them."""
    for is_asked in (True, False) if model.asked else (False,):
        yield _Growing(model, origin, is_asked).best()


class _Growing:
    def __init__(self, model: JoinModel, origin: int, is_asked: bool) -> None:
        self._model = model
        self._origin = origin
        self._asked = model.asked if is_asked else ()

    def best(self) -> Order:
        """An order of all other windows."""
        values = self._model.sides[self._origin].values
        begun = [_Begun((), 0.0, 1.0, values)]
        for _ in self._model.sides[1:]:
            longer: dict[frozenset[int], _Begun] = {}
            for one in (after for before in begun for after in self._longer(before)):
                same = longer.setdefault(frozenset(one.order), one)
                if one.cost < same.cost:
                    longer[frozenset(one.order)] = one
            begun = sorted(longer.values(), key=self._promise)[:MOST_GROWING]
        return begun[0].order

    def _promise(self, one: _Begun) -> float:
        """The cost of an order so far, and at least, if what is found probes one more window."""
        return one.cost + one.found * self._model.weights.look

    def _longer(self, begun: _Begun) -> Iterator[_Begun]:
        """An order with any one more window behind it."""
        there = {self._origin, *begun.order}
        for place in range(len(self._model.sides)):
            if place not in there:
                yield self._with(begun, place, {*there, place})

    def _with(self, begun: _Begun, place: int, there: set[int]) -> _Begun:
        side, weights = self._model.sides[place], self._model.weights
        values = dict(begun.values)
        visits, fits = side.fitting(values)
        found = begun.found * fits
        cost = begun.cost + begun.found * (weights.look + weights.visit * visits)
        for one in self._asked:
            if place in one.inputs and there.issuperset(one.inputs):
                cost += found * one.cost
                found *= one.share
        return _Begun((*begun.order, place), cost, found, values)
