"""Plans of queries that run together, as their operators run, and which of these are shared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.plan import different_nodes
from penstock.planner.conditions import join_condition
from penstock.planner.equalities import joined
from penstock.planner.physical.building import Building
from penstock.planner.physical.lower_joins import condition_of
from penstock.planner.physical.lowering import Lowering
from penstock.planner.physical.physical_only import Arrival, OuterJoin
from penstock.planner.rules.outer_joins.outer_join_form import outer_join_in
from penstock.planner.sharing import with_inputs

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from penstock.algebra.plan import Plan
    from penstock.planner.physical.building import Choices
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
            return Arrival(plan.reading).rebuild(inputs)
        outer = outer_join_of(plan) if isinstance(plan, op.UnionAll) else None
        if outer is not None:
            return outer.rebuild(tuple(map(self.shown, outer.children)))
        return with_inputs(plan, tuple(map(self.shown, plan.children)))

    def shared(
        self, choices: Choices, gone: Collection[str] = ()
    ) -> dict[str, dict[int, list[str]]]:
        """For each query, which operators others have too that are not gone: names, by operator.

        Operators are the same if they are one in the graph that runs, whatever columns are called.
        """
        if len(self.plans) < 2:
            return {name: {} for name in self.plans}
        lowering = Lowering(Building(choices), lambda plan: plan, self._ways)
        graph = lowering.building.graph
        tops = {name: lowering.lower(plan) for name, plan in self._given.items()}
        below = {name: graph.below(top) for name, top in tops.items() if name not in gone}
        numbers = {id(made): lowering.lower(plan) for plan, made in [*self._made.values()]}
        return {
            name: {
                id(node): others
                for node in different_nodes(plan)
                if (others := [o for o in below if o != name and numbers[id(node)] in below[o]])
            }
            for name, plan in self.plans.items()
        }


def outer_join_of(plan: op.UnionAll) -> OuterJoin | None:
    """The one operator that a union runs as which is an outer join by equal keys; else None."""
    outer = outer_join_in(plan)
    if outer is None:
        return None
    made = OuterJoin(outer.left, outer.right, outer.condition, outer.padded)
    asked = join_condition(condition_of(made), len(made.left.schema))
    return made if asked.is_only_keys else None
