"""Coverage: that all rows which an answer is made of are retained, and else a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra import streams as st
from penstock.algebra.operators import OnArrival
from penstock.algebra.plan import different_nodes
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.errors import Refused
from penstock.planner.reach import StreamNeed, needs
from penstock.store.sub_windows.column_ranges import INSTANT
from penstock.store.sub_windows.piece import instants_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.algebra.plan import Plan
    from penstock.algebra.types import Schema
    from penstock.connection.questions.store_view import RetainedStream, StoreView


@dataclass(frozen=True)
class NeededRows:
    """The rows of a stream that an answer needs: those from an instant on."""

    stream: RetainedStream
    start: int
    schema: Schema


def covered(plan: Plan, instant: int, view: StoreView) -> dict[str, NeededRows]:
    """The stretches of all streams that a question at an instant reads.

    Raises:
        Refused: A part of them is not retained; the sentence says how much is there.
    """
    found: dict[str, NeededRows] = {}
    nodes = different_nodes(plan)
    schemas = {one.name: one.schema for one in nodes if isinstance(one, st.Stream)}
    for need in needs(plan, instant):
        stream = view.stream(need.stream)
        if need.rows is None:
            start = need.start if need.what else min(need.start, start_of_all(stream, instant))
            if start < stream.since:
                raise _refusal(stream, need, start, instant)
        else:
            start = stream.since
            if not stream.is_whole and rows_up_to(stream, need.end) < need.rows:
                raise _refusal(stream, need, BEGINNING, instant)
        known = found.get(need.stream)
        start = min(start, known.start if known else start)
        found[need.stream] = NeededRows(stream, start, schemas[need.stream])
    return found


def start_of_all(stream: RetainedStream, instant: int) -> int:
    """The instant at which all begins that is retained of a stream at an instant."""
    rule = stream.rule
    first = BEGINNING if rule.span == INFINITY else max(instant - rule.span + 1, BEGINNING)
    return first if rule.most_bytes is None else max(stream.since, first)


def rows_up_to(stream: RetainedStream, instant: int) -> int:
    """The number of retained rows up to an instant, and not before all of them are there."""
    found = 0
    for one in stream.sub_windows:
        if one.start > instant or one.end <= stream.since:
            continue
        ts = instants_of(one.table([])[INSTANT].combine_chunks())
        found += int(np.count_nonzero((ts <= instant) & (ts >= stream.since)))
    return found


def _refusal(stream: RetainedStream, need: StreamNeed, start: int, instant: int) -> Refused:
    """The sentence for a window that reaches beyond what is retained."""
    unit = stream.unit
    what = need.what or "all that is retained"
    since = f"all rows that came to {unit.format(instant)}"
    if need.rows is not None:
        since = f"{need.rows} rows up to {unit.format(instant)}"
    elif start > BEGINNING:
        since = f"its rows from {unit.format(start)} on"
    msg = f'{what} of stream "{stream.name}" needs {since}, and {_there(stream)}'
    rule = stream.rule.text(unit)
    hint = f"The stream keeps {rule}: declare more with RETAIN, or ask about a later instant."
    if stream.rule.span == INFINITY:
        hint = "Older rows came before the stream kept any, or were given up for want of space."
    elif not stream.is_declared:
        longest = "its longest window" if stream.rule.span else "none of its queries has a window"
        hint = f"Without RETAIN it keeps {rule.lower()} ({longest}). Declare it with RETAIN 1 HOUR."
        if unit.micros is None:
            hint = hint.replace("1 HOUR", "1000")
    return Refused(msg, hint=hint)


def _there(stream: RetainedStream) -> str:
    if stream.rule.is_none:
        return "none is retained"
    return f"those from {stream.unit.format(stream.since)} on are there"


def require_history(
    plan: Plan, instant: int, stretches: Mapping[str, NeededRows], relation: str, since: int
) -> None:
    """See that the content of a relation is known at all instants that matter.

    Raises:
        Refused: It is not.
    """
    kinds = (OnArrival, st.RelationToStream, st.Internal)
    looks_back = any(isinstance(one, kinds) for one in different_nodes(plan))
    earliest = min([one.start for one in stretches.values() if looks_back], default=instant)
    if earliest < since:
        unit = plan.unit
        shown = str(since) if unit is None else unit.format(since)
        msg = f'what relation "{relation}" held is known from {shown} on only'
        raise Refused(msg, hint="Ask about a later instant; RETAIN of streams keeps more.")
