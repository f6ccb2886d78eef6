"""Rule distinct-below-product.

DISTINCT of a product or join is the product or join of DISTINCT inputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import TRUE, columns_of
from penstock.algebra.plan import Named
from penstock.planner.rules.duplicates.copies import has_no_copies
from penstock.planner.rules.maps.exact_columns import exactly
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from collections.abc import Set

    from penstock.algebra.plan import Plan
from penstock.planner.rules.duplicates.distinct_parts import (
    distinct_input,
    distinct_over,
    shown_columns,
)


class DistinctBelowProduct(Rule):
    """A pair is there if both of its rows are; by cost, since a join may also drop most rows.

    If the condition reads columns that are not shown, pairs differ that look the same: DISTINCT
    stays above as well.
    """

    name = "distinct-below-product"
    says = "DISTINCT of a product or join is the product or join of DISTINCT inputs"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The product of DISTINCTs."""
        join = distinct_input(plan)
        if not isinstance(join, op.Product | op.Join):
            return None
        shown = shown_columns(plan)
        asked = columns_of(join.condition) if isinstance(join, op.Join) else frozenset()
        sides = tuple(
            _only(one, shown | asked, f"#there{port}") for port, one in enumerate(join.children)
        )
        if all(map(has_no_copies, sides)):
            return None
        lower = join.rebuild(tuple(map(op.Distinct, sides)))
        return distinct_over(plan, lower, is_enough=asked <= shown)


def _only(plan: Plan, names: Set[str], there: str) -> Plan:
    """Some columns of a plan; of rows of which none is read it is enough that there are any."""
    if set(plan.schema.names) & names:
        return exactly(plan, names)
    return op.Map(plan, (Named(there, TRUE),))
