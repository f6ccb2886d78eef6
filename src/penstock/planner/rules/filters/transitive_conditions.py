"""Rule transitive-conditions.

What is asked of a join's key on one side is asked of it on the other as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Call, Column, Literal, conjunction
from penstock.planner.conditions import conjuncts
from penstock.planner.rules.filters.filter_rule import FilterRule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan
    from penstock.planner.rules.rule import RuleContext


COMPARISONS = ("=", "<", "<=", ">", ">=", "<>")


class TransitiveConditions(FilterRule):
    """If a = b and a < 5, then b < 5, which the other side can ask of its rows."""

    name = "transitive-conditions"
    says = "what is asked of a join's key on one side is asked of it on the other as well"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The filter with the conditions that follow."""
        over = plan.child
        if not isinstance(over, op.Join):
            return None
        equal = _equal_columns(over.condition)
        parts = conjuncts(plan.predicate)
        implied = [found for part in parts for found in _implied(part, equal)]
        new = [one for one in dict.fromkeys(implied) if one not in parts]
        return op.Filter(over, conjunction([*parts, *new])) if new else None


def _equal_columns(condition: Expression) -> dict[Expression, list[Column]]:
    """For each column, those that have the same value in every pair."""
    found: dict[Expression, list[Column]] = {}
    for part in conjuncts(condition):
        match part:
            case Call("=", (Column() as first, Column() as second)) if first.of == second.of:
                found.setdefault(first, []).append(second)
                found.setdefault(second, []).append(first)
    return found


def _implied(part: Expression, equal: dict[Expression, list[Column]]) -> list[Expression]:
    match part:
        case Call(function, (Column() as column, Literal() as value)) if function in COMPARISONS:
            return [replace(part, args=(one, value)) for one in equal.get(column, ())]
        case Call("in", (Column() as column, *members)) if _are_constants(members):
            return [replace(part, args=(one, *members)) for one in equal.get(column, ())]
        case Call(function, (Literal() as value, Column() as column)) if function in COMPARISONS:
            return [replace(part, args=(value, one)) for one in equal.get(column, ())]
    return []


def _are_constants(members: Sequence[Expression]) -> bool:
    return all(isinstance(one, Literal) for one in members)
