"""Lateness: which rows of a stream are taken in, decided here for every engine.

A row is late when it lies below its stream's watermark at the opening of the micro-batch, or feed,
that brings it. So a row within the slack is never late, and which rows are late does not depend on
lanes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import BEGINNING, INFINITY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.algebra.time import TimeUnit
    from penstock.state.arrays import Flags, Ints

LATE, UNREADABLE = "late", "unreadable"
"""Kinds of rows that are not taken in: they came too late, or are not as declared."""


@dataclass(frozen=True)
class Admission:
    """Rows that came together, sorted out.

    Attributes:
        taken: Places of the rows that are taken in.
        rejected: The others, by kind.
        latest: The latest instant among all rows that have one; BEGINNING if none has.
        late_by: By how much the latest of the late rows is behind; 0 if none is late.
    """

    taken: Ints
    rejected: Mapping[str, Flags]
    latest: int
    late_by: int


def admission(ts: Ints, known: Flags, watermark: int | Ints) -> Admission:
    """Decide which rows are taken in.

    Args:
        ts: Their event times, where these are known.
        known: Where they are.
        watermark: That of their stream, when the micro-batch was opened; or one for each row.
    """
    inside = known & is_instant(ts)
    late = inside & (ts < watermark)
    kinds = {"no event time": ~known, "outside of time": known & ~inside, LATE: late}
    return Admission(
        np.flatnonzero(inside & ~late),
        {kind: which for kind, which in kinds.items() if which.any()},
        int(ts[inside].max()) if inside.any() else BEGINNING,
        int((watermark - ts)[late].max()) if late.any() else 0,
    )


def latest_of(times: pa.Array) -> int:
    """The latest instant among event times; BEGINNING if none is one."""
    ts = np.asarray(times.drop_null().to_numpy())
    inside = ts[is_instant(ts)]
    return int(inside.max()) if len(inside) else BEGINNING


def reasons_of(kind: str, ts: Ints, watermark: int | Ints, unit: TimeUnit) -> pa.Array:
    """The reasons for which rows of a kind were rejected: of late ones, by how much they were late.

    Args:
        kind: Their kind.
        ts: Their event times.
        watermark: That of their stream, or one for each row.
        unit: What instants are counted in.
    """
    if kind != LATE:
        return pa.repeat(pa.scalar(kind, pa.string()), len(ts))
    watermarks = np.broadcast_to(watermark, ts.shape)
    found = np.empty(len(ts), object)
    for mark in np.unique(watermarks).tolist():
        chosen = watermarks == mark
        instants, places = np.unique(ts[chosen], return_inverse=True)
        before = f"before the watermark {unit.format(mark)}"
        lengths = (unit.length(mark - one).lower() for one in instants.tolist())
        found[chosen] = np.array([f"late by {one}: {before}" for one in lengths], object)[places]
    return pa.array(found, pa.string())


def is_instant(ts: Ints) -> Flags:
    """Numbers that are instants: the ends of the range stand for before and after all time."""
    return np.asarray((ts != BEGINNING) & (ts != INFINITY))


def watermark_after(latest: int, slack: int, hold: int = INFINITY) -> int:
    """The watermark of a stream whose latest row lies at an instant; BEGINNING: it has no row.

    It does not pass `hold`, the earliest row that is known to come.
    """
    # Before all time there is nothing to be late for.
    return BEGINNING if latest == BEGINNING else min(hold, max(latest - slack, BEGINNING + 1))
