"""Non-retroactive relations: what counts as one, and which stream's rows read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.plan import walk
from penstock.errors import Refused

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan
    from penstock.errors import Span


def is_nrr(plan: Plan) -> bool:
    """Whether a plan reads non-retroactive relations and nothing else."""
    leaves = [one for one in walk(plan) if not one.children]
    return all(isinstance(one, st.Relation) and not one.retroactive for one in leaves)


def is_stream_side(plan: Plan) -> bool:
    """Whether each row is one row of one stream, which knows when it arrived.

    That is a stream with at most a window, filters, maps and other NRR joins on it.
    """
    if isinstance(plan, st.Stream | st.RelationToStream | st.Window):
        return True
    if isinstance(plan, op.Filter | op.Map | op.Alias | op.Group):
        return is_stream_side(plan.child)
    return isinstance(plan, op.NrrJoin) and is_stream_side(plan.left)


def nrr_join(
    left: Plan,
    right: Plan,
    condition: Expression,
    kind: Literal["join", "semi", "anti"],
    at: Span | None,
) -> op.NrrJoin:
    """A stream joined with a non-retroactive relation.

    Raises:
        Refused: The left side combines rows of several streams, or is not a stream.
    """
    if not is_stream_side(left):
        msg = "a NONRETROACTIVE relation is read by the rows of one stream, at their own time"
        hint = "Join it with that stream in a subquery of its own, then go on from there."
        raise Refused(msg, hint=hint, at=at)
    return op.NrrJoin(left, right, condition, kind)


def refuse_lone_nrr(plan: Plan) -> None:
    """A query over non-retroactive relations alone: nothing would ever read them.

    Raises:
        Refused: The plan reads nothing else.
    """
    if is_nrr(plan):
        names = ", ".join(f'"{one.name}"' for one in walk(plan) if isinstance(one, st.Relation))
        msg = f"nothing reads {names}: a NONRETROACTIVE relation is read by the rows of a stream"
        raise Refused(msg, hint="Join it with a stream, or declare it with CREATE RELATION.")
