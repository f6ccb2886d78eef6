"""Emptiness: without rows of which inputs a result has none, and when that is sure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.algebra import streams as st
from penstock.algebra.windows import Hopping
from penstock.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock.algebra.plan import Plan

Need = Literal["each", "one", "first"]
"""The inputs of which a result needs rows at an instant to have some: each, one, the first."""

NEEDS: Mapping[type[Plan], Need] = {
    op.Filter: "first",
    op.Map: "first",
    op.Alias: "first",
    op.Group: "first",
    op.OnArrival: "first",
    op.Distinct: "first",
    op.Product: "each",
    op.Join: "each",
    op.SemiJoin: "each",
    op.AntiJoin: "first",
    op.ScalarProduct: "first",
    op.GroupJoin: "first",
    op.UnionAll: "one",
    op.Intersection: "each",
    op.MaxUnion: "one",
    op.Difference: "first",
    op.StrictDifference: "first",
    op.Aggregate: "first",
    op.Combine: "first",
    orders.Sort: "first",
    orders.FirstRows: "first",
    op.Coalesce: "first",
    op.Split: "first",
    op.Final: "first",
}
"""Those of each operator on snapshots; an aggregate without keys may have a row over nothing."""

EMPTY: Mapping[type[Plan], bool] = {
    st.Stream: True,
    st.Window: True,
    st.IStream: True,
    st.DStream: True,
    st.RStream: True,
    st.AtEnds: True,
    st.Relation: False,
    st.Exchanged: False,
    st.Internal: False,
}
"""Of what lets time in or out, whether it is sure to be empty when all windows are."""


def snapshot_inputs(plan: Plan) -> tuple[Plan, ...]:
    """The inputs of an operator on snapshots, which computes each snapshot from those of them.

    Raises:
        InternalError: Nobody has said that it is one.
    """
    if type(plan) not in NEEDS:
        msg = f"nobody has said of which inputs {type(plan).__name__} computes its snapshots"
        raise InternalError(msg)
    return tuple(plan.children)


def empties(plan: Plan) -> bool:
    """A result that is empty at least as soon as all windows of the query are.

    Raises:
        InternalError: Nobody has said it of such an operator.
    """
    return _is_empty(plan, lambda end: EMPTY[type(end)])


def holds_at_ends(plan: Plan) -> bool:
    """Every row of a result holds only at instants at which windows [start, end) end.

    At others it is empty because these windows are.

    Raises:
        InternalError: Nobody has said it of such an operator.
    """
    return _is_empty(plan, _is_closed_window)


def _is_closed_window(plan: Plan) -> bool:
    return isinstance(plan, st.Window) and isinstance(plan.spec, Hopping) and not plan.spec.open


def _is_empty(plan: Plan, is_end_empty: Callable[[Plan], bool]) -> bool:
    """Emptiness from that of what lets time in or out."""
    if type(plan) in EMPTY:
        return is_end_empty(plan)
    below = snapshot_inputs(plan)
    if isinstance(plan, op.Aggregate) and not plan.keys and plan.row_over_nothing:
        return False
    inputs = (_is_empty(child, is_end_empty) for child in below)
    match NEEDS[type(plan)]:
        case "each":
            return any(inputs)
        case "one":
            return all(inputs)
        case "first":
            return next(inputs)
