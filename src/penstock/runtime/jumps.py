"""Rows from the far future: a periodic query cannot go through a trillion empty slides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra import streams as st
from penstock.algebra.plan import different_nodes
from penstock.algebra.time import BEGINNING
from penstock.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock.algebra.plan import Plan
    from penstock.algebra.time import TimeUnit
    from penstock.runtime.intake import Intake, Reading

MOST_SLIDES = 10_000_000
"""The number of slides without a row that a periodic query goes through."""


@dataclass(frozen=True)
class Periodic:
    """A part of a query that sends out its whole result at each slide: its streams, its slide."""

    streams: frozenset[str]
    slide: int
    unit: TimeUnit | None


def periodic_parts(plans: Iterable[Plan]) -> set[Periodic]:
    """The parts of queries that list slides."""
    found = set()
    for plan in plans:
        for node in different_nodes(plan):
            if not isinstance(node, st.RStream | st.Internal):
                continue
            lists = isinstance(node, st.RStream) or node.appends == "slides"
            window = st.slide_sent(node) if lists else None
            if window is not None and window.time_slide:
                below = different_nodes(node)
                names = frozenset(one.name for one in below if isinstance(one, st.Stream))
                if names:
                    found.add(Periodic(names, window.time_slide, node.unit))
    return found


def refuse_jumps(
    parts: Iterable[Periodic], intakes: Mapping[str, Intake], readings: Mapping[str, Reading]
) -> None:
    """Refuse rows that are too many slides after all others, before any of them is taken in.

    Raises:
        DataError: A row is from the far future.
    """
    for part in parts:
        before = max(intakes[name].latest for name in part.streams)
        arriving = [readings[name].instants() for name in part.streams if name in readings]
        if not arriving:
            continue
        instants = np.unique(np.concatenate(arriving))
        if before > BEGINNING:
            instants = np.append(before, instants[instants > before])
        # As doubles: the distance of two instants may not fit into 64 bits.
        gaps = np.diff(instants.astype(np.float64)) / part.slide
        if len(gaps) and gaps.max() > MOST_SLIDES:
            place = int(gaps.argmax())
            _refuse(part, readings, int(instants[place]), int(instants[place + 1]))


def _refuse(part: Periodic, readings: Mapping[str, Reading], last: int, next_: int) -> None:
    name, reading = next(
        (name, one)
        for name, one in readings.items()
        if name in part.streams and (one.instants() == next_).any()
    )
    shown = [str(one) if part.unit is None else part.unit.format(one) for one in (last, next_)]
    slides = (next_ - last) // part.slide
    msg = (
        f'stream "{name}", column "{reading.intake.time_column}": a row at {shown[1]} is {slides}'
        f" slides after the row before it, at {shown[0]}; a periodic query runs over it"
    )
    hint = f"Leave the row out if its time is wrong; at most {MOST_SLIDES} slides may be empty."
    raise DataError(msg, hint=hint)
