"""In which order to probe the windows of a join: all orders of few, heuristics for many.

If all rows probe in one order, the heuristic is that of the paper: it orders windows by ascending
size of what is found between them, trying the smallest pair both ways. Fast streams, whose rows
come more often than the mean, are then also moved up, to any place but the first: what they would
find at the end is found by few then.

The rows of each input have an order of their own, though. It is begun with that one, with what is
found least of, with what grows from the cheapest beginnings (`growing_orders.py`), or with the
windows of dear conditions last. The best of these is improved by moving windows, one by one, as
long as that helps.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from penstock.planner.cost.growing_orders import grown_orders
from penstock.planner.cost.join_model import without

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.planner.cost.join_model import JoinModel, Order

Orders = tuple["Order", ...]
"""For the rows of each input, the order in which they probe the others."""
MOST_EXHAUSTIVE = 6
"""Of more inputs not all orders are looked at."""
WORTH_IT = 0.9
"""Orders in use are exchanged for those that cost less than this share of them."""
MOST_CANDIDATES = 8
"""So many orders are kept while fast streams are moved."""
MOST_ROUNDS, LEAST_GAIN = 10, 1e-3
"""All windows are moved so many times at most, and only while that still helps by so much."""


def all_orders(model: JoinModel) -> Iterator[Order]:
    """Every global order."""
    yield from itertools.permutations(range(len(model.sides)))


def exhaustive(model: JoinModel) -> Order:
    """The cheapest of all global orders."""
    return min(all_orders(model), key=model.cost)


def heuristic(model: JoinModel) -> Order:
    """A cheap global order, found among few."""
    return min(_candidates(model), key=model.cost)


def _candidates(model: JoinModel) -> list[Order]:
    pairs = itertools.combinations(range(len(model.sides)), 2)
    one, other = min(pairs, key=lambda pair: (not model.are_joined(pair[0], {pair[1]}),
                                              model.pair_size(*pair)))  # fmt: skip
    found = [_ascending(model, (one, other)), _ascending(model, (other, one))]
    for fast in _fast(model):
        moved = [_moved(order, fast, place) for order in found for place in range(1, len(order))]
        found = sorted(dict.fromkeys([*found, *moved]), key=model.cost)[:MOST_CANDIDATES]
    return found


def _fast(model: JoinModel) -> list[int]:
    """Streams whose rows come more often than the mean, the fastest first."""
    rates = [one.rate for one in model.sides]
    mean = sum(rates) / len(rates)
    return sorted((n for n, rate in enumerate(rates) if rate > mean), key=lambda n: -rates[n])


def _moved(order: Order, one: int, place: int) -> Order:
    rest = without(order, one)
    return (*rest[:place], one, *rest[place:])


def _ascending(model: JoinModel, begun: Order) -> Order:
    """An order that goes on with what is found least of; what nothing is asked of comes last."""
    origin, *rest = begun
    order = tuple(rest)
    missing = [n for n in range(len(model.sides)) if n not in begun]
    while missing:
        bound = {origin, *order}
        best = min(missing, key=lambda one: (not model.are_joined(one, bound),
                                             _found(model, origin, (*order, one))))  # fmt: skip
        missing.remove(best)
        order = (*order, best)
    return (origin, *order)


def _found(model: JoinModel, origin: int, order: Order) -> float:
    """The number of partial results for a new row behind some probes."""
    return [*model.probes(origin, order)][-1].found


def best_orders(model: JoinModel) -> Orders:
    """For the rows of each input the order in which to probe the others.

    These orders do not depend on each other: what a row of one input costs is added to the rest.
    """
    inputs = range(len(model.sides))
    if len(inputs) <= MOST_EXHAUSTIVE:
        return tuple(_best_of_all(model, origin) for origin in inputs)
    everywhere = heuristic(model)
    return tuple(_improved(model, origin, without(everywhere, origin)) for origin in inputs)


def orders_at(changed: JoinModel, orders: Orders) -> Orders:
    """The orders to go on with when a model has changed: those in use, if no others are cheaper.

    By much: so they do not change to and fro between two that are alike.
    """
    best = best_orders(changed)
    return best if changed.total(best) < WORTH_IT * changed.total(orders) else orders


def _best_of_all(model: JoinModel, origin: int) -> Order:
    others = without(tuple(range(len(model.sides))), origin)
    orders = itertools.permutations(others)
    return min(orders, key=lambda order: model.local_cost(origin, order))


def _improved(model: JoinModel, origin: int, one: Order) -> Order:
    """The best of one and some other orders, with windows moved to better places."""

    def cost(order: Order) -> float:
        return model.local_cost(origin, order)

    begun = [one, _ascending(model, (origin,))[1:], *grown_orders(model, origin)]
    begun += [_dear_last(model, order) for order in begun]
    best = min(begun, key=cost)
    least = cost(best)
    for _ in range(MOST_ROUNDS):
        for window in best:
            best = min((_moved(best, window, place) for place in range(len(best))), key=cost)
        if cost(best) >= least * (1 - LEAST_GAIN):
            return best
        least = cost(best)
    return best


def _dear_last(model: JoinModel, order: Order) -> Order:
    """An order with windows of conditions that are dearer than to probe one at the end."""
    dear = {place for one in model.asked if one.cost > model.weights.look for place in one.inputs}
    return tuple(sorted(order, key=lambda place: place in dear))
