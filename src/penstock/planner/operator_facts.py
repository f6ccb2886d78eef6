"""Facts about logical operators that the planner goes by: a table with a row for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.algebra.plan import Plan

Ends = Literal["never", "always", "with any", "with all", "with first"]


@dataclass(frozen=True)
class PlanningFacts:
    """Facts about a logical operator.

    Args:
        keeps_state: Whether it stays whole where several queries need it: also windows over time,
            which keep nothing, because nothing is gained by having one for each filter.
        is_plain: Whether it looks at nothing but the rows of its inputs, so that these can be cut
            off and run elsewhere.
        is_stateless: Whether it is not worth lanes of its own.
        empty: With which of its inputs its result is empty, when all windows are.
        follows_rate: Whether more of its rows are valid at a time when more come; None: as many
            more as of its inputs.
    """

    keeps_state: bool
    is_plain: bool
    is_stateless: bool
    empty: Ends
    follows_rate: bool | None = None


_SOURCE = PlanningFacts(False, False, True, "never", True)
_SENDER = PlanningFacts(False, False, False, "always")
_ROW_BY_ROW = PlanningFacts(False, True, True, "with first")
_OTHER_INTERVALS = PlanningFacts(False, True, False, "with first")
_JOIN = PlanningFacts(True, True, False, "with any")
_LEFT = PlanningFacts(True, True, False, "with first")

FACTS: Mapping[type[Plan], PlanningFacts] = {
    st.Stream: PlanningFacts(False, False, True, "always", True),
    st.Relation: PlanningFacts(False, False, True, "never", False),
    st.Exchanged: _SOURCE,
    st.Window: PlanningFacts(True, False, False, "always"),
    st.Internal: PlanningFacts(False, False, False, "never"),
    st.IStream: PlanningFacts(False, True, False, "always"),
    st.DStream: PlanningFacts(False, True, False, "always"),
    st.RStream: _SENDER,
    st.AtEnds: _SENDER,
    op.Filter: _ROW_BY_ROW,
    op.Map: _ROW_BY_ROW,
    op.Alias: _ROW_BY_ROW,
    op.Group: _OTHER_INTERVALS,
    op.OnArrival: PlanningFacts(False, False, False, "with first"),
    op.Distinct: PlanningFacts(True, True, False, "with first", False),
    op.Product: _JOIN,
    op.Join: _JOIN,
    op.SemiJoin: _JOIN,
    op.AntiJoin: _LEFT,
    op.ScalarProduct: _LEFT,
    op.GroupJoin: _LEFT,
    op.UnionAll: PlanningFacts(False, True, True, "with all"),
    op.Intersection: _JOIN,
    op.MaxUnion: PlanningFacts(True, True, False, "with all"),
    op.Difference: _LEFT,
    op.StrictDifference: _LEFT,
    op.Aggregate: PlanningFacts(True, True, False, "with first", False),
    op.Combine: PlanningFacts(False, False, False, "with first", False),
    op.Sort: _OTHER_INTERVALS,
    op.FirstRows: _OTHER_INTERVALS,
    op.Coalesce: _OTHER_INTERVALS,
    op.Split: _OTHER_INTERVALS,
    op.Final: _OTHER_INTERVALS,
}
"""What is known of each operator."""


def facts_of(plan: Plan) -> PlanningFacts:
    """The facts about an operator.

    Raises:
        InternalError: Nobody has said them of such an operator.
    """
    if type(plan) not in FACTS:
        msg = f"nobody has said what the planner has to know of {type(plan).__name__}"
        raise InternalError(msg)
    return FACTS[type(plan)]


def is_plain(plan: Plan) -> bool:
    """An operator that looks at nothing but the rows of its inputs."""
    return facts_of(plan).is_plain and not (isinstance(plan, st.IStream) and plan.restore)


def follows_rate(plan: Plan) -> bool:
    """More rows are valid at a time when more come: not if windows count their rows."""
    if isinstance(plan, st.Window) and plan.spec.counts_rows:
        return False
    own = facts_of(plan).follows_rate
    return any(map(follows_rate, plan.children)) if own is None else own


def empties(plan: Plan) -> bool:
    """A result that is empty at least as soon as all windows of the query are."""
    match facts_of(plan).empty:
        case "never":
            return False
        case "always":
            return True
        case "with any":
            return any(map(empties, plan.children))
        case "with all":
            return all(map(empties, plan.children))
    # Without keys an aggregate has a row over nothing as well.
    has_row = isinstance(plan, op.Aggregate) and not plan.keys
    return not has_row and empties(plan.children[0])
