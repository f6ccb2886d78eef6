"""Block operators for the relational operators on one input, and for set operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.patterns import Pattern, closed, combined, cut, united
from penstock.algebra.positions import positional
from penstock.operators.aggregate.aggregate_specs import AggregateSpec, CombineSpec
from penstock.operators.output.output_specs import (
    CutSpec,
    FinalSpec,
    FirstRowsSpec,
    OrderSpec,
    SortKey,
)
from penstock.operators.set.counted import Target
from penstock.operators.set.set_specs import CountedSpec, DistinctSpec
from penstock.planner.statistics.tracing import chosen_group

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra import operators as op
    from penstock.algebra import orders
    from penstock.algebra.expressions import AggregateCall, Expression
    from penstock.algebra.plan import Plan
    from penstock.operators.source_specs import MapSpec
    from penstock.planner.physical.building import Building


def filter_node(building: Building, child: int, plan: op.Filter, below: Plan) -> int:
    """WHERE; `below` is the input as it was before the plan was cut."""
    predicate = positional(plan.predicate, plan.child.schema)
    measured = building.predicate(plan.predicate, below)
    return building.filtered(child, predicate, plan.label(), measured)


def map_node(building: Building, child: int, plan: op.Map) -> int:
    """SELECT."""
    columns = [positional(one.expression, plan.child.schema) for one in plan.columns]
    return building.mapped(child, columns, plan.label())


def group_node(building: Building, child: int, plan: op.Group, below: Plan) -> int:
    """One of several streams: the rows whose selector has a value; `below` as for a filter."""
    wanted = positional(chosen_group(plan), plan.child.schema)
    measured = building.predicate(chosen_group(plan), below)
    return building.filtered(child, wanted, plan.label(), measured)


def union_node(building: Building, children: Sequence[int], plan: op.UnionAll) -> int:
    """UNION ALL."""
    patterns = [building.node(child).pattern for child in children]
    return building.union(children, plan.label(), united(plan, patterns))


def distinct_node(
    building: Building, child: int, label: str = "Distinct", made_of: str | None = None
) -> int:
    """DISTINCT: by output and youngest duplicate, or by counting where rows are withdrawn."""
    node = building.node(child)
    if node.pattern is Pattern.STR:
        return counted_node(building, [child], Target.DISTINCT, label, made_of)
    return building.add(
        DistinctSpec(node.edge, building.choices.queue_partitions),
        [child],
        label=label,
        types=node.types,
        pattern=combined([node.pattern]),
        made_of=made_of,
    )


def counted_node(
    building: Building,
    children: Sequence[int],
    target: Target,
    label: str,
    made_of: str | None = None,
) -> int:
    """A set operation that counts copies, and withdraws unless nothing ever leaves."""
    counting = building.counting(children, target)
    return building.add(
        CountedSpec(counting),
        children,
        label=label,
        types=building.node(children[0]).types,
        pattern=Pattern.MON if counting.only_grows else Pattern.STR,
        made_of=made_of,
    )


def aggregate_node(
    building: Building,
    child: int,
    keys: Sequence[Expression],
    calls: Sequence[AggregateCall],
    label: str,
    *,
    row_over_nothing: bool,
    made_of: str | None = None,
) -> int:
    """GROUP BY, over the positions of a node: keys, then aggregates."""
    partitions = building.choices.queue_partitions
    edge = building.edge(child)
    return building.add(
        AggregateSpec(edge, tuple(keys), tuple(calls), row_over_nothing, partitions),
        [child],
        label=label,
        types=[*(key.type for key in keys), *(call.of for call in calls)],
        pattern=Pattern.STR,
        made_of=made_of,
    )


def combine_node(
    building: Building,
    child: int,
    keys: Sequence[Expression],
    calls: Sequence[AggregateCall],
    label: str,
) -> int:
    """The first phase of an aggregate, over the positions of a node."""
    node = building.node(child)
    return building.add(
        CombineSpec(node.types, tuple(keys), tuple(calls)),
        [child],
        label=label,
        types=[*(key.type for key in keys), *(call.of for call in calls)],
        pattern=node.pattern,
    )


def cut_node(building: Building, child: int, plan: op.Split | op.Coalesce) -> int:
    """Split and coalesce: other intervals, the same snapshots."""
    node = building.node(child)
    return building.add(
        CutSpec(node.types, getattr(plan, "length", None)),
        [child],
        label=plan.label(),
        types=node.types,
        pattern=cut(node.pattern),
    )


def final_node(building: Building, child: int) -> int:
    """EMIT FINAL: what is sent has ended, so nothing is ever withdrawn."""
    node = building.node(child)
    return building.add(
        FinalSpec(node.edge),
        [child],
        label="Final",
        types=node.types,
        pattern=closed(node.pattern),
    )


def first_rows_node(building: Building, child: int, plan: orders.FirstRows) -> int:
    """The first rows of each group."""
    order = order_of(building, child, plan)
    groups = tuple(positional(one, plan.child.schema) for one in plan.partition_by)
    numbered = plan.number is not None
    return building.add(
        FirstRowsSpec(building.counting([child]), order, groups, numbered),
        [child],
        label=plan.label(),
        types=plan.schema.types,
        pattern=Pattern.STR,
    )


def order_of(
    building: Building,
    child: int,
    plan: orders.Sort | orders.FirstRows,
    maps: tuple[MapSpec, ...] = (),
) -> OrderSpec:
    """The order of a Sort over a node, with what is shown of the rows."""
    keys = tuple(
        SortKey(positional(key.expression, plan.child.schema), key.descending, key.nulls_first)
        for key in plan.keys
    )
    return OrderSpec(building.node(child).types, keys, plan.limit, plan.offset, maps)
