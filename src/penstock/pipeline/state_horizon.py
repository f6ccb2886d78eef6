"""The memory of a plan: what it needs of the past to answer as if it had always run.

A plan whose windows began empty answers right as soon as all rows from before are out of its
windows. Windows over what another query sends out, or appends, wait for that to be right first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.emptiness import snapshot_inputs
from penstock.algebra.plan import different_nodes
from penstock.algebra.time import TimeUnit

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.algebra.windows import WindowSpec

_STAYS = "A new plan begins with empty windows, and these rows stay for ever. "
_USE_TIME = "Use a window of time, such as [RANGE {}]."


class NeverForgets(Exception):
    """A plan whose memory has no end that is known.

    Attributes:
        what: The clause, as it is written.
        hint: Why that matters, and what can be done.
    """

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


def memory_of(plan: Plan) -> int:
    """For how long a query remembers a row of a stream, at most, from its own instant on.

    Raises:
        NeverForgets: For ever, or until other rows come.
    """
    for node in different_nodes(plan):
        if isinstance(node, op.Final):
            hint = (
                "Rows of EMIT FINAL are sent once, when their time is over, and the parts that two"
                " plans cut it into differ. Leave EMIT FINAL out; changes() are final, too."
            )
            what = "EMIT FINAL"
            raise NeverForgets(what, hint)
    if isinstance(plan, st.RelationToStream):
        return _sending(plan)
    return _content(plan)


def _content(plan: Plan) -> int:
    """The time for which rows are remembered that a relation is computed from."""
    match plan:
        case st.Window():
            return _length(plan) + _arriving(plan.child)
        case st.Stream():
            what = f'stream "{plan.name}" without a window'
            raise NeverForgets(what, _STAYS + _use_time(plan.unit))
        case st.Internal():
            hint = "What windows with INTERNAL append stays for ever. Leave INTERNAL out."
            what = "INTERNAL windows"
            raise NeverForgets(what, hint)
        case st.RelationToStream():
            what = f"{type(plan).__name__.upper()} without a window over it"
            raise NeverForgets(what, _STAYS + _use_time(plan.unit))
        case st.Relation() | st.Exchanged():
            return 0
    return max(map(_content, snapshot_inputs(plan)))


def _arriving(plan: Plan) -> int:
    """The memory of what a window is over: it matters when rows come, not how long they stay.

    Of these, as of a declared stream, the window itself knows how long they stay.
    """
    match plan:
        case st.Stream():
            return 0
        case st.RelationToStream() | st.Internal():
            return _sending(plan)
        case op.OnArrival():
            # The relation is read as it was at each row's own instant: nothing to remember.
            return max(_arriving(plan.reading.left), _content(plan.reading.right))
        case op.Filter() | op.Map() | op.Alias() | op.Group():
            return _arriving(plan.child)
        case st.Window() if plan.spec.never_ends:
            return _arriving(plan.child)
    return _content(plan)


def _sending(plan: st.RelationToStream | st.Internal) -> int:
    """The memory of the two snapshots that tell what is sent: the first has to be right, too."""
    slides = [
        node.spec.time_slide
        for node in different_nodes(plan)
        if isinstance(node, st.Window) and node.spec.time_slide
    ]
    return _content(plan.child) + max(slides, default=1)


def _length(window: st.Window) -> int:
    """The time that a window holds a row, at most."""
    if window.spec.span is not None:
        return window.spec.span
    unit = window.unit or TimeUnit.TICK
    why = _STAYS
    if window.spec.counts_rows:
        why = "A new plan begins with empty windows, and nobody knows when enough rows have come. "
    raise NeverForgets(_written(window.spec, unit), why + _use_time(unit))


def _written(spec: WindowSpec, unit: TimeUnit) -> str:
    return f"[{spec.describe(unit)}]"


def _use_time(unit: TimeUnit | None) -> str:
    return _USE_TIME.format("60" if unit in (None, TimeUnit.TICK) else "1 MINUTE")
