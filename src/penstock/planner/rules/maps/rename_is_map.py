"""Rule rename-is-map: a renaming is a projection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Column
from penstock.algebra.plan import Named
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


class RenameIsMap(Rule):
    """So that renaming is no other thing to rules than choosing columns."""

    name = "rename-is-map"
    says = "a renaming is a projection"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The projection to the same columns, under new names."""
        if not isinstance(plan, op.Alias):
            return None
        pairs = zip(plan.schema, plan.child.schema, strict=True)
        return op.Map(
            plan.child, tuple(Named(new.name, Column(old.name, old.type)) for new, old in pairs)
        )
