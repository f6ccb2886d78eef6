"""Update patterns: how the results on an edge of a plan come and go (thesis of Golab).

MON never expire; WKS expire in the order they were produced; WK have a known expiry in any
order; STR may be withdrawn before it.

They are those of what block operators send. INTERSECT [ALL] and max-union count copies and withdraw
them, where the ends of all copies could be told before: that is less work, and far less is sent
(see `docs/contributors/decisions.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.algebra import streams as st
from penstock.algebra.windows import Unbounded
from penstock.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.plan import Plan

Strategy = Literal["upa", "direct", "negative"]
"""The way ends are dealt with: by update pattern, a look through all state, or negative rows."""


class Pattern(Enum):
    """The four update patterns, from the tamest to the wildest."""

    MON = "MON"
    WKS = "WKS"
    WK = "WK"
    STR = "STR"


def pattern_of(plan: Plan, *, announced: bool = False) -> Pattern:
    """The pattern of a plan's result, from those of its inputs; worked out once for each plan.

    With `announced`, windows over time withdraw each row at its end: the negative strategy.

    Raises:
        InternalError: Nobody has said it of such an operator.
    """
    place = f"_pattern{announced:d}"
    known = plan.__dict__.get(place)
    if not isinstance(known, Pattern):
        inputs = [pattern_of(child, announced=announced) for child in plan.children]
        known = _rule(plan)(plan, inputs, announced)
        plan.__dict__[place] = known
    return known


def _rule(plan: Plan) -> Rule:
    if type(plan) not in RULES:
        msg = f"nobody has said how results of {type(plan).__name__} end"
        raise InternalError(msg)
    return RULES[type(plan)]


def combined(inputs: Sequence[Pattern]) -> Pattern:
    """The pattern of products, joins, DISTINCT and their like."""
    if Pattern.STR in inputs:
        return Pattern.STR
    return Pattern.MON if all(one is Pattern.MON for one in inputs) else Pattern.WK


def counted(inputs: Sequence[Pattern]) -> Pattern:
    """The pattern of what counts copies, and withdraws them unless nothing ever ends."""
    return Pattern.MON if all(one is Pattern.MON for one in inputs) else Pattern.STR


def closed(of: Pattern) -> Pattern:
    """The pattern of what is sent when it has ended, so that nothing is ever withdrawn."""
    return Pattern.WK if of is Pattern.STR else of


def cut(of: Pattern) -> Pattern:
    """The pattern of the same snapshots in other intervals."""
    return Pattern.STR if of is Pattern.STR else Pattern.WK


def united(plan: Plan, inputs: Sequence[Pattern]) -> Pattern:
    """WKS only under one and the same window: different lengths do not expire in order."""
    if all(one is Pattern.WKS for one in inputs):
        windows = st.input_windows(plan)
        specs = {one.spec if isinstance(one, st.Window) else Unbounded() for one in windows}
        return Pattern.WKS if len(specs) == 1 else Pattern.WK
    return combined(inputs)


def _window(window: st.Window, announced: bool) -> Pattern:
    if window.spec.never_ends:
        return Pattern.MON
    if announced or window.spec.counts_rows:
        return Pattern.STR
    return Pattern.WKS if window.spec.ends_in_order else Pattern.WK


def _sorted(plan: orders.Sort, of: Pattern) -> Pattern:
    """A row within the limit may be pushed out of it."""
    return of if plan.limit is None and not plan.offset else Pattern.STR


Rule = Callable[[Any, list[Pattern], bool], Pattern]
"""From an operator and the patterns of its inputs; and whether ends are announced."""


def _always(pattern: Pattern) -> Rule:
    return lambda _plan, _inputs, _announced: pattern


def _of_inputs(rule: Callable[[Sequence[Pattern]], Pattern]) -> Rule:
    return lambda _plan, inputs, _announced: rule(inputs)


def _of_input(rule: Callable[[Pattern], Pattern]) -> Rule:
    return lambda _plan, inputs, _announced: rule(inputs[0])


_kept = _of_input(lambda of: of)
_stays, _strict = _always(Pattern.MON), _always(Pattern.STR)

RULES: Mapping[type[Plan], Rule] = {
    st.Stream: _stays,
    st.Relation: _strict,
    st.Exchanged: lambda plan, _inputs, _announced: plan.pattern,
    st.Window: lambda plan, _inputs, announced: _window(plan, announced),
    st.Internal: _stays,
    st.IStream: _stays,
    st.DStream: _stays,
    st.RStream: _stays,
    st.AtEnds: _stays,
    op.Filter: _kept,
    op.Map: _kept,
    op.Alias: _kept,
    op.Group: _kept,
    op.Combine: _kept,
    op.Distinct: _of_inputs(combined),
    op.Product: _of_inputs(combined),
    op.Join: _of_inputs(combined),
    op.SemiJoin: _of_inputs(combined),
    op.AntiJoin: _strict,
    op.GroupJoin: _strict,
    op.ScalarProduct: _strict,
    op.OnArrival: lambda plan, _inputs, announced: pattern_of(
        plan.reading.left, announced=announced
    ),
    op.UnionAll: lambda plan, inputs, _announced: united(plan, inputs),
    op.Intersection: _of_inputs(counted),
    op.MaxUnion: _of_inputs(counted),
    op.Difference: _strict,
    op.StrictDifference: _strict,
    op.Aggregate: _strict,
    orders.FirstRows: _strict,
    orders.Sort: lambda plan, inputs, _announced: _sorted(plan, inputs[0]),
    op.Coalesce: _of_input(cut),
    op.Split: _of_input(cut),
    op.Final: _of_input(closed),
}
"""The update pattern of each operator's results."""
