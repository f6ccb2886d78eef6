"""One step: windows are taken as what they hold at an instant, and the rest is computed once.

A query whose windows are over declared streams answers at an instant what SQL answers over the rows
that they hold then. So these rows are put into streams of their own, all of them at that instant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.emptiness import snapshot_inputs
from penstock.algebra.plan import different_nodes
from penstock.algebra.time import BEGINNING
from penstock.algebra.windows import Between, Fixed, Now, Range, Rows, Since, Unbounded, WindowSpec

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


@dataclass(frozen=True)
class Held:
    """The rows that a window over a stream holds at an instant.

    Attributes:
        stream: The stream.
        start: The earliest event time.
        end: The latest event time; no rows if it is before `start`.
        newest: Of these, so many of the newest; None: all.
    """

    stream: st.Stream
    start: int
    end: int
    newest: int | None = None


def held_by(spec: WindowSpec, stream: st.Stream, instant: int) -> Held | None:
    """The rows that a window holds at an instant; None if that takes more than two instants."""
    match spec:
        case Range(length, None):
            return Held(stream, max(instant - length + 1, BEGINNING), instant)
        case Range(length, slide) if slide:
            last = instant // slide * slide
            return Held(stream, max(last - length + 1, BEGINNING), last)
        case Fixed(length):
            return Held(stream, instant // length * length, instant)
        case Now():
            return Held(stream, instant, instant)
        case Unbounded():
            return Held(stream, BEGINNING, instant)
        case Since(start):
            return Held(stream, start, instant)
        case Between(start, end):
            return Held(stream, start, min(end, instant))
        case Rows(count, None, ()):
            return Held(stream, BEGINNING, instant, count)
    return None


def in_one_step(plan: Plan, instant: int) -> tuple[Plan, dict[str, Held]] | None:
    """The query over streams of the held rows, by their names; None if it cannot be done so."""
    apart = (op.OnArrival, st.RelationToStream, st.Internal, op.Final)
    if any(isinstance(one, apart) for one in different_nodes(plan)):
        return None
    found: dict[str, Held] = {}
    try:
        return _replaced(plan, instant, found), found
    except _Apart:
        return None


class _Apart(Exception):
    """A window whose rows cannot be told by two instants."""


def _replaced(plan: Plan, instant: int, found: dict[str, Held]) -> Plan:
    match plan:
        case st.Window(st.Stream() as stream, spec):
            held = held_by(spec, stream, instant)
        case st.Stream():
            stream, held = plan, held_by(Unbounded(), plan, instant)
        case st.Window():
            raise _Apart
        case op.Coalesce() | op.Split():
            # How a result is cut into elements does not matter at one instant.
            return _replaced(plan.child, instant, found)
        case st.Relation():
            return plan
        case _:
            below = snapshot_inputs(plan)
            return plan.rebuild(tuple(_replaced(one, instant, found) for one in below))
    if held is None:
        raise _Apart
    known = [name for name, one in found.items() if one == held]
    name = known[0] if known else f"{stream.name} {len(found) + 1}"
    found[name] = held
    leaf = st.Stream(name, stream.columns, stream.time_column, stream.time_unit)
    return st.Window(leaf, Unbounded())
