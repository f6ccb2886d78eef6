"""COALESCE INTERVALS and SPLIT INTERVALS: how an answer is cut into elements, never the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.plan import different_nodes
from penstock.algebra.time import TimeUnit
from penstock.binder.windows import length_in
from penstock.cql.syntax import IntervalsClause, span_of
from penstock.errors import PenstockError, Refused

if TYPE_CHECKING:
    from sqlglot import exp

    from penstock.algebra.plan import Plan
    from penstock.errors import Span


def bind_intervals(node: exp.Expr, plan: Plan) -> Plan:
    """The plan of a query, cut as its clause about intervals says.

    Raises:
        Refused: Intervals that never end would be split.
    """
    clause = node.args.get("intervals")
    if clause is None:
        return plan
    assert isinstance(clause, IntervalsClause)
    length = clause.length
    if length is None:
        return op.Coalesce(plan)
    try:
        return split(plan, length_in(length, plan.unit or TimeUnit.TICK), span_of(clause))
    except PenstockError as error:
        error.at = error.at or length.span
        raise


def split(plan: Plan, length: int, at: Span | None = None) -> op.Split:
    """The plan with its intervals cut at the multiples of a length.

    Raises:
        Refused: An interval never ends.
    """
    if not _ends(plan):
        msg = "an interval that never ends cannot be split"
        raise Refused(msg, hint="Give every stream a RANGE, FIXED or NOW window.", at=at)
    return op.Split(plan, length)


def _ends(plan: Plan) -> bool:
    """Every row of a plan's result ceases to hold at some time."""
    windows = all(
        isinstance(one, st.Window) and one.spec.span is not None for one in st.input_windows(plan)
    )
    for_ever = any(
        isinstance(one, st.Relation | st.Internal)
        or (isinstance(one, op.Aggregate) and not one.keys)
        for one in different_nodes(plan)
    )
    return windows and not for_ever
