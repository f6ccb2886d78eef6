"""Rule product-to-join: a condition on both sides of a product or join becomes the join's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import columns_of, conjunction
from penstock.planner.conditions import conjuncts
from penstock.planner.rules.expressions import divided
from penstock.planner.rules.filters.filter_rule import FilterRule

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Binary, Plan
    from penstock.planner.rules.rule import RuleContext
from penstock.planner.rules.filters.side_filters import over_rest


class ProductToJoin(FilterRule):
    """A filter over a product, or a join, is a join."""

    name = "product-to-join"
    says = "a condition on both sides of a product or join becomes the join's"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The join."""
        over = plan.child
        if not isinstance(over, op.Product | op.Join):
            return None
        parts = conjuncts(plan.predicate)
        both, rest = divided(parts, lambda one: _reads_both(one, over))
        if not both:
            return None
        known = conjuncts(over.condition) if isinstance(over, op.Join) else []
        return over_rest(op.Join(over.left, over.right, conjunction([*known, *both])), rest)


def _reads_both(part: Expression, plan: Binary) -> bool:
    read = columns_of(part)
    return bool(read & set(plan.left.schema.names)) and bool(read & set(plan.right.schema.names))
