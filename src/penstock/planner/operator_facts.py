"""Facts about logical operators that the planner goes by: a table with a row for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.algebra import streams as st
from penstock.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.algebra.plan import Plan


@dataclass(frozen=True)
class PlanningFacts:
    """Facts about a logical operator.

    Args:
        keeps_state: Whether it stays whole where several queries need it: also windows over time,
            which keep nothing, because nothing is gained by having one for each filter.
        is_plain: Whether it looks at nothing but the rows of its inputs, so that these can be cut
            off and run elsewhere.
        is_stateless: Whether it is not worth lanes of its own.
        follows_rate: Whether more of its rows are valid at a time when more come; None: as many
            more as of its inputs.
    """

    keeps_state: bool
    is_plain: bool
    is_stateless: bool
    follows_rate: bool | None = None


_SOURCE = PlanningFacts(False, False, True, True)
_SENDER = PlanningFacts(False, False, False)
_ROW_BY_ROW = PlanningFacts(False, True, True)
_OTHER_INTERVALS = PlanningFacts(False, True, False)
_KEEPS = PlanningFacts(True, True, False)

FACTS: Mapping[type[Plan], PlanningFacts] = {
    st.Stream: _SOURCE,
    st.Relation: PlanningFacts(False, False, True, False),
    st.Exchanged: _SOURCE,
    st.Window: PlanningFacts(True, False, False),
    st.Internal: PlanningFacts(False, False, False),
    st.IStream: PlanningFacts(False, True, False),
    st.DStream: PlanningFacts(False, True, False),
    st.RStream: _SENDER,
    st.AtEnds: _SENDER,
    op.Filter: _ROW_BY_ROW,
    op.Map: _ROW_BY_ROW,
    op.Alias: _ROW_BY_ROW,
    op.Group: _OTHER_INTERVALS,
    op.OnArrival: PlanningFacts(False, False, False),
    op.Distinct: PlanningFacts(True, True, False, False),
    op.Product: _KEEPS,
    op.Join: _KEEPS,
    op.SemiJoin: _KEEPS,
    op.AntiJoin: _KEEPS,
    op.ScalarProduct: _KEEPS,
    op.GroupJoin: _KEEPS,
    op.UnionAll: PlanningFacts(False, True, True),
    op.Intersection: _KEEPS,
    op.MaxUnion: _KEEPS,
    op.Difference: _KEEPS,
    op.StrictDifference: _KEEPS,
    op.Aggregate: PlanningFacts(True, True, False, False),
    op.Combine: PlanningFacts(False, False, False, False),
    orders.Sort: _OTHER_INTERVALS,
    orders.FirstRows: _OTHER_INTERVALS,
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
