"""Joins of three inputs or more as one block operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.expressions import conjunction
from penstock.algebra.patterns import combined
from penstock.planner.physical.lower_joins import join_side
from penstock.planner.physical.multi_join_spec import MultiJoinSpec
from penstock.planner.statistics.tracing import predicate_of_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.planner.flattening import PositionedCondition
    from penstock.planner.physical.agreements import Agreed
    from penstock.planner.physical.building import Building
    from penstock.planner.physical.lower_plans import Lowering
    from penstock.planner.physical.multiway import Multiway


def multiway_node(lowering: Lowering, plan: Multiway) -> int:
    """All combinations of rows of several inputs, with the columns that the plan has."""
    building, asks = lowering.building, plan.agreed
    inputs = []
    for one, own in zip(plan.inputs, asks.filters, strict=True):
        child = lowering.lower(one)
        if own is not None:
            child = building.filtered(child, own, f"Filter {own}")
        inputs.append(child)
    node = _combinations(building, inputs, plan)
    if asks.above:
        node = _filtered(building, node, asks.above)
    shown = [building.column(node, place) for place in plan.flat.columns]
    return building.mapped(node, shown, "Map")


def _filtered(building: Building, child: int, parts: Sequence[PositionedCondition]) -> int:
    """The combinations that satisfy what is asked at last."""
    asks = conjunction([one.asks for one in parts])
    schema = building.node(child).schema
    measured = predicate_of_parts([one.name for one in parts], [one.asks for one in parts], schema)
    return building.filtered(child, asks, f"Filter {asks}", measured)


def _combinations(building: Building, inputs: Sequence[int], plan: Multiway) -> int:
    asks, choices = plan.agreed, building.choices
    nodes = [building.node(one) for one in inputs]
    sides = [
        join_side(building, one, [key.expression for key in keys], _null_matches(asks, place))
        for place, (one, keys) in enumerate(zip(inputs, asks.keys, strict=True))
    ]
    spec = MultiJoinSpec(
        tuple(sides),
        tuple(tuple(key.agreement for key in keys) for keys in asks.keys),
        asks.conditions,
        choices.join_evaluation,
        choices.join_expiration,
        asks.classes,
        plan.orders,
        plan.model,
        plan.expected,
        plan.lanes,
    )
    return building.add(
        spec,
        inputs,
        label=plan.label(),
        types=[type_ for node in nodes for type_ in node.types],
        pattern=combined([node.pattern for node in nodes]),
        names=tuple(plan.names),
    )


def _null_matches(asks: Agreed, place: int) -> tuple[bool, ...]:
    return tuple(key.null_matches for key in asks.keys[place])
