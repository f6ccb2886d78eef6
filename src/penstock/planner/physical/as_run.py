"""Plans as their operators run, which is what they are priced by."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.planner.conditions import join_condition
from penstock.planner.equalities import joined
from penstock.planner.physical.lower_joins import condition_of
from penstock.planner.physical.physical_only import ArrivalRead, OuterJoin
from penstock.planner.rules.outer_joins.outer_join_form import outer_join_in
from penstock.planner.sharing import with_inputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.algebra.plan import Plan
    from penstock.planner.physical.multiway_choice import MultiwayChoices


class AsRun:
    """The plans of queries, with the operators that run in the place of those they are made of.

    What several plans have in common is one object in all of them.
    """

    def __init__(self, plans: Mapping[str, Plan], ways: MultiwayChoices) -> None:
        self._given = plans
        self._ways = ways
        self._made: dict[int, tuple[Plan, Plan]] = {}
        self.plans = {name: self.shown(plan) for name, plan in plans.items()}

    def shown(self, plan: Plan) -> Plan:
        """A part of the plans, as it runs."""
        if id(plan) not in self._made:
            self._made[id(plan)] = (plan, self._made_of(plan))
        return self._made[id(plan)][1]

    def _made_of(self, plan: Plan) -> Plan:
        many = self._ways.many(plan)
        if many is not None:
            return replace(many, inputs=tuple(map(self.shown, many.inputs)))
        if isinstance(plan, op.Filter):
            over = joined(plan)
            if over is not plan:
                return self.shown(over)
        if isinstance(plan, op.OnArrival):
            inputs = tuple(map(self.shown, plan.reading.children))
            return ArrivalRead(plan.reading).rebuild(inputs)
        outer = outer_join_of(plan) if isinstance(plan, op.UnionAll) else None
        if outer is not None:
            return outer.rebuild(tuple(map(self.shown, outer.children)))
        return with_inputs(plan, tuple(map(self.shown, plan.children)))


def outer_join_of(plan: op.UnionAll) -> OuterJoin | None:
    """The one operator that a union runs as which is an outer join by equal keys; else None."""
    outer = outer_join_in(plan)
    if outer is None:
        return None
    made = OuterJoin(outer.left, outer.right, outer.condition, outer.padded)
    asked = join_condition(condition_of(made), len(made.left.schema))
    return made if asked.is_only_keys else None
