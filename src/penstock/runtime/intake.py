"""Rows of streams on their way in: checked against the declaration, the late ones set aside.

Nothing is lost silently. A column that cannot be read as declared is an error that names it, and
then no row of the feed is taken in. Rows without an event time, or outside of time, and late rows
are set aside with a reason, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import BEGINNING, INFINITY, TimeUnit
from penstock.algebra.types import TIMESTAMP
from penstock.operators.block import Block, arriving
from penstock.runtime.arriving_columns import read_columns
from penstock.runtime.lateness import admission, is_instant, reasons_of, watermark_after
from penstock.runtime.thinning import thinned
from penstock.shedding.columns import NO_COLUMNS, SheddingColumns
from penstock.shedding.shedding import SHED

if TYPE_CHECKING:
    from penstock.algebra.types import Schema
    from penstock.shedding.shedding import Shedding
    from penstock.state.arrays import Flags, Ints


@dataclass(frozen=True)
class RejectedRows:
    """Rows that were not taken in as they came: of which source, why, and the rows themselves.

    `kind` is `late`, `shed`, `overdue`, or another one; `reasons` has a sentence for each row, and
    `texts` what stands there, of rows that cannot be read. The rows have the declared columns.
    `positions` are their places among all rows the source has brought; of a relation, among the
    changes of one feed; of a file, texts that say where they stand.
    """

    source: str
    kind: str
    reasons: pa.Array
    rows: pa.Table
    positions: Ints | pa.Array
    texts: pa.Array | None = None


@dataclass
class Intake:
    """One stream's way in: its declaration, its watermark, and how many rows it has brought.

    Attributes:
        late_by: By how much a row has been late, at the most.
        hold: The earliest row that is known to come; the watermark does not pass it.
        own: The columns that shedding goes by.
        shed: How many rows were shed.
    """

    name: str
    schema: Schema
    time_column: str
    slack: int = 0
    watermark: int = BEGINNING
    brought: int = 0
    latest: int = BEGINNING
    late_by: int = 0
    hold: int = INFINITY
    own: SheddingColumns = NO_COLUMNS
    shed: int = 0
    aside: list[RejectedRows] = field(default_factory=list)

    @property
    def unit(self) -> TimeUnit:
        """The unit in which instants of the stream are shown."""
        (time,) = (one.type for one in self.schema if one.name == self.time_column)
        return TimeUnit.TIMESTAMP if time == TIMESTAMP else TimeUnit.TICK

    def read(self, table: pa.Table) -> Reading:
        """Check a table against the declaration; nothing is taken in yet.

        Raises:
            DataError: A column is missing, or cannot be read as declared.
        """
        columns = read_columns(f'stream "{self.name}"', self.schema, table)
        times = columns[self.schema.names.index(self.time_column)]
        ts, known = _instants(times)
        return Reading(self, columns, ts, known)

    def advance(self, instant: int) -> None:
        """No row before an instant will come any more."""
        self.watermark = max(self.watermark, instant)

    def taken_rejected(self) -> list[RejectedRows]:
        """The rows that have been set aside since this was last asked."""
        found, self.aside = self.aside, []
        return found


@dataclass(frozen=True)
class Reading:
    """Rows that have been checked, and can be taken in."""

    intake: Intake
    columns: tuple[pa.Array, ...]
    ts: Ints
    known: Flags

    def instants(self) -> Ints:
        """The event times that are instants, in the order the rows came."""
        return self.ts[self.known & is_instant(self.ts)]

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.ts)

    def part(self, start: int, stop: int) -> Reading:
        """Some of the rows, in the order they came."""
        columns = tuple(one[start:stop] for one in self.columns)
        return Reading(self.intake, columns, self.ts[start:stop], self.known[start:stop])

    def earliest_from(self, start: int) -> int:
        """The earliest instant of the rows from one on; INFINITY if there is none."""
        left = self.part(start, len(self)).instants()
        return int(left.min()) if len(left) else INFINITY

    def take_in(self, shedding: Shedding | None = None) -> Block:
        """The rows that are not late, and stay; the watermark follows, the others are set aside.

        Rows that are shed move the watermark, too: so which rows are late depends on no shedding.
        """
        intake = self.intake
        positions = np.arange(intake.brought, intake.brought + len(self.ts))
        found = admission(self.ts, self.known, intake.watermark)
        for kind, which in found.rejected.items():
            chosen = np.flatnonzero(which)
            reasons = reasons_of(kind, self.ts[chosen], intake.watermark, intake.unit)
            self._reject(chosen, kind, positions, reasons)
        block, left_out = thinned(
            arriving(self.columns, self.ts).take(found.taken), shedding, intake.own, intake.brought
        )
        intake.brought += len(self.ts)
        intake.shed += len(left_out)
        if shedding is not None and shedding.keeps_rows and len(left_out):
            reasons = pa.repeat(pa.scalar(shedding.reason), len(left_out))
            self._reject(found.taken[left_out], SHED, positions, reasons)
        intake.latest = max(intake.latest, found.latest)
        intake.late_by = max(intake.late_by, found.late_by)
        reached = watermark_after(intake.latest, intake.slack, intake.hold)
        intake.watermark = max(intake.watermark, reached)
        return block

    def _reject(self, chosen: Ints, kind: str, positions: Ints, reasons: pa.Array) -> None:
        rows = pa.table(list(self.columns), names=list(self.intake.schema.names))
        rejected = rows.take(pa.array(chosen))
        aside = RejectedRows(self.intake.name, kind, reasons, rejected, positions[chosen])
        self.intake.aside.append(aside)


def _instants(times: pa.Array) -> tuple[Ints, Flags]:
    """Event times as integers, and which are known."""
    known = np.asarray(times.is_valid().to_numpy(zero_copy_only=False))
    if not pa.types.is_integer(times.type):
        times = times.cast(pa.int32() if pa.types.is_date(times.type) else pa.int64())
    return np.asarray(times.cast(pa.int64()).fill_null(0).to_numpy()), known
