"""Block operators for rows of a stream one by one: reads of non-retroactive relations, ROWS order.

A row reads a relation when it arrives, before its window: so what is read is computed on the rows
as they come, and gets the interval of the row's window afterwards. Where the window counts rows,
these are numbered, and what was made of each is attached to the element with its number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.patterns import Pattern, pattern_of
from penstock.algebra.positions import moved, positional
from penstock.errors import InternalError
from penstock.operators.aggregate.aggregate_specs import Totals
from penstock.operators.join.join_specs import ReadOnArrivalSpec
from penstock.operators.window.window_specs import AttachedSpec, ByValueSpec
from penstock.planner.conditions import JoinCondition, join_condition
from penstock.planner.physical import lower_joins as joins
from penstock.planner.physical import lower_rows as rows
from penstock.planner.physical import lower_streams as streams
from penstock.planner.statistics.tracing import predicate_of_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.plan import Binary, Plan
    from penstock.operators.join.arrival import Mode
    from penstock.planner.physical.building import Building
    from penstock.planner.physical.lower_plans import Lowering


MODES: dict[type[Plan], Mode] = {
    op.Product: "join",
    op.Join: "join",
    op.ScalarProduct: "join",
    op.SemiJoin: "semi",
    op.AntiJoin: "anti",
    op.GroupJoin: "aggregate",
}
"""What becomes of rows that read a relation."""


@dataclass(frozen=True)
class ArrivalChain:
    """The origin of rows of one stream, and what is done to each, first thing first."""

    source: Plan
    steps: tuple[Plan, ...]

    @property
    def reads(self) -> bool:
        """Rows that read a relation, so that several may be made of one."""
        return any(isinstance(step, op.OnArrival) for step in self.steps)


def on_arrival_node(lowering: Lowering, plan: op.OnArrival) -> int:
    """Rows of a stream, or of a union of streams, that read a non-retroactive relation."""
    building = lowering.building
    nodes = [_windowed(lowering, chain) for chain in _chains(plan)]
    if len(nodes) == 1:
        return nodes[0]
    # Rows keep the intervals of the windows that they came through.
    pattern = pattern_of(plan, announced=building.choices.strategy == "negative")
    return building.union(nodes, "UnionAll", pattern)


def arranged_node(lowering: Lowering, plan: Plan) -> int:
    """A stream in the order in which ROWS counts its rows.

    Rows of a declared stream stand as they came, several made of one by value. What a query sends
    out, and a view that only grows, is ordered by value at each instant.
    """
    building = lowering.building
    if not st.is_stream(plan):
        return _by_value(building, lowering.lower(plan))
    chain = _positions_kept(plan)
    if isinstance(chain.source, st.Stream) and not chain.reads:
        return lowering.lower(plan)
    source = lowering.lower(chain.source)
    if not isinstance(chain.source, st.Stream):
        source = _by_value(building, source)
    if not chain.reads:
        return _carried(lowering, source, chain.steps, extra=0)
    made = _carried(lowering, joins.number_node(building, source), chain.steps, extra=1)
    width = len(building.node(made).types) - 1
    ordered = _by_value(building, made, first=width)
    return building.mapped(ordered, building.columns(ordered)[:width], "Map")


def _by_value(building: Building, child: int, first: int | None = None) -> int:
    """The rows of each instant by the values of their columns, one of them first."""
    node = building.node(child)
    places = tuple(range(len(node.types)))
    if first is not None:
        places = (first, *(place for place in places if place != first))
    return building.add(
        ByValueSpec(node.types, places),
        [child],
        label="By value",
        types=node.types,
        pattern=node.pattern,
    )


def _chains(plan: Plan) -> list[ArrivalChain]:
    """The streams below reads, filters and maps, one chain for each branch of a union."""
    if isinstance(plan, op.UnionAll):
        return [chain for child in plan.inputs for chain in _chains(child)]
    if isinstance(plan, op.OnArrival):
        below = _chains(plan.reading.left)
    elif isinstance(plan, op.Filter | op.Map | op.Alias | op.Group):
        below = _chains(plan.child)
    else:
        return [ArrivalChain(plan, ())]
    return [ArrivalChain(chain.source, (*chain.steps, plan)) for chain in below]


def _positions_kept(plan: Plan) -> ArrivalChain:
    """The stream whose positions the rows of a plan still have, and what is done to them."""
    if isinstance(plan, st.Stream | st.RelationToStream):
        return ArrivalChain(plan, ())
    below = plan.reading.left if isinstance(plan, op.OnArrival) else plan.children[0]
    chain = _positions_kept(below)
    return ArrivalChain(chain.source, (*chain.steps, plan))


def _windowed(lowering: Lowering, chain: ArrivalChain) -> int:
    """The rows of a chain: its steps on the rows as they come, then the window."""
    building = lowering.building
    window = chain.source
    if not isinstance(window, st.Window) or window.spec.never_ends:
        return _carried(lowering, lowering.lower(window), chain.steps, extra=0)
    if window.spec.counts_rows:
        return _attached(lowering, window, chain)
    made = _carried(lowering, lowering.lower(window.child), chain.steps, extra=0)
    ended = streams.time_window_node(building, made, window.spec, window.label())
    return streams.announced_node(building, ended)


def _attached(lowering: Lowering, window: st.Window, chain: ArrivalChain) -> int:
    """Under a window that counts rows: what is made of each row lives as long as the row."""
    building = lowering.building
    numbered = joins.number_node(building, arranged_node(lowering, window.child))
    elements = streams.rows_window_node(building, numbered, window, tell_vanished=True)
    number = building.columns(elements)[-1]
    made = _carried(lowering, numbered, chain.steps, extra=1)
    types = building.node(made).types[:-1]
    return building.add(
        AttachedSpec(types),
        [building.mapped(elements, [number], "Map"), made],
        label="Attached",
        types=types,
        pattern=Pattern.STR,
    )


def _carried(lowering: Lowering, child: int, steps: Sequence[Plan], extra: int) -> int:
    """Steps on the rows of a node whose last `extra` columns are carried along."""
    building = lowering.building
    for step in steps:
        carried = building.columns(child)[len(building.node(child).types) - extra :]
        if isinstance(step, op.OnArrival):
            child = _read(lowering, child, step.reading, extra)
        elif isinstance(step, op.Map):
            columns = [positional(one.expression, step.child.schema) for one in step.columns]
            child = building.mapped(child, [*columns, *carried], step.label())
        elif isinstance(step, op.Filter):
            child = rows.filter_node(building, child, step, step.child)
        elif isinstance(step, op.Group):
            child = rows.group_node(building, child, step, step.child)
        elif isinstance(step, st.Window):
            child = streams.time_window_node(building, child, step.spec, step.label())
        elif not isinstance(step, op.Alias):
            msg = f"{type(step).__name__} does not keep the rows of a stream"
            raise InternalError(msg)
    return child


def _read(lowering: Lowering, left: int, reading: Binary, extra: int) -> int:
    """Rows meet a relation as it is when they arrive; carried columns stay last."""
    building = lowering.building
    width = len(reading.left.schema)
    right = lowering.lower(reading.right)
    condition = building.named(join_condition(joins.condition_of(reading), width), reading)
    if condition.residual is not None:
        condition = replace(condition, residual=moved(condition.residual, width, extra))
    if isinstance(reading, op.ScalarProduct):
        right, condition = joins.single_row_node(building, right), JoinCondition()
    made = _read_node(building, left, right, condition, reading)
    found = building.columns(made)
    order = [*found[:width], *found[width + extra :], *found[width : width + extra]]
    return building.mapped(made, order, "Map")


def _read_node(
    building: Building, left: int, right: int, condition: JoinCondition, reading: Binary
) -> int:
    left_types, right_types = building.node(left).types, building.node(right).types
    totals = _totals(building, right, reading) if isinstance(reading, op.GroupJoin) else None
    mode = MODES[type(reading)]
    added = {"join": right_types, "aggregate": reading.schema.types[len(reading.left.schema) :]}
    sides = joins.join_sides(building, left, right, condition)
    return building.add(
        ReadOnArrivalSpec(*sides, mode, condition.residual, totals),
        [left, right],
        label=f"On arrival: {reading.label()}",
        types=(*left_types, *added.get(mode, ())),
        pattern=Pattern.MON,
        predicate=predicate_of_pairs(condition, (*left_types, *right_types)),
    )


def _totals(building: Building, right: int, reading: op.GroupJoin) -> Totals:
    """The aggregates over the relation rows that a row matches."""
    calls = [joins.positional_call(call, reading.right.schema) for _, call in reading.aggregates]
    return Totals(building.node(right).types, tuple(calls), reading.row_over_nothing)
