"""Update patterns: how the results on an edge of a plan come and go (thesis of Golab).

MON never expire; WKS expire in the order they were produced; WK have a known expiry in any
order; STR may be withdrawn before it.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Literal

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.windows import Unbounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.plan import Plan


Strategy = Literal["upa", "direct", "negative", "auto"]
"""The way ends are dealt with: by update pattern; by looking through all state; by negative rows.

`auto` goes by update pattern as well, and chooses while running how rows are found that are
withdrawn before their end.
"""


class Pattern(Enum):
    """The four update patterns, from the tamest to the wildest."""

    MON = "MON"
    WKS = "WKS"
    WK = "WK"
    STR = "STR"


def pattern_of(plan: Plan, *, announced: bool = False) -> Pattern:
    """The pattern of a plan's result, from those of its inputs; worked out once for each plan.

    With `announced`, windows over time withdraw each row at its end: the negative strategy.
    """
    return _known(plan, announced, counted=False)


def pattern_as_run(plan: Plan, *, announced: bool = False) -> Pattern:
    """The pattern of what block operators send for a plan.

    INTERSECT [ALL] and max-union count copies and withdraw them, where the ends of all copies
    could be told before: that is less work, and far less is sent (see
    `docs/contributors/decisions.md`). Where nothing ever ends, nothing is withdrawn.
    """
    return _known(plan, announced, counted=True)


def _known(plan: Plan, announced: bool, counted: bool) -> Pattern:
    place = f"_pattern{announced:d}{counted:d}"
    known = plan.__dict__.get(place)
    if not isinstance(known, Pattern):
        known = _pattern_of(plan, announced, counted)
        plan.__dict__[place] = known
    return known


def _pattern_of(plan: Plan, announced: bool, counted: bool) -> Pattern:
    if plan.meaning is not plan:
        return _known(plan.meaning, announced, counted)
    inputs = [_known(child, announced, counted) for child in plan.children]
    match plan:
        case st.Stream() | st.RelationToStream() | st.Internal():
            return Pattern.MON
        case st.Relation():
            return Pattern.STR
        case st.Exchanged():
            return plan.pattern
        case st.Window():
            return _window_pattern(plan, announced)
        case op.UnionAll():
            return _union_pattern(plan, inputs)
        case op.Filter() | op.Map() | op.Alias() | op.Group() | op.Combine():
            return inputs[0]
        case op.Final():
            # What is sent has ended, so nothing is ever withdrawn.
            return Pattern.WK if inputs[0] is Pattern.STR else inputs[0]
        case op.OnArrival():
            return _known(plan.reading.left, announced, counted)
        case op.FirstRows():
            # A row may be pushed out by another.
            return Pattern.STR
        case op.Sort():
            # A row within the limit may be pushed out of it.
            return inputs[0] if plan.limit is None and not plan.offset else Pattern.STR
        case op.Difference() | op.StrictDifference() | op.AntiJoin() | op.Aggregate():
            return Pattern.STR
        case op.ScalarProduct() | op.GroupJoin():
            return Pattern.STR
        case op.Intersection() | op.MaxUnion() if counted:
            return counted_pattern(inputs)
        case op.Coalesce() | op.Split():
            return Pattern.STR if inputs[0] is Pattern.STR else Pattern.WK
        case _:
            return _combined(inputs)


def _window_pattern(window: st.Window, announced: bool) -> Pattern:
    if window.spec.never_ends:
        return Pattern.MON
    if announced or window.spec.counts_rows:
        return Pattern.STR
    return Pattern.WKS if window.spec.ends_in_order else Pattern.WK


def counted_pattern(inputs: Sequence[Pattern]) -> Pattern:
    """INTERSECT [ALL] and max-union, if copies are counted."""
    return Pattern.MON if all(one is Pattern.MON for one in inputs) else Pattern.STR


def _combined(inputs: list[Pattern]) -> Pattern:
    """Product, joins, DISTINCT, UNION, INTERSECT, max-union."""
    if Pattern.STR in inputs:
        return Pattern.STR
    return Pattern.MON if all(one is Pattern.MON for one in inputs) else Pattern.WK


def _union_pattern(plan: op.UnionAll, inputs: list[Pattern]) -> Pattern:
    """WKS only under one and the same window: different lengths do not expire in order."""
    if all(one is Pattern.WKS for one in inputs):
        windows = st.input_windows(plan)
        specs = {one.spec if isinstance(one, st.Window) else Unbounded() for one in windows}
        return Pattern.WKS if len(specs) == 1 else Pattern.WK
    return _combined(inputs)
