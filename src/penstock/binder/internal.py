"""INTERNAL windows: when a SELECT may have them, and what its result then is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.windows import Unbounded
from penstock.cql.syntax import span_of
from penstock.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlglot import exp

    from penstock.algebra.plan import Plan
    from penstock.binder.context import SelectWindows
    from penstock.errors import Span


def wrap_internal(plan: Plan, block: SelectWindows, node: exp.Expr) -> Plan:
    """The result of a SELECT whose windows are INTERNAL: it only grows.

    Raises:
        Refused: Only some windows are INTERNAL, or an operator must withdraw results.
    """
    if not block.internal:
        return plan
    at = next(span for internal, span in block.windows if internal)
    internal = internal_of(plan, at)
    _refuse_mixture(block, plan, node)
    return internal


def internal_of(plan: Plan, at: Span | None) -> st.Internal:
    """A plan whose windows bound memory only: what it appends stays.

    Raises:
        Refused: An operator of the plan must withdraw results.
    """
    nodes = list(own_operators(plan))
    if any(isinstance(one, op.Distinct | op.AntiJoin | op.BagOperation) for one in nodes):
        msg = (
            "INTERNAL windows have no meaning under DISTINCT, negation, set operations, outer joins"
        )
        hint = "Their results must be withdrawn; leave INTERNAL out."
        raise Refused(msg, hint=hint, at=at)
    appends: Literal["combinations", "insertions", "slides"] = "combinations"
    if any(isinstance(one, op.Aggregate | op.ScalarProduct | op.GroupJoin) for one in nodes):
        appends = "insertions" if st.slide_of(plan) is None else "slides"
    return st.Internal(plan, appends)


def _refuse_mixture(block: SelectWindows, plan: Plan, node: exp.Expr) -> None:
    hint = "All windows of a SELECT are INTERNAL or none."
    for internal, span in block.windows:
        if not internal:
            msg = "this window is not INTERNAL, another one is"
            raise Refused(msg, hint=hint, at=span)
    found = (one for one in own_operators(plan) if isinstance(one, st.Window))
    windows = {id(one) for one in found if one.spec != Unbounded()}
    if len(windows) > len(block.windows):
        msg = "a subquery in FROM has a window that is not INTERNAL"
        raise Refused(msg, hint=hint, at=span_of(node))


def own_operators(plan: Plan) -> Iterator[Plan]:
    """The operators of one SELECT block, down to its windows."""
    yield plan
    if not isinstance(plan, st.Window | st.RelationToStream | st.Internal):
        for child in plan.children:
            yield from own_operators(child)


def refuse_internal(plan: Plan, what: str, node: exp.Expr) -> None:
    """Set operations other than UNION ALL take no INTERNAL input.

    Raises:
        Refused: The plan is a SELECT over INTERNAL windows.
    """
    if any(isinstance(one, st.Internal) for one in own_operators(plan)):
        msg = f"INTERNAL windows have no meaning under {what}"
        hint = "Its results must be withdrawn; leave INTERNAL out, or use UNION ALL."
        raise Refused(msg, hint=hint, at=span_of(node))
