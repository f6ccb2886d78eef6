"""WHERE a.x = b.y over a product is a join: equalities go down to where their two sides meet.

Only equalities of plain columns move: they cannot fail, so no failure is counted at another place
than before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Call, Column, columns_of, conjunction
from penstock.planner.conditions import conjuncts

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan


def joined(plan: op.Filter) -> Plan:
    """The filter, or what is left of it, over joins in the place of products."""
    child = plan.child
    rest: list[Expression] = []
    for part in conjuncts(plan.predicate):
        lower = _with_equality(child, part) if _is_equality(part) else None
        if lower is None:
            rest.append(part)
        else:
            child = lower
    if child is plan.child:
        return plan
    return op.Filter(child, conjunction(rest)) if rest else child


def _is_equality(part: Expression) -> bool:
    return (
        isinstance(part, Call)
        and part.function == "="
        and all(isinstance(arg, Column) for arg in part.args)
    )


def _with_equality(plan: Plan, part: Expression) -> Plan | None:
    """The plan with an equality in the condition of the join that has its two sides."""
    if not isinstance(plan, op.Product | op.Join):
        return None
    read = columns_of(part)
    left, right = set(plan.left.schema.names), set(plan.right.schema.names)
    if read <= left or read <= right:
        lower = _with_equality(plan.left if read <= left else plan.right, part)
        if lower is None:
            return None
        return replace(plan, left=lower) if read <= left else replace(plan, right=lower)
    if isinstance(plan, op.Join):
        return replace(plan, condition=conjunction([*conjuncts(plan.condition), part]))
    return op.Join(plan.left, plan.right, part)
