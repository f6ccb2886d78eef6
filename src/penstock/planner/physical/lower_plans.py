"""From a logical plan to block operators: the choice of a physical operator for each logical one.

Where an input's update pattern matters, the operators are chosen by it; operators without an own
kernel are put together from others here, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.algebra import streams as st
from penstock.algebra.positions import positional
from penstock.errors import InternalError
from penstock.operators.set.counted import Target
from penstock.planner.equalities import joined
from penstock.planner.physical import lower_arrivals as arrivals
from penstock.planner.physical import lower_joins as joins
from penstock.planner.physical import lower_rows as rows
from penstock.planner.physical import lower_streams as streams
from penstock.planner.physical.lower_multi import multiway_node
from penstock.planner.physical.lower_outer import outer_join_node

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.planner.physical.building import Building
    from penstock.planner.physical.multiway import Multiway


class Lowering:
    """Lowers plans into one graph; each plan object once.

    Args:
        building: The graph.
        uncut: What an operator was before inputs were cut off; conditions are known by it.
        many: The join of many inputs that a plan runs as, if it does.
    """

    def __init__(
        self,
        building: Building,
        uncut: Callable[[Plan], Plan] = lambda plan: plan,
        many: Callable[[Plan], Multiway | None] = lambda _plan: None,
    ) -> None:
        self.building = building
        self.uncut = uncut
        self._many = many
        self._known: dict[int, tuple[Plan, int]] = {}

    def lower(self, plan: Plan) -> int:
        """The node with the result of a plan."""
        if id(plan) not in self._known:
            self._known[id(plan)] = (plan, self._lower(plan))
        return self._known[id(plan)][1]

    def arranged(self, plan: Plan) -> int:
        """The node with a stream in the order in which ROWS counts its rows."""
        return arrivals.arranged_node(self, plan)

    def _lower(self, plan: Plan) -> int:
        many = self._many(plan)
        return self.lower_alone(plan) if many is None else multiway_node(self, many)

    def lower_alone(self, plan: Plan) -> int:
        """The same, where it is no join of many inputs.

        Raises:
            InternalError: Nobody has said by which block operators it runs.
        """
        if type(plan) not in RULES:
            msg = f"no block operator for {type(plan).__name__}"
            raise InternalError(msg)
        return RULES[type(plan)](self, plan)


def _row_by_row(node: Callable[..., int]) -> Rule:
    """An operator on the rows of its input, which needs nothing else."""
    return lambda lowering, plan: node(lowering.building, lowering.lower(plan.child), plan)


def _source(node: Callable[..., int]) -> Rule:
    return lambda lowering, plan: node(lowering.building, plan)


def _group(lowering: Lowering, plan: op.Group) -> int:
    below = lowering.uncut(plan).children[0]
    return rows.group_node(lowering.building, lowering.lower(plan.child), plan, below)


def _distinct(lowering: Lowering, plan: op.Distinct) -> int:
    made = lowering.building.made_of(lowering.uncut(plan))
    return rows.distinct_node(lowering.building, lowering.lower(plan.child), made_of=made)


def _union(lowering: Lowering, plan: op.UnionAll) -> int:
    node = outer_join_node(lowering, plan)
    if node is not None:
        return node
    inputs = [lowering.lower(one) for one in plan.inputs]
    return rows.union_node(lowering.building, inputs, plan)


def _filter(lowering: Lowering, plan: op.Filter) -> int:
    rewritten = joined(plan)
    if not isinstance(rewritten, op.Filter):
        return lowering.lower_alone(rewritten)
    below, child = lowering.uncut(plan).children[0], lowering.lower(rewritten.child)
    return rows.filter_node(lowering.building, child, rewritten, below)


def _aggregate(lowering: Lowering, plan: op.Aggregate) -> int:
    schema = plan.child.schema
    return rows.aggregate_node(
        lowering.building,
        lowering.lower(plan.child),
        [positional(key.expression, schema) for key in plan.keys],
        [joins.positional_call(call, schema) for _, call in plan.aggregates],
        plan.label(),
        row_over_nothing=plan.row_over_nothing,
        made_of=lowering.building.made_of(lowering.uncut(plan)),
    )


def _combine(lowering: Lowering, plan: op.Combine) -> int:
    child, schema = lowering.lower(plan.child), plan.child.schema
    keys = [positional(key.expression, schema) for key in plan.keys]
    calls = [joins.positional_call(call, schema) for _, call in plan.aggregates]
    return rows.combine_node(lowering.building, child, keys, calls, plan.label())


def _sort(lowering: Lowering, plan: orders.Sort) -> int:
    child = lowering.lower(plan.child)
    if plan.limit is None and not plan.offset:
        return child
    first = orders.FirstRows(plan.child, plan.keys, (), plan.limit, plan.offset)
    return rows.first_rows_node(lowering.building, child, first)


def _counted(target: Target, lowering: Lowering, plan: op.BagOperation) -> int:
    children = [lowering.lower(plan.left), lowering.lower(plan.right)]
    return rows.counted_node(lowering.building, children, target, plan.label())


Rule = Callable[[Lowering, Any], int]
"""The node with the result of an operator."""

RULES: Mapping[type[Plan], Rule] = {
    st.Stream: _source(streams.stream_node),
    st.Relation: _source(streams.relation_node),
    st.Exchanged: _source(streams.exchanged_node),
    st.Window: streams.window_node,
    st.Internal: streams.internal_node,
    st.IStream: streams.emitted_node,
    st.DStream: streams.emitted_node,
    st.RStream: streams.emitted_node,
    st.AtEnds: streams.emitted_node,
    op.OnArrival: arrivals.on_arrival_node,
    op.Alias: lambda lowering, plan: lowering.lower(plan.child),
    op.Filter: _filter,
    op.Map: _row_by_row(rows.map_node),
    op.Group: _group,
    op.Distinct: _distinct,
    op.UnionAll: _union,
    op.Aggregate: _aggregate,
    op.Combine: _combine,
    op.Split: _row_by_row(rows.cut_node),
    op.Coalesce: _row_by_row(rows.cut_node),
    op.Final: lambda lowering, plan: rows.final_node(lowering.building, lowering.lower(plan.child)),
    orders.Sort: _sort,
    orders.FirstRows: _row_by_row(rows.first_rows_node),
    op.Difference: partial(_counted, Target.DIFFERENCE),
    op.StrictDifference: partial(_counted, Target.STRICT_DIFFERENCE),
    op.Intersection: partial(_counted, Target.INTERSECTION),
    op.MaxUnion: partial(_counted, Target.MAX_UNION),
    op.Product: joins.join_node,
    op.Join: joins.join_node,
    op.SemiJoin: joins.join_node,
    op.AntiJoin: joins.join_node,
    op.ScalarProduct: joins.scalar_node,
    op.GroupJoin: joins.group_join_node,
}
"""The block operators of each logical one."""
