"""INTERNAL windows over operators that let a row in again: each combination is appended once.

A semi-join drops a row when its last match ends, and takes it back with the next. So the input
elements are numbered, and a combination of numbers counts when it first exists. Numbers travel in
columns behind those of the plan, the end of the shortest-lived element last of all; with it the
combination can be forgotten.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Call, Expression, Literal
from penstock.algebra.patterns import Pattern
from penstock.algebra.positions import moved, positional
from penstock.algebra.streams import Internal, RelationToStream, Window
from penstock.algebra.types import BIGINT
from penstock.operators.window.window_specs import EndsFromColumnSpec, EndsToColumnSpec
from penstock.planner.conditions import join_condition
from penstock.planner.physical import lower_joins as joins
from penstock.planner.physical import lower_rows as rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.algebra.plan import Binary, Plan
    from penstock.planner.physical.building import Building
    from penstock.planner.physical.lower_plans import Lowering


def lets_in_again(plan: Plan) -> bool:
    """A combination of input elements may leave the result of a plan and come back."""
    return any(isinstance(node, op.SemiJoin) for node in _own(plan))


def _own(plan: Plan) -> Iterator[Plan]:
    """The operators of a SELECT, not of what makes its input streams."""
    yield plan
    if not isinstance(plan, Window | RelationToStream | Internal):
        for child in plan.children:
            yield from _own(child)


def first_combinations_node(lowering: Lowering, plan: Plan) -> int:
    """Each combination of input elements from when it first exists until one of them ends."""
    building = lowering.building
    numbered = _numbered(lowering, plan)
    node = building.node(numbered)
    lasting = building.add(
        EndsFromColumnSpec(node.types),
        [numbered],
        label="Lasting",
        types=node.types[:-1],
        pattern=Pattern.WK,
    )
    once = rows.distinct_node(building, lasting, "First combinations")
    return building.mapped(once, building.columns(once)[: len(plan.schema)], "Map")


def _numbered(lowering: Lowering, plan: Plan) -> int:
    """The node of a plan with the numbers of its input elements, and the first end, behind."""
    building = lowering.building
    match plan:
        case op.Alias():
            return _numbered(lowering, plan.child)
        case op.Filter():
            return rows.filter_node(building, _numbered(lowering, plan.child), plan, plan.child)
        case op.Group():
            return rows.group_node(building, _numbered(lowering, plan.child), plan, plan.child)
        case op.Map():
            child = _numbered(lowering, plan.child)
            columns = [positional(one.expression, plan.child.schema) for one in plan.columns]
            behind = building.columns(child)[len(plan.child.schema) :]
            return building.mapped(child, [*columns, *behind], plan.label())
        case op.Product() | op.Join():
            return _pairs(lowering, plan)
        case op.SemiJoin():
            return _matched(lowering, plan)
        case op.UnionAll():
            return _union(lowering, plan)
    return _leaf(building, lowering.lower(plan))


def _leaf(building: Building, child: int) -> int:
    numbered = joins.number_node(building, child)
    node = building.node(numbered)
    return building.add(
        EndsToColumnSpec(node.types),
        [numbered],
        label="End column",
        types=(*node.types, BIGINT),
        pattern=node.pattern,
    )


def _pairs(lowering: Lowering, plan: Binary) -> int:
    building = lowering.building
    left, right = _numbered(lowering, plan.left), _numbered(lowering, plan.right)
    width, more = len(plan.left.schema), len(plan.right.schema)
    extra = len(building.node(left).types) - width
    condition = building.named(join_condition(joins.condition_of(plan), width), plan)
    if condition.residual is not None:
        condition = replace(condition, residual=moved(condition.residual, width, extra))
    pairs = joins.pairs_node(building, left, right, condition, plan.label())
    found = building.columns(pairs)
    on_left, on_right = found[: width + extra], found[width + extra :]
    numbers = [*on_left[width:-1], *on_right[more:-1]]
    end = Call("least", (on_left[-1], on_right[-1]), BIGINT)
    shown = [*on_left[:width], *on_right[:more], *numbers, end]
    return building.mapped(pairs, shown, "Map")


def _matched(lowering: Lowering, plan: op.SemiJoin) -> int:
    building = lowering.building
    left = _numbered(lowering, plan.left)
    width = len(plan.left.schema)
    condition = building.named(join_condition(joins.condition_of(plan), width), plan)
    if condition.residual is not None:
        extra = len(building.node(left).types) - width
        condition = replace(condition, residual=moved(condition.residual, width, extra))
    right = lowering.lower(plan.right)
    return joins.semi_join_node(building, left, right, condition, plan.label())


def _union(lowering: Lowering, plan: op.UnionAll) -> int:
    """Branches with as many number columns each, and one more for the branch."""
    building = lowering.building
    width = len(plan.schema)
    branches = [_numbered(lowering, child) for child in plan.inputs]
    most = max(len(building.node(branch).types) for branch in branches) - width - 1
    padded = [
        building.mapped(branch, _padded(building.columns(branch), width, most, number), "Map")
        for number, branch in enumerate(branches)
    ]
    strict = any(building.node(branch).pattern is Pattern.STR for branch in padded)
    return building.union(padded, plan.label(), Pattern.STR if strict else Pattern.WK)


def _padded(columns: Sequence[Expression], width: int, most: int, branch: int) -> list[Expression]:
    numbers = list(columns[width:-1])
    missing = [Literal(None, BIGINT)] * (most - len(numbers))
    return [*columns[:width], *numbers, *missing, Literal(branch, BIGINT), columns[-1]]
