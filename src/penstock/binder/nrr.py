"""Non-retroactive relations: what counts as one, and which stream's rows read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.plan import Binary, different_nodes
from penstock.errors import Refused

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.errors import Span


def is_nrr(plan: Plan) -> bool:
    """A plan that reads non-retroactive relations and nothing else."""
    leaves = [one for one in different_nodes(plan) if not one.children]
    return all(isinstance(one, st.Relation) and not one.retroactive for one in leaves)


def is_stream_side(plan: Plan) -> bool:
    """A plan each row of which is one row of one stream, which knows when it arrived.

    That is a stream with at most a window, filters, maps and reads of other non-retroactive
    relations on it, or a union of such streams.
    """
    if isinstance(plan, st.Stream | st.RelationToStream | st.Window):
        return True
    if isinstance(plan, op.OnArrival):
        return is_stream_side(plan.reading.left)
    if isinstance(plan, op.Filter | op.Map | op.Alias | op.Group | op.UnionAll):
        return all(map(is_stream_side, plan.children))
    return False


def reading(operator: Binary, at: Span | None) -> Plan:
    """An operator over two inputs; a non-retroactive relation on its right is read on arrival.

    Raises:
        Refused: The left side combines rows of several streams, or is not a stream.
    """
    if not is_nrr(operator.right):
        return operator
    if not is_stream_side(operator.left):
        msg = "a NONRETROACTIVE relation is read by the rows of one stream, at their own time"
        hint = "Join it with that stream in a subquery of its own, then go on from there."
        raise Refused(msg, hint=hint, at=at)
    if st.hopping_windows(operator.left):
        msg = "a row reads a NONRETROACTIVE relation before it enters its TUMBLE or HOP windows"
        hint = "Join them in a subquery: FROM (SELECT ... FROM s JOIN n ...) [TUMBLE ...]."
        raise Refused(msg, hint=hint, at=at)
    return op.OnArrival(operator)


def refuse_unread_nrr(plan: Plan) -> None:
    """A non-retroactive relation that no stream reads has no meaning.

    Raises:
        Refused: The plan has one.
    """
    if isinstance(plan, st.Relation) and not plan.retroactive:
        msg = f'nothing reads "{plan.name}": a NONRETROACTIVE relation is read by a stream\'s rows'
        raise Refused(msg, hint="Join it with a stream, or declare it with CREATE RELATION.")
    inputs = (plan.reading.left,) if isinstance(plan, op.OnArrival) else plan.children
    for child in inputs:
        refuse_unread_nrr(child)
