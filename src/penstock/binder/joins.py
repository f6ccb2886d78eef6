"""Joins between two plans; outer joins are derived from the join and the anti-join."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.outer_joins import padded_like
from penstock.binder.nrr import is_nrr, reading
from penstock.errors import Refused

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan
    from penstock.binder.scope import Scope, Visible
    from penstock.errors import Span


def outer_join(left: Plan, right: Plan, condition: Expression, side: str, at: Span | None) -> Plan:
    """The join UNION ALL the rows of the preserved side without a partner, padded with NULLs.

    Raises:
        Refused: A non-retroactive relation on the preserved side has no rows of its own.
    """
    if is_nrr(left) or (is_nrr(right) and side != "LEFT"):
        msg = f"a {side} JOIN would list rows of a NONRETROACTIVE relation that no stream row read"
        hint = "Put the stream first and write LEFT JOIN, or declare it with CREATE RELATION."
        raise Refused(msg, hint=hint, at=at)
    pairs = reading(op.Join(left, right, condition), at)
    parts: list[Plan] = [pairs]
    if side in ("LEFT", "FULL"):
        parts.append(padded_like(reading(op.AntiJoin(left, right, condition), at), pairs))
    if side in ("RIGHT", "FULL"):
        parts.append(padded_like(op.AntiJoin(right, left, condition), pairs))
    return op.UnionAll(tuple(parts))


def shared_columns(scope: Scope, merged: list[Visible]) -> Scope:
    """A scope in which the columns of USING appear once, in front."""
    names = {one.name.lower() for one in merged}
    rest = tuple(
        replace(one, merged=True) if one.name.lower() in names else one for one in scope.columns
    )
    return replace(scope, columns=(*merged, *rest))
