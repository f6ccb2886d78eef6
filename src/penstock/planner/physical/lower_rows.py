"""Block operators for the relational operators on one input, and for set operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.patterns import Pattern, pattern_of
from penstock.algebra.types import to_arrow
from penstock.operators.aggregate.accumulators.choice import accumulator_for
from penstock.operators.aggregate.aggregate import Aggregate
from penstock.operators.aggregate.aggregate_calls import Call
from penstock.operators.aggregate.combine_partials import Combining
from penstock.operators.aggregate.partials import partial_for
from penstock.operators.output.cuts import Coalesce, Split
from penstock.operators.output.emit_final import Final
from penstock.operators.output.order_limit import FirstRows, Ordering, OrderKey
from penstock.operators.set.counted import CountedRows, Target
from penstock.operators.set.distinct import Distinct
from penstock.operators.set.levels import Levels
from penstock.operators.set.set_counts import SetOperation
from penstock.operators.sources import Passing
from penstock.planner.conditions import positional
from penstock.planner.physical.building import combined, evaluators
from penstock.planner.physical.graph import Lineage
from penstock.planner.statistics.tracing import chosen_group, predicate_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.algebra import operators as op
    from penstock.algebra.expressions import AggregateCall, Expression
    from penstock.algebra.plan import Plan
    from penstock.compute.failures import Failures
    from penstock.operators.stateless import Map
    from penstock.planner.physical.building import Building


def filter_node(building: Building, child: int, plan: op.Filter, below: Plan) -> int:
    """WHERE; `below` is the input as it was before the plan was cut."""
    predicate = positional(plan.predicate, plan.child.schema)
    measured = predicate_of(plan.predicate, below)
    return building.filtered(child, predicate, plan.label(), measured)


def map_node(building: Building, child: int, plan: op.Map) -> int:
    """SELECT."""
    columns = [positional(one.expression, plan.child.schema) for one in plan.columns]
    return building.mapped(child, columns, plan.label())


def group_node(building: Building, child: int, plan: op.Group, below: Plan) -> int:
    """One of several streams: the rows whose selector has a value; `below` as for a filter."""
    wanted = positional(chosen_group(plan), plan.child.schema)
    measured = predicate_of(chosen_group(plan), below)
    return building.filtered(child, wanted, plan.label(), measured)


def union_node(building: Building, children: Sequence[int], plan: op.UnionAll) -> int:
    """UNION ALL."""
    patterns = [building.node(child).pattern for child in children]
    pattern = combined(patterns)
    if all(one is Pattern.WKS for one in patterns):
        pattern = pattern_of(plan)
    return building.add(
        "union",
        children,
        lambda _: Passing(),
        label=plan.label(),
        types=building.node(children[0]).types,
        pattern=pattern,
        lineage=building.passed(children),
    )


def distinct_node(
    building: Building, child: int, label: str = "Distinct", made_of: str | None = None
) -> int:
    """DISTINCT: by output and youngest duplicate, or by counting where rows are withdrawn."""
    node = building.node(child)
    if node.pattern is Pattern.STR:
        return counted_node(building, [child], Target.DISTINCT, label, made_of)
    partitions = building.choices.queue_partitions
    return building.add(
        "distinct",
        [child],
        lambda _: Distinct(node.arrow_types, node.span, partitions),
        label=label,
        types=node.types,
        pattern=combined([node.pattern]),
        lineage=building.passed([child]),
        made_of=made_of,
    )


def counted_node(
    building: Building,
    children: Sequence[int],
    target: Target,
    label: str,
    made_of: str | None = None,
) -> int:
    """A set operation that counts copies and withdraws."""
    make = counted_rows(building, children, target)
    return building.add(
        ("counted", target),
        children,
        lambda _: SetOperation(make(), len(children)),
        label=label,
        types=building.node(children[0]).types,
        pattern=Pattern.STR,
        lineage=building.passed(children),
        made_of=made_of,
    )


def counted_rows(
    building: Building, children: Sequence[int], target: Target
) -> Callable[[], CountedRows]:
    """How to make the counted rows of inputs."""
    nodes = [building.node(child) for child in children]
    types = nodes[0].arrow_types
    patterns = [node.pattern for node in nodes]
    span = max(node.span for node in nodes)
    partitions = building.choices.queue_partitions
    return lambda: CountedRows(types, patterns, target, span, partitions)


def levels_node(building: Building, children: Sequence[int], target: Target, label: str) -> int:
    """INTERSECT ALL and max-union: exact intervals, unless an input withdraws rows."""
    nodes = [building.node(child) for child in children]
    if Pattern.STR in (node.pattern for node in nodes):
        return counted_node(building, children, target, label)
    span = max(node.span for node in nodes)
    partitions = building.choices.queue_partitions
    least = target is Target.INTERSECTION
    return building.add(
        ("levels", target),
        children,
        lambda _: Levels(nodes[0].arrow_types, span, partitions, least=least),
        label=label,
        types=nodes[0].types,
        pattern=combined([node.pattern for node in nodes]),
        lineage=building.passed(children),
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
    node = building.node(child)
    types = [*(key.type for key in keys), *(call.of for call in calls)]
    compiled_keys = evaluators(keys, node.schema)
    compiled_args = [evaluators(call.args, node.schema) for call in calls]
    partitions = building.choices.queue_partitions

    def make(failures: Failures) -> Aggregate:
        made = [
            Call(call.function, args, accumulator_for(call, node.pattern))
            for call, args in zip(calls, compiled_args, strict=True)
        ]
        return Aggregate(
            [(key, to_arrow(of)) for key, of in zip(compiled_keys, types, strict=False)],
            [(one, to_arrow(call.of)) for one, call in zip(made, calls, strict=True)],
            node.pattern,
            node.span,
            partitions,
            failures,
            row_over_nothing=row_over_nothing,
        )

    return building.add(
        ("aggregate", tuple(keys), tuple(calls), row_over_nothing),
        [child],
        make,
        label=label,
        types=types,
        pattern=Pattern.STR,
        lineage=Lineage(((*keys, *[None] * len(calls)),)),
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
    compiled = evaluators(keys, node.schema)
    partials = [
        partial_for(call.function, evaluators(call.args, node.schema), to_arrow(call.of))
        for call in calls
    ]
    return building.add(
        ("combine", tuple(keys), tuple(calls)),
        [child],
        lambda failures: Combining(compiled, partials, failures),
        label=label,
        types=[*(key.type for key in keys), *(call.of for call in calls)],
        pattern=node.pattern,
        lineage=Lineage(((*keys, *[None] * len(calls)),)),
    )


def cut_node(building: Building, child: int, plan: op.Split | op.Coalesce) -> int:
    """Split and coalesce: other intervals, the same snapshots."""
    node = building.node(child)
    length = getattr(plan, "length", None)
    return building.add(
        ("cut", length),
        [child],
        lambda _: Coalesce() if length is None else Split(length),
        label=plan.label(),
        types=node.types,
        pattern=Pattern.STR if node.pattern is Pattern.STR else Pattern.WK,
        lineage=building.passed([child]),
    )


def final_node(building: Building, child: int) -> int:
    """EMIT FINAL: what is sent has ended, so nothing is ever withdrawn."""
    node = building.node(child)
    strict = node.pattern is Pattern.STR
    return building.add(
        "final",
        [child],
        lambda _: Final(node.arrow_types, strict=strict),
        label="Final",
        types=node.types,
        pattern=Pattern.WK if strict else node.pattern,
        lineage=building.passed([child]),
    )


def first_rows_node(building: Building, child: int, plan: op.Sort) -> int:
    """LIMIT and OFFSET, of rows in an order."""
    make = counted_rows(building, [child], Target.COPIES)
    ordering = ordering_of(building, child, plan, ())
    node = building.node(child)
    keys = tuple(positional(key.expression, plan.child.schema) for key in plan.keys)
    directions = tuple((key.descending, key.nulls_first) for key in plan.keys)
    return building.add(
        ("first", keys, directions, plan.limit, plan.offset),
        [child],
        lambda failures: FirstRows(make(), ordering(failures)),
        label=plan.label(),
        types=node.types,
        pattern=Pattern.STR,
        lineage=building.passed([child]),
    )


def ordering_of(
    building: Building, child: int, plan: op.Sort, maps: Sequence[Callable[[Failures], Map]]
) -> Callable[[Failures], Ordering]:
    """How to make the order of a Sort over a node, with what is shown of the rows."""
    schema = building.node(child).schema
    expressions = [positional(key.expression, plan.child.schema) for key in plan.keys]
    keys = [
        OrderKey(compiled, key.descending, key.nulls_first)
        for compiled, key in zip(evaluators(expressions, schema), plan.keys, strict=True)
    ]
    return lambda failures: Ordering(
        keys, plan.limit, plan.offset, [make(failures) for make in maps], failures
    )
