"""From a logical plan to block operators: the choice of a physical operator for each logical one.

Where an input's update pattern matters, the operators are chosen by it; operators without an own
kernel are put together from others here, and nowhere else.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.positions import positional
from penstock.errors import InternalError
from penstock.operators.set.counted import Target
from penstock.planner.equalities import joined
from penstock.planner.physical import lower_arrivals as arrivals
from penstock.planner.physical import lower_joins as joins
from penstock.planner.physical import lower_rows as rows
from penstock.planner.physical import lower_streams as streams
from penstock.planner.physical.building import Building, Choices
from penstock.planner.physical.lower_multi import multiway_node
from penstock.planner.physical.lower_outer import outer_join_node
from penstock.planner.physical.multi_join_spec import MultiJoinSpec
from penstock.planner.physical.multiway_choice import MultiwayChoices
from penstock.planner.statistics.tracing import made_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock.algebra.plan import Plan
    from penstock.planner.physical.graph import Graph
    from penstock.planner.statistics.statistics import Statistics

COUNTED = {
    op.Difference: Target.DIFFERENCE,
    op.StrictDifference: Target.STRICT_DIFFERENCE,
    op.Intersection: Target.INTERSECTION,
    op.MaxUnion: Target.MAX_UNION,
}


def operator_graph(
    plans: Mapping[str, Plan],
    choices: Choices | None = None,
    uncut: Callable[[Plan], Plan] = lambda plan: plan,
    statistics: Statistics | None = None,
    lanes: int = 1,
) -> Graph:
    """The graph that computes the results of queries, by name; what they have in common once.

    Of plans that are parts of others, `uncut` tells what an operator was before it was cut off. By
    `statistics` it is decided which joins run in one operator; each of the lanes makes room for its
    share of the rows.
    """
    choices = choices or Choices()
    ways = MultiwayChoices(plans.values(), choices, statistics, uncut, lanes)
    lowering = Lowering(Building(choices), uncut, ways)
    for name, plan in plans.items():
        lowering.building.graph.results[name] = lowering.lower(plan)
    # Some were only looked at.
    return lowering.building.graph.only(plans)


class Lowering:
    """Lowers plans into one graph; each plan object once."""

    def __init__(
        self, building: Building, uncut: Callable[[Plan], Plan], ways: MultiwayChoices
    ) -> None:
        self.building = building
        self.uncut = uncut
        self._ways = ways
        self._known: dict[int, tuple[Plan, int]] = {}
        # Nodes before this one have been told apart from what is put together above them.
        self._noted = 0

    def lower(self, plan: Plan) -> int:
        """The node with the result of a plan."""
        if id(plan) not in self._known:
            before = len(self.building.graph.nodes)
            self._known[id(plan)] = (plan, self._lower(plan))
            self._note(plan, before)
        return self._known[id(plan)][1]

    def _note(self, plan: Plan, before: int) -> None:
        """Say of the node that an operator is known by for which it runs."""
        nodes = self.building.graph.nodes
        own = range(max(before, self._noted), len(nodes))
        self._noted = len(nodes)
        many = self._ways.many(plan)
        label = plan.reading.label() if isinstance(plan, op.OnArrival) else plan.label()
        if many is not None:
            named = [n for n in own if isinstance(nodes[n].spec, MultiJoinSpec)]
        else:
            named = [n for n in own if nodes[n].label.endswith(label)]
            if not any(nodes[n].spec.structures() for n in named):
                # What keeps the rows has another name: with negative rows, a window's ends.
                named = [n for n in own if nodes[n].spec.structures()] or named
        if own:
            number = (named or own)[-1]
            nodes[number] = replace(nodes[number], origin=self.uncut(plan))

    def arranged(self, plan: Plan) -> int:
        """The node with a stream in the order in which ROWS counts its rows."""
        return arrivals.arranged_node(self, plan)

    def _lower(self, plan: Plan) -> int:
        many = self._ways.many(plan)
        return self._lower_alone(plan) if many is None else multiway_node(self, many)

    def _lower_alone(self, plan: Plan) -> int:
        """The plan of what is no join of many inputs."""
        building = self.building
        match plan:
            case st.Stream():
                return streams.stream_node(building, plan)
            case st.Relation():
                return streams.relation_node(building, plan)
            case st.Exchanged():
                return streams.exchanged_node(building, plan)
            case st.Window():
                return streams.window_node(self, plan)
            case st.Internal():
                return streams.internal_node(self, plan)
            case st.RelationToStream():
                return streams.emitted_node(self, plan)
            case op.OnArrival():
                return arrivals.on_arrival_node(self, plan)
            case op.Alias():
                return self.lower(plan.child)
            case op.Filter():
                return self._filter(plan)
            case op.Map():
                return rows.map_node(building, self.lower(plan.child), plan)
            case op.Group():
                below = self.uncut(plan).children[0]
                return rows.group_node(building, self.lower(plan.child), plan, below)
            case op.Distinct():
                made = made_of(self.uncut(plan))
                return rows.distinct_node(building, self.lower(plan.child), made_of=made)
            case op.UnionAll():
                return self._union(plan)
            case op.Aggregate():
                return self._aggregate(plan)
            case op.Combine():
                return self._combine(plan)
            case op.Split() | op.Coalesce():
                return rows.cut_node(building, self.lower(plan.child), plan)
            case op.Final():
                return rows.final_node(building, self.lower(plan.child))
            case op.Sort():
                return self._sort(plan)
            case op.FirstRows():
                return rows.first_rows_node(building, self.lower(plan.child), plan)
            case op.BagOperation():
                return self._bag_operation(plan)
            case op.Product() | op.Join() | op.SemiJoin() | op.AntiJoin():
                return joins.join_node(self, plan)
            case op.ScalarProduct():
                return joins.scalar_node(self, plan)
            case op.GroupJoin():
                return joins.group_join_node(self, plan)
        msg = f"no block operator for {type(plan).__name__}"
        raise InternalError(msg)

    def _union(self, plan: op.UnionAll) -> int:
        node = outer_join_node(self, plan)
        if node is not None:
            return node
        return rows.union_node(self.building, [self.lower(one) for one in plan.inputs], plan)

    def _filter(self, plan: op.Filter) -> int:
        rewritten = joined(plan)
        if isinstance(rewritten, op.Filter):
            below = self.uncut(plan).children[0]
            return rows.filter_node(self.building, self.lower(rewritten.child), rewritten, below)
        return self._lower(rewritten)

    def _aggregate(self, plan: op.Aggregate) -> int:
        schema = plan.child.schema
        return rows.aggregate_node(
            self.building,
            self.lower(plan.child),
            [positional(key.expression, schema) for key in plan.keys],
            [joins.positional_call(call, schema) for _, call in plan.aggregates],
            plan.label(),
            row_over_nothing=plan.row_over_nothing,
            made_of=made_of(self.uncut(plan)),
        )

    def _combine(self, plan: op.Combine) -> int:
        schema = plan.child.schema
        keys = [positional(key.expression, schema) for key in plan.keys]
        calls = [joins.positional_call(call, schema) for _, call in plan.aggregates]
        return rows.combine_node(self.building, self.lower(plan.child), keys, calls, plan.label())

    def _sort(self, plan: op.Sort) -> int:
        child = self.lower(plan.child)
        if plan.limit is None and not plan.offset:
            return child
        first = op.FirstRows(plan.child, plan.keys, (), plan.limit, plan.offset)
        return rows.first_rows_node(self.building, child, first)

    def _bag_operation(self, plan: op.BagOperation) -> int:
        children = [self.lower(plan.left), self.lower(plan.right)]
        return rows.counted_node(self.building, children, COUNTED[type(plan)], plan.label())
