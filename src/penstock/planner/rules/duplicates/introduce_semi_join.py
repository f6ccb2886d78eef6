"""Rule introduce-semi-join.

DISTINCT, or EXISTS, over columns of one side of a join is the same over a semi-join.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import columns_of
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from collections.abc import Set

    from penstock.algebra.plan import Plan


class IntroduceSemiJoin(Rule):
    """Left rows that have a partner; the number of partners does not matter to DISTINCT.

    By cost: to watch a row for its first and last partner takes more than to find a few pairs, and
    a semi-join is no part of a join of many windows.
    """

    name = "introduce-semi-join"
    says = "DISTINCT, or EXISTS, over columns of one side of a join is the same over a semi-join"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The same over the semi-join."""
        match plan:
            case op.Distinct(op.Map(op.Join() as join) as shown):
                read = {name for one in shown.columns for name in columns_of(one.expression)}
                matched = _matched(join, read)
                return None if matched is None else op.Distinct(replace(shown, child=matched))
            case op.SemiJoin(right=op.Join() as join) | op.AntiJoin(right=op.Join() as join):
                matched = _matched(join, columns_of(plan.condition) & set(join.schema.names))
                return None if matched is None else replace(plan, right=matched)
        return None


def _matched(join: op.Join, read: Set[str]) -> Plan | None:
    """The rows of the side that has all columns that are read, if they have a partner."""
    for side, other in ((join.left, join.right), (join.right, join.left)):
        if read <= set(side.schema.names):
            return op.SemiJoin(side, other, join.condition)
    return None
