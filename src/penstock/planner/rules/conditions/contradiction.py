"""Rule contradiction.

A filter that asks for what cannot be lets nothing pass, and asks nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Call, Column
from penstock.compute.comparisons import COMPARISONS
from penstock.compute.evaluate import can_fail
from penstock.planner.conditions import conjuncts
from penstock.planner.rules.conditions.value_ranges import ranges_in
from penstock.planner.rules.expressions import FALSE
from penstock.planner.rules.filters.filter_rule import FilterRule
from penstock.planner.rules.truth import Known, may_be_true

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan
    from penstock.planner.rules.rule import RuleContext


class Contradiction(FilterRule):
    """Conditions of which one at most can be TRUE for a row."""

    name = "contradiction"
    says = "a filter that asks for what cannot be lets nothing pass, and asks nothing else"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The filter that is FALSE."""
        if plan.predicate == FALSE or can_fail(plan.predicate):
            return None
        parts = conjuncts(plan.predicate)
        if (
            not may_be_true(plan.predicate)
            or _deny_each_other(parts)
            or any(not one.has_values for one in ranges_in(parts).values())
        ):
            return op.Filter(plan.child, FALSE)
        return None


def _deny_each_other(parts: Sequence[Expression]) -> bool:
    known = set(parts)
    for part in parts:
        match part:
            case Call("not", (denied,)) if denied in known:
                return True
            case Call("is null", (arg,)) if any(_needs_value(one, arg) for one in parts):
                return True
    return False


def _needs_value(part: Expression, arg: Expression) -> bool:
    """A condition that is not TRUE if something is NULL."""
    if isinstance(arg, Column):
        return not may_be_true(part, Known(null=frozenset({arg.name})))
    return isinstance(part, Call) and part.function in COMPARISONS and arg in part.args
