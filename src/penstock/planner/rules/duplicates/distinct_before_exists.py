"""Rule distinct-before-exists.

DISTINCT of what EXISTS, IN or their negation let pass is DISTINCT of what they get.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import columns_of
from penstock.planner.rules.duplicates.copies import has_no_copies
from penstock.planner.rules.maps.exact_columns import exactly
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
from penstock.planner.rules.duplicates.distinct_parts import (
    distinct_input,
    distinct_over,
    shown_columns,
)


class DistinctBeforeExists(Rule):
    """All copies of a row have a match, or none."""

    name = "distinct-before-exists"
    says = "DISTINCT of what EXISTS, IN or their negation let pass is DISTINCT of what they get"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The semi- or anti-join of DISTINCT left rows."""
        asking = distinct_input(plan)
        if not isinstance(asking, op.SemiJoin | op.AntiJoin):
            return None
        shown = shown_columns(plan)
        asked = columns_of(asking.condition) - set(asking.right.schema.names)
        rows = exactly(asking.left, shown | asked)
        if not rows.schema.names or has_no_copies(rows):
            return None
        return distinct_over(
            plan, replace(asking, left=op.Distinct(rows)), is_enough=asked <= shown
        )
