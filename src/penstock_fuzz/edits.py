"""Operators that no query text can say, put into a plan: split, coalesce, group, and two sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.algebra import streams as st
from penstock.algebra.emptiness import holds_at_ends
from penstock.algebra.expressions import Column
from penstock.builder import QueryBuilder
from penstock.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.algebra.plan import Plan
    from penstock_fuzz.draw import Draw


@dataclass(frozen=True)
class Edit:
    """An operator put on a place of a plan, or in the stead of a set operation there.

    Args:
        place: The number of the place, as `places` lists them.
        operator: `coalesce`, `split`, `group`, `max_union` or `strict_difference`.
        argument: The length of the pieces of a split, the part of a group.
    """

    place: int
    operator: str
    argument: int = 0


def edited(plan: Plan, edits: tuple[Edit, ...]) -> Plan:
    """The plan with all edits made.

    Raises:
        Refused: An edit does not fit the place.
    """
    for edit in sorted(edits, key=lambda one: -one.place):
        found = dict(enumerate(places(plan)))
        if edit.place not in found:
            msg = f"the plan has no place {edit.place}"
            raise Refused(msg)
        target = found[edit.place]
        plan = _replaced(plan, target, _applied(target, edit))
    if isinstance(plan, st.AtEnds) and not holds_at_ends(plan.child):
        msg = "the plan has rows that belong to no window"
        raise Refused(msg)
    return plan


def random_edits(draw: Draw, plan: Plan) -> tuple[Edit, ...]:
    """One or two edits that fit a plan; none if there is no place."""
    found = list(places(plan))
    sets = [i for i, node in enumerate(found) if _is_set_operation(node)]
    chosen = sets if sets and draw.chance(75) else range(len(found))
    edits: tuple[Edit, ...] = ()
    for place in draw.some(chosen, 2) if chosen else ():
        edit = Edit(place, draw.pick(*_fitting(found[place])), draw.count(1, 3))
        if _fits(plan, (*edits, edit)):
            edits = (*edits, edit)
    return edits


def _fits(plan: Plan, edits: tuple[Edit, ...]) -> bool:
    """All edits can be made; one may stand in the way of another."""
    try:
        edited(plan, edits)
    except Refused:
        return False
    return True


def places(plan: Plan) -> Iterator[Plan]:
    """The operators of the query above its windows: where rows have intervals and nothing else.

    What depends on the order or the arrival of rows is left alone.
    """
    if isinstance(plan, st.Window | st.Stream | st.Relation | st.Internal | op.OnArrival):
        return
    if not isinstance(plan, st.RelationToStream | orders.Sort | op.Final) and not st.is_ordered(
        plan
    ):
        yield plan
    for child in plan.children:
        if not isinstance(child, st.RelationToStream):
            yield from places(child)


def _fitting(plan: Plan) -> list[str]:
    operators = ["coalesce", "split", "split", "group"]
    if _is_set_operation(plan):
        operators += ["max_union", "strict_difference"] * 4
    return operators


def _applied(plan: Plan, edit: Edit) -> Plan:
    query = QueryBuilder(plan)
    match edit.operator:
        case "coalesce":
            return query.coalesce().plan
        case "split":
            return query.split(edit.argument).plan
        case "group":
            return _group(plan, edit.argument)
    if not _is_set_operation(plan):
        msg = f"{edit.operator} does not fit {plan.label()}"
        raise Refused(msg)
    left, right = plan.children
    kind = op.MaxUnion if edit.operator == "max_union" else op.StrictDifference
    return kind(left, right)


def _group(plan: Plan, part: int) -> Plan:
    """One part of three, by the first integer column."""
    found = [field for field in plan.schema if field.type.is_integer]
    if not found:
        msg = "no integer column to group by"
        raise Refused(msg)
    return op.Group(plan, Column(found[0].name, found[0].type), 4, part)


def _is_set_operation(plan: Plan) -> bool:
    """An operation whose place another set operation can take."""
    two = isinstance(plan, op.UnionAll) and len(plan.inputs) == 2
    return two or isinstance(plan, op.BagOperation)


def _replaced(plan: Plan, target: Plan, by: Plan) -> Plan:
    """The plan with one operator in the place of another; where it is shared, everywhere."""
    if plan is target:
        return by
    return plan.rebuild(tuple(_replaced(child, target, by) for child in plan.children))
