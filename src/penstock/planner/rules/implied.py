"""Equalities that follow from others: if a = b and a = c, then b = c."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from penstock.algebra.expressions import Call, Expression, columns_of
from penstock.algebra.types import BOOLEAN
from penstock.compute.evaluate import can_fail
from penstock.planner.partition.partition_keys import classes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

EQUAL = "="


def asked_first(
    parts: Sequence[Expression], known: frozenset[str]
) -> tuple[list[Expression], list[Expression]]:
    """The conditions that can be asked where only some columns are known; and what is left to ask.

    Of values that are equal, those that are known are compared with each other, also where this
    only follows; and each of the others with one of them. More would be no news, and estimates
    would take it for some.
    """
    equal = [one for one in parts if _is_equality(one)]
    both = [one for one in parts if one not in equal]
    early = [one for one in both if columns_of(one) <= known]
    late = [one for one in both if one not in early]
    for values in classes_of((), [one.children for one in equal]):
        own = [one for one in equal if one.children[0] in values]
        here = [one for one in values if columns_of(one) <= known]
        first = _connecting(here, [one for one in own if columns_of(one) <= known])
        both = _connecting(values, [*first, *own])
        early += first
        late += [one for one in both if one not in first]
    return early, late


def _is_equality(part: Expression) -> bool:
    """A condition that makes two values equal that can be compared anywhere."""
    if not isinstance(part, Call) or part.function != EQUAL or can_fail(part):
        return False
    first, second = part.args
    return first.type == second.type and bool(columns_of(first)) and bool(columns_of(second))


def _connecting(values: Sequence[Expression], preferred: Sequence[Expression]) -> list[Expression]:
    """Equalities by which all values are the same and of which none follows from the others."""
    implied = (Call(EQUAL, pair, BOOLEAN) for pair in combinations(values, 2))
    return _needed((*preferred, *implied))


def _needed(equalities: Iterable[Expression]) -> list[Expression]:
    """Each that does not follow from those before."""
    found: list[Expression] = []
    for one in equalities:
        known = classes_of((), [other.children for other in found])
        if not any(set(one.children) <= set(group) for group in known):
            found.append(one)
    return found
