"""Flows of joins: pairs, rows with a match and rows without one."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra.expressions import Column, columns_of
from penstock.operators.flow import Flow, product, united
from penstock.planner.cost.join_model import without

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import Expression
    from penstock.operators.join.join_specs import SideSpec
    from penstock.planner.cost.join_model import JoinModel


def by_name(inputs: Sequence[Flow]) -> dict[str, float]:
    """The number of values of each column of inputs side by side, by its position."""
    found: dict[str, float] = {}
    for one in inputs:
        offset = len(found)
        found |= {str(offset + place): one.met(place) for place in range(len(one.different))}
    return found


def key_values(key: Expression, rows: Flow) -> float:
    """The number of values of a key that would meet as often, if all were equally frequent."""
    if isinstance(key, Column):
        return rows.met(int(key.name))
    return max((rows.met(int(one)) for one in columns_of(key)), default=1.0)


def share_of(left: SideSpec, right: SideSpec, inputs: Sequence[Flow]) -> float:
    """The share of pairs whose keys are equal."""
    keys = zip(left.keys, right.keys, strict=True)
    return 1 / product(
        max(key_values(one, inputs[0]), key_values(other, inputs[1]), 1.0) for one, other in keys
    )


def joined(left: Flow, right: Flow, share: float) -> Flow:
    """A share of all pairs of rows."""
    width = len(left.different)
    return Flow(
        (left.rate * right.live + right.rate * left.live) * share,
        (left.withdrawn * right.live + right.withdrawn * left.live) * share,
        left.live * right.live * share,
        left.different + right.different,
        {**left.even, **{width + place: count for place, count in right.even.items()}},
    )


def joined_many(inputs: Sequence[Flow], model: JoinModel) -> Flow:
    """All combinations of rows of several inputs that hold what is asked."""
    everything = tuple(range(len(inputs)))
    found = [[*model.probes(one, without(everything, one))][-1].found for one in everything]
    whole = inputs[0]
    for one in inputs[1:]:
        whole = joined(whole, one, 1.0)
    each = [*zip(inputs, found, strict=True)]
    rate = sum(one.rate * made for one, made in each)
    withdrawn = sum(one.withdrawn * made for one, made in each)
    return replace(whole, rate=rate, withdrawn=withdrawn, live=inputs[0].live * found[0])


def unmatched(left: Flow, right: Flow, share: float, none: float) -> Flow:
    """Left rows without a match, a share; one that comes throws out, one that goes lets in."""
    first = left.live * share * right.rate * none
    made = left.share(none)
    return replace(made, rate=made.rate + first, withdrawn=made.withdrawn + first)


def alone(right: Flow, share: float) -> float:
    """The share of rows that match none of the others."""
    return math.exp(-min(share * right.live, 700.0))


def padded(left: Flow, right: Flow, share: float, sides: tuple[bool, bool]) -> Flow:
    """Pairs, and the rows of padded sides without a partner."""
    pairs, both = joined(left, right, share), ((left, right), (right, left))
    rest = [
        unmatched(mine, other, share, alone(other, share))
        for (mine, other), is_padded in zip(both, sides, strict=True)
        if is_padded
    ]
    return replace(united([pairs, *rest]), even=pairs.even)
