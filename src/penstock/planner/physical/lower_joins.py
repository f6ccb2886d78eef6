"""Block operators for joins: by equal keys, by any condition, and what is made of them.

A semi-join is a join with the distinct keys of the right side. Where the condition is more than
equal keys, left rows are numbered, and the numbers of those with a match take the keys' place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.aggregates import facts_of
from penstock.algebra.expressions import TRUE, AggregateCall, Expression, Literal
from penstock.algebra.patterns import Pattern, combined
from penstock.algebra.positions import moved, positional
from penstock.algebra.types import BIGINT
from penstock.operators.join.join_specs import AntiJoinSpec, JoinSpec, SideSpec
from penstock.operators.window.window_specs import NumberSpec
from penstock.planner.conditions import JoinCondition, join_condition
from penstock.planner.physical import lower_rows as rows
from penstock.planner.physical.graph import MatchCondition
from penstock.planner.statistics.tracing import predicate_of_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.plan import Binary
    from penstock.algebra.types import Schema
    from penstock.planner.physical.building import Building
    from penstock.planner.physical.lower_plans import Lowering


def positional_call(call: AggregateCall, schema: Schema) -> AggregateCall:
    """An aggregate over columns called by their position."""
    return replace(call, args=tuple(positional(arg, schema) for arg in call.args))


def condition_of(plan: Binary) -> Expression:
    """The condition of a join over positions; TRUE for a product."""
    condition: Expression = getattr(plan, "condition", TRUE)
    return positional(condition, plan.left.schema + plan.right.schema)


def join_node(lowering: Lowering, plan: Binary) -> int:
    """Product, join, semi-join, anti-join."""
    building = lowering.building
    left, right = lowering.lower(plan.left), lowering.lower(plan.right)
    condition = join_condition(condition_of(plan), len(plan.left.schema))
    condition = building.named(condition, lowering.uncut(plan))
    if isinstance(plan, op.SemiJoin | op.AntiJoin):
        asked = building.existence(lowering.uncut(plan))
        meeting = None if asked is None else MatchCondition(asked, of_pairs=False)
        node = semi_join_node if isinstance(plan, op.SemiJoin) else _anti_join
        return node(building, left, right, condition, plan.label(), meeting)
    return pairs_node(building, left, right, condition, plan.label())


def pairs_node(
    building: Building,
    left: int,
    right: int,
    condition: JoinCondition,
    label: str,
    meeting: MatchCondition | None = None,
) -> int:
    """All pairs of rows that satisfy a condition; by which, unless `meeting` says it, rows meet."""
    if meeting is None and condition.equality is not None:
        meeting = MatchCondition(condition.equality, of_pairs=True)
    types = (*building.node(left).types, *building.node(right).types)
    return building.add(
        JoinSpec(*join_sides(building, left, right, condition), condition.residual),
        [left, right],
        label=label,
        types=types,
        pattern=combined([building.node(child).pattern for child in (left, right)]),
        predicate=predicate_of_pairs(condition, types),
        meeting=meeting,
    )


def join_sides(
    building: Building, left: int, right: int, condition: JoinCondition
) -> tuple[SideSpec, SideSpec]:
    """Both inputs of a join by equal keys."""
    nulls = condition.null_matches
    return (
        join_side(building, left, condition.left, nulls),
        join_side(building, right, condition.right, nulls),
    )


def join_side(
    building: Building, child: int, keys: Sequence[Expression], null_matches: tuple[bool, ...]
) -> SideSpec:
    """An input of a join."""
    partitions = building.choices.queue_partitions
    return SideSpec(building.edge(child), tuple(keys), null_matches, partitions)


def semi_join_node(
    building: Building,
    left: int,
    right: int,
    condition: JoinCondition,
    label: str,
    meeting: MatchCondition | None = None,
) -> int:
    """Left rows with a match, each once."""
    width = len(building.node(left).types)
    kept = [building.column(left, number) for number in range(width)]
    if condition.is_only_keys:
        covered = _keys_of(building, right, condition.right)
        by_key = replace(condition, right=tuple(building.columns(covered)), equality=None)
        matched = pairs_node(building, left, covered, by_key, label, meeting)
        return building.mapped(matched, kept, "Map")
    numbered = number_node(building, left)
    pairs = pairs_node(building, numbered, right, _behind_number(condition, width), label)
    whole = [building.column(pairs, number) for number in range(width + 1)]
    matched = rows.distinct_node(building, building.mapped(pairs, whole, "Map"))
    return building.mapped(matched, kept, "Map")


def _anti_join(
    building: Building,
    left: int,
    right: int,
    condition: JoinCondition,
    label: str,
    meeting: MatchCondition | None,
) -> int:
    """Left rows without a match."""
    if condition.is_only_keys:
        covered = _keys_of(building, right, condition.right)
        keys, null_matches = condition.left, condition.null_matches
        return _uncovered(building, left, covered, keys, null_matches, label, meeting)
    width = len(building.node(left).types)
    numbered = number_node(building, left)
    pairs = pairs_node(building, numbered, right, _behind_number(condition, width), label)
    alone = _without_numbers(building, numbered, pairs, label, meeting)
    kept = [building.column(alone, number) for number in range(width)]
    return building.mapped(alone, kept, "Map")


def _keys_of(building: Building, right: int, keys: Sequence[Expression]) -> int:
    """The different keys of the right side."""
    return rows.distinct_node(building, building.mapped(right, keys, "Map"), "Distinct keys")


def _without_numbers(
    building: Building, numbered: int, pairs: int, label: str, meeting: MatchCondition | None = None
) -> int:
    """Numbered left rows whose number is in none of the pairs."""
    place = len(building.node(numbered).types) - 1
    number = building.column(numbered, place)
    matched = rows.distinct_node(building, building.mapped(pairs, [number], "Map"))
    return _uncovered(building, numbered, matched, [number], (False,), label, meeting)


def _uncovered(
    building: Building,
    left: int,
    covered: int,
    keys: Sequence[Expression],
    null_matches: tuple[bool, ...],
    label: str,
    meeting: MatchCondition | None,
) -> int:
    """Left rows whose key is not among the rows of another node, which has each row once."""
    return building.add(
        AntiJoinSpec(
            join_side(building, left, keys, null_matches),
            join_side(building, covered, building.columns(covered), null_matches),
        ),
        [left, covered],
        label=label,
        types=building.node(left).types,
        pattern=Pattern.STR,
        meeting=meeting,
    )


def _behind_number(condition: JoinCondition, width: int) -> JoinCondition:
    """The condition where the left rows have one more column, their number."""
    residual = condition.residual
    return replace(condition, residual=None if residual is None else moved(residual, width, 1))


def number_node(building: Building, child: int) -> int:
    """The rows of a node, each with a number of its own in one more column."""
    node = building.node(child)
    place = len(building.graph.nodes)
    return building.add(
        NumberSpec(node.edge, building.choices.queue_partitions, place),
        [child],
        label="Number",
        types=(*node.types, BIGINT),
        pattern=node.pattern,
    )


def scalar_node(lowering: Lowering, plan: op.ScalarProduct) -> int:
    """A scalar subquery: its single row, NULL if there is none, beside every left row."""
    building = lowering.building
    right = single_row_node(building, lowering.lower(plan.right))
    left = lowering.lower(plan.left)
    return pairs_node(building, left, right, JoinCondition(), plan.label())


def single_row_node(building: Building, right: int) -> int:
    """At most one row made into exactly one: the greatest of its value, NULL over nothing."""
    value = building.column(right, 0)
    greatest = AggregateCall("max", (value,), distinct=False, of=value.type)
    return rows.aggregate_node(building, right, [], [greatest], "Single row", row_over_nothing=True)


def group_join_node(lowering: Lowering, plan: op.GroupJoin) -> int:
    """A correlated scalar subquery: aggregates over the matches of each left row."""
    building = lowering.building
    left = number_node(building, lowering.lower(plan.left))
    right = lowering.lower(plan.right)
    width = len(plan.left.schema)
    asked = building.named(join_condition(condition_of(plan), width), lowering.uncut(plan))
    condition = _behind_number(asked, width)
    pairs = pairs_node(building, left, right, condition, plan.label())
    calls = [_over_pairs(call, plan, width + 1) for _, call in plan.aggregates]
    keys = [building.column(pairs, number) for number in range(width + 1)]
    totals = rows.aggregate_node(building, pairs, keys, calls, "Totals", row_over_nothing=False)
    shown = [*building.columns(totals)[:width], *building.columns(totals)[width + 1 :]]
    alone = _without_numbers(building, left, pairs, "Without match")
    nothing = [over_nothing(call, plan.row_over_nothing) for call in calls]
    padded = [*building.columns(alone)[:width], *nothing]
    parts = [building.mapped(totals, shown, "Map"), building.mapped(alone, padded, "Map")]
    return building.union(parts, plan.label(), Pattern.STR)


def over_nothing(call: AggregateCall, row_over_nothing: bool) -> Literal:
    """The value of an aggregate over no rows, if there is a row at all."""
    return Literal(facts_of(call.function).over_nothing if row_over_nothing else None, call.of)


def _over_pairs(call: AggregateCall, plan: op.GroupJoin, width: int) -> AggregateCall:
    """An aggregate over right columns, where these follow `width` others."""
    over_right = positional_call(call, plan.right.schema)
    return replace(over_right, args=tuple(moved(arg, 0, width) for arg in over_right.args))
