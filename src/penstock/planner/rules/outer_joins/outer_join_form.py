"""Outer joins: in the algebra a join and, padded with NULLs, the rows without a partner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.outer_joins import outer_join

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan


@dataclass(frozen=True)
class OuterJoinForm:
    """The parts that an outer join is put together from, and the sides whose rows are padded."""

    left: Plan
    right: Plan
    condition: Expression
    padded: tuple[bool, bool]

    @property
    def plan(self) -> Plan:
        """The outer join in terms of the algebra."""
        return outer_join(self.left, self.right, self.condition, self.padded)


def outer_join_in(plan: op.UnionAll) -> OuterJoinForm | None:
    """The outer join that a union is; None if it is something else."""
    pairs, *padded = plan.inputs
    if not isinstance(pairs, op.Join):
        return None
    for sides in ((True, False), (False, True), (True, True)):
        if len(padded) == sum(sides):
            found = OuterJoinForm(pairs.left, pairs.right, pairs.condition, sides)
            if found.plan == plan:
                return found
    return None
