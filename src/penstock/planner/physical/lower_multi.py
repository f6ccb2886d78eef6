"""Joins of three inputs or more as one block operator."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from penstock.algebra.expressions import conjunction
from penstock.compute.evaluate import compile_expression
from penstock.operators.join.pair_condition import PairCondition
from penstock.operators.multi_join.multi_join import Theta
from penstock.operators.multi_join.multi_join_reordering import Chosen, Ordering, ReorderingJoin
from penstock.planner.cost.join_orders import orders_at
from penstock.planner.physical.building import combined
from penstock.planner.physical.graph import Lineage, positions
from penstock.planner.physical.lower_joins import join_side
from penstock.planner.statistics.tracing import predicate_of_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.compute.failures import Failures
    from penstock.planner.cost.join_model import JoinModel
    from penstock.planner.cost.join_orders import Orders
    from penstock.planner.flattening import Part
    from penstock.planner.physical.agreements import Agreed, Condition
    from penstock.planner.physical.building import Building
    from penstock.planner.physical.lowering import Lowering
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


def _filtered(building: Building, child: int, parts: Sequence[Part]) -> int:
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
    conditions = [_condition(building, inputs, one) for one in asks.conditions]
    agreements = [tuple(key.agreement for key in keys) for keys in asks.keys]

    ordering = _ordering(plan)

    def make(failures: Failures) -> ReorderingJoin:
        asked = [condition(failures) for condition in conditions]
        made = ReorderingJoin(
            [side(failures) for side in sides],
            agreements,
            [
                Theta(one.inputs, own, one.rank)
                for one, own in zip(plan.model.asked, asked, strict=True)
            ],
            ordering,
            evaluation=choices.join_evaluation,
            expiration=choices.join_expiration,
            expected=plan.expected,
        )
        named = zip((one.name for one in asks.conditions), asked, strict=True)
        made.conditions = {name: one for name, one in named if name is not None}
        return made

    return building.add(
        ("multiway", asks.keys, asks.conditions),
        inputs,
        make,
        label=plan.label(),
        types=[type_ for node in nodes for type_ in node.types],
        pattern=combined([node.pattern for node in nodes]),
        lineage=_side_by_side(building, inputs, asks),
        names=tuple(plan.names),
    )


def _ordering(plan: Multiway) -> Ordering:
    sides = plan.model.sides
    return Ordering(
        _with_levels(plan.model, plan.orders),
        [side.rate for side in sides],
        [side.live for side in sides],
        partial(_chosen_at, plan.model),
        1.0 / plan.lanes,
        [place for place, side in enumerate(sides) if side.is_counted],
    )


def _chosen_at(
    model: JoinModel, rates: Sequence[float], sizes: Sequence[float], orders: Orders
) -> Chosen:
    """The orders to go on with at other rates and sizes."""
    changed = model.at_rates(rates, sizes)
    return _with_levels(changed, orders_at(changed, orders))


def _with_levels(model: JoinModel, orders: Orders) -> Chosen:
    return Chosen(orders, tuple(model.levels(*each) for each in enumerate(orders)))


def _null_matches(asks: Agreed, place: int) -> tuple[bool, ...]:
    return tuple(key.null_matches for key in asks.keys[place])


def _condition(
    building: Building, inputs: Sequence[int], condition: Condition
) -> Callable[[Failures], PairCondition]:
    """What makes a condition; it counts of how many combinations it is asked."""
    types = [type_ for place in condition.inputs for type_ in building.node(inputs[place]).types]
    compiled = compile_expression(condition.asks, positions(tuple(types)))
    return lambda failures: PairCondition(compiled, failures)


def _side_by_side(building: Building, inputs: Sequence[int], asks: Agreed) -> Lineage:
    """Rows of all inputs that meet: keys of one agreement are equal."""
    widths = [len(building.node(one).types) for one in inputs]
    columns = []
    for place, one in enumerate(inputs):
        before, behind = sum(widths[:place]), sum(widths[place + 1 :])
        columns.append((*[None] * before, *building.columns(one), *[None] * behind))
    equal = [(group[0], other) for group in asks.classes for other in group[1:]]
    return Lineage(tuple(columns), equal=tuple(equal))
