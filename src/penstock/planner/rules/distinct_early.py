"""DISTINCT before or after what joins rows or drops some; which is best is a matter of cost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import TRUE, columns_of
from penstock.algebra.plan import Named
from penstock.planner.rules.duplicates import has_no_copies
from penstock.planner.rules.maps import is_plain
from penstock.planner.rules.pruning import exactly
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from collections.abc import Set

    from penstock.algebra.plan import Plan


class DistinctBelowProduct(Rule):
    """A pair is there if both of its rows are; by cost, since a join may also drop most rows.

    If the condition reads columns that are not shown, pairs differ that look the same: DISTINCT
    stays above as well.
    """

    name = "distinct-below-product"
    says = "DISTINCT of a product or join is the product or join of DISTINCT inputs"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The product of DISTINCTs."""
        join = _below(plan)
        if not isinstance(join, op.Product | op.Join):
            return None
        shown = _shown(plan)
        asked = columns_of(join.condition) if isinstance(join, op.Join) else frozenset()
        sides = tuple(
            _only(one, shown | asked, f"#there{port}") for port, one in enumerate(join.children)
        )
        if all(map(has_no_copies, sides)):
            return None
        lower = join.rebuild(tuple(map(op.Distinct, sides)))
        return _over(plan, lower, is_enough=asked <= shown)


class DistinctBeforeExists(Rule):
    """All copies of a row have a match, or none."""

    name = "distinct-before-exists"
    says = "DISTINCT of what EXISTS, IN or their negation let pass is DISTINCT of what they get"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The semi- or anti-join of DISTINCT left rows."""
        asking = _below(plan)
        if not isinstance(asking, op.SemiJoin | op.AntiJoin):
            return None
        shown = _shown(plan)
        asked = columns_of(asking.condition) - set(asking.right.schema.names)
        rows = exactly(asking.left, shown | asked)
        if not rows.schema.names or has_no_copies(rows):
            return None
        return _over(plan, replace(asking, left=op.Distinct(rows)), is_enough=asked <= shown)


class DistinctAfterExists(Rule):
    """If most rows are dropped, there are few of which copies have to be found."""

    name = "distinct-after-exists"
    says = "DISTINCT of what EXISTS, IN or their negation get is DISTINCT of what they let pass"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """DISTINCT of the semi- or anti-join."""
        if not isinstance(plan, op.SemiJoin | op.AntiJoin):
            return None
        rows = plan.left
        if not isinstance(rows, op.Distinct):
            return None
        return op.Distinct(replace(plan, left=rows.child))


def _below(plan: Plan) -> Plan | None:
    """What DISTINCT is taken of, perhaps of some columns of it; None if a plan is no DISTINCT."""
    if not isinstance(plan, op.Distinct):
        return None
    return plan.child.child if is_plain(plan.child) else plan.child


def _shown(plan: Plan) -> Set[str]:
    """The columns that DISTINCT tells rows apart by, by their names below."""
    (child,) = plan.children
    if not is_plain(child):
        return set(child.schema.names)
    return {name for one in child.columns for name in columns_of(one.expression)}


def _only(plan: Plan, names: Set[str], there: str) -> Plan:
    """Some columns of a plan; of rows of which none is read it is enough that there are any."""
    if set(plan.schema.names) & names:
        return exactly(plan, names)
    return op.Map(plan, (Named(there, TRUE),))


def _over(plan: Plan, lower: Plan, *, is_enough: bool) -> Plan:
    """What DISTINCT shows, of other rows: again as DISTINCT, unless these are different already."""
    (child,) = plan.children
    if is_plain(child):
        lower = op.Map(lower, child.columns)
    return lower if is_enough else op.Distinct(lower)
