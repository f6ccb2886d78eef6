"""Rule intersect-conditions.

Lists and ranges for one value become the one that they have in common.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Expression, conjunction
from penstock.compute.evaluate import can_fail
from penstock.planner.conditions import conjuncts
from penstock.planner.rules.filters.filter_rule import FilterRule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.plan import Plan
    from penstock.planner.rules.rule import RuleContext
from penstock.planner.rules.conditions.value_ranges import ranges_in, values_in


class IntersectConditions(FilterRule):
    """`v IN (1, 2, 3) AND v > 1` is `v IN (2, 3)`; what another condition implies is not asked."""

    name = "intersect-conditions"
    says = "lists and ranges for one value become the one that they have in common"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The filter that asks less."""
        if can_fail(plan.predicate):
            return None
        parts = conjuncts(plan.predicate)
        for subject, values in ranges_in(parts).items():
            own = [one for one in parts if (known := values_in(one)) and known[0] == subject]
            fewest = values.asked_of(subject)
            if len(fewest) < len(own) and values.has_values:
                rest = [one for one in parts if one not in own]
                asked = [_as_written(one, own) for one in fewest]
                return op.Filter(plan.child, conjunction([*rest, *asked]))
        return None


def _as_written(part: Expression, given: Sequence[Expression]) -> Expression:
    """A condition in the words of those that were there, if one says the same.

    What was measured of it is known by these.
    """
    return next((one for one in given if values_in(one) == values_in(part)), part)
