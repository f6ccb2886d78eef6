"""Lateness: which rows of a stream are taken in, decided here for every engine.

A row is late when it lies below its stream's watermark at the opening of the micro-batch, or feed,
that brings it. So a row within the slack is never late, and which rows are late does not depend on
lanes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import BEGINNING, INFINITY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.algebra.time import TimeUnit
    from penstock.state.arrays import Flags, Ints

_LATE = "late: before the watermark "


@dataclass(frozen=True)
class Admission:
    """Rows that came together, sorted out.

    Attributes:
        taken: Places of the rows that are taken in.
        rejected: The others, by reason.
        latest: The latest instant among all rows that have one; BEGINNING if none has.
    """

    taken: Ints
    rejected: Mapping[str, Flags]
    latest: int


def admission(ts: Ints, known: Flags, watermark: int, unit: TimeUnit) -> Admission:
    """Decide which rows are taken in.

    Args:
        ts: Their event times, where these are known.
        known: Where they are.
        watermark: That of their stream, when the micro-batch was opened.
        unit: What instants are counted in.
    """
    inside = known & is_instant(ts)
    late = inside & (ts < watermark)
    reasons = {
        "no event time": ~known,
        "outside of time": known & ~inside,
        f"{_LATE}{unit.format(watermark)}": late,
    }
    return Admission(
        np.flatnonzero(inside & ~late),
        {reason: which for reason, which in reasons.items() if which.any()},
        int(ts[inside].max()) if inside.any() else BEGINNING,
    )


def is_instant(ts: Ints) -> Flags:
    """Numbers that are instants: the ends of the range stand for before and after all time."""
    return np.asarray((ts != BEGINNING) & (ts != INFINITY))


def is_late(reason: str) -> bool:
    """Rows that were rejected because they were late."""
    return reason.startswith(_LATE)


def watermark_after(latest: int, slack: int) -> int:
    """The watermark of a stream whose latest row lies at an instant; BEGINNING: it has no row."""
    # Before all time there is nothing to be late for.
    return BEGINNING if latest == BEGINNING else max(latest - slack, BEGINNING + 1)
