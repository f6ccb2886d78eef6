"""In which order to probe the windows of a join: all orders of few, a heuristic for many.

The heuristic orders windows by ascending size of what is found between them, trying the smallest
pair both ways. Fast streams, whose rows come more often than the mean, are then also moved up, to
any place but the first: what they would find at the end is found by few then.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from penstock.planner.join_model import without

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from penstock.planner.join_model import JoinModel, Order

Orders = tuple["Order", ...]
"""For the rows of each input, the order in which they probe the others."""
MOST_EXHAUSTIVE = 6
"""Of more inputs not all orders are looked at."""
WORTH_IT = 0.9
"""Orders in use are exchanged for those that cost less than this share of them."""
MOST_CANDIDATES = 64
"""So many orders are kept while fast streams are moved."""


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
    """How many partial results there are for a new row behind some probes."""
    return [*model.probes(origin, order)][-1].found


def best_orders(model: JoinModel) -> Orders:
    """For the rows of each input the order in which to probe the others.

    These orders do not depend on each other: what a row of one input costs is added to the rest.
    """
    everywhere = heuristic(model) if len(model.sides) > MOST_EXHAUSTIVE else None
    return tuple(_local(model, origin, everywhere) for origin in range(len(model.sides)))


def orders_at(model: JoinModel, rates: Sequence[float], orders: Orders) -> Orders:
    """The orders to go on with at other rates: those in use, unless others are much cheaper.

    So they do not change to and fro between two that are alike.
    """
    changed = model.at_rates(rates)
    best = best_orders(changed)
    return best if changed.total(best) < WORTH_IT * changed.total(orders) else orders


def _local(model: JoinModel, origin: int, everywhere: Order | None) -> Order:
    others = without(tuple(range(len(model.sides))), origin)
    candidates: Iterable[Order] = itertools.permutations(others)
    if everywhere is not None:
        candidates = [without(everywhere, origin), _ascending(model, (origin,))[1:]]
    return min(candidates, key=lambda order: model.local_cost(origin, order))
