"""Outer joins in one operator, where equal keys are all they ask for.

In the algebra an outer join is a join and, padded with NULLs, the rows without a partner: it is
recognised by that here. One with another condition stays what it is put together from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.patterns import Pattern
from penstock.algebra.positions import positional
from penstock.operators.join.join_specs import OuterJoinSpec, beside_nulls
from penstock.planner.conditions import JoinCondition, join_condition
from penstock.planner.physical.lower_joins import condition_of, join_sides

if TYPE_CHECKING:
    from penstock.planner.physical.building import Building
    from penstock.planner.physical.lower_plans import Lowering

NAMES = {(True, False): "Left join", (False, True): "Right join", (True, True): "Full join"}


def outer_join_node(lowering: Lowering, plan: op.UnionAll) -> int | None:
    """The node of an outer join by equal keys; None if the union is something else."""
    pairs, *padded = plan.inputs
    if not isinstance(pairs, op.Join):
        return None
    alone = [
        one for one in padded if isinstance(one, op.Map) and isinstance(one.child, op.AntiJoin)
    ]
    condition = join_condition(condition_of(pairs), len(pairs.left.schema))
    if not alone or len(alone) < len(padded) or not condition.is_only_keys:
        return None
    left, right = lowering.lower(pairs.left), lowering.lower(pairs.right)
    sides = [_padded_side(lowering, one, left, right, condition) for one in alone]
    padding = (0 in sides, 1 in sides)
    if sides != [port for port in range(2) if padding[port]]:
        return None
    label = f"{NAMES[padding]} {pairs.condition}"
    return _node(lowering.building, left, right, condition, padding, label)


def _padded_side(
    lowering: Lowering, plan: op.Map, left: int, right: int, condition: JoinCondition
) -> int | None:
    """The side of a join whose rows without a partner these are; None if they are others."""
    rows = plan.child
    assert isinstance(rows, op.AntiJoin)
    inputs = lowering.lower(rows.left), lowering.lower(rows.right)
    asked = join_condition(condition_of(rows), len(rows.left.schema))
    shown = tuple(positional(one.expression, rows.schema) for one in plan.columns)
    swapped = JoinCondition(condition.right, condition.left, condition.null_matches)
    for port, (nodes, wanted) in enumerate((((left, right), condition), ((right, left), swapped))):
        beside = beside_nulls(lowering.building.edge(left), lowering.building.edge(right), port)
        if inputs == nodes and asked == wanted and shown == beside:
            return port
    return None


def _node(
    building: Building,
    left: int,
    right: int,
    condition: JoinCondition,
    padded: tuple[bool, bool],
    label: str,
) -> int:
    return building.add(
        OuterJoinSpec(*join_sides(building, left, right, condition), padded),
        [left, right],
        label=label,
        types=(*building.node(left).types, *building.node(right).types),
        pattern=Pattern.STR,
    )
