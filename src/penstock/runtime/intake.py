"""Rows on their way in: checked against the declaration, the late ones set aside.

Nothing is lost silently. A column that cannot be read as declared is an error that names it, and
then no row of the feed is taken in. Rows without an event time, or outside of time, and late rows
are set aside with a reason, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.algebra.types import Schema, to_arrow
from penstock.errors import DataError
from penstock.operators.block import Block, arriving
from penstock.operators.tables import one_array

if TYPE_CHECKING:
    from penstock.state.arrays import Flags, Ints

SHOWN = 3
"""Values shown in a message about a column."""


@dataclass(frozen=True)
class SetAside:
    """Rows that were not taken in: of which source, why, and the rows themselves.

    `positions` are their places among all rows the source has brought.
    """

    source: str
    reason: str
    rows: pa.Table
    positions: Ints


@dataclass
class Intake:
    """One stream's way in: its declaration, its watermark, and how many rows it has brought."""

    name: str
    schema: Schema
    time_column: str
    slack: int = 0
    watermark: int = BEGINNING
    brought: int = 0
    latest: int = BEGINNING
    aside: list[SetAside] = field(default_factory=list)

    def read(self, table: pa.Table) -> Reading:
        """Check a table against the declaration; nothing is taken in yet.

        Raises:
            DataError: A column is missing, or cannot be read as declared.
        """
        columns = tuple(
            _read_column(self.name, table, one.name, to_arrow(one.type)) for one in self.schema
        )
        times = columns[self.schema.names.index(self.time_column)]
        ts, known = _instants(times)
        return Reading(self, table, columns, ts, known)


@dataclass(frozen=True)
class Reading:
    """Rows that have been checked, and can be taken in."""

    intake: Intake
    table: pa.Table
    columns: tuple[pa.Array, ...]
    ts: Ints
    known: Flags

    def take_in(self) -> Block:
        """The rows that are not late; the watermark follows, the others are set aside."""
        intake = self.intake
        positions = np.arange(intake.brought, intake.brought + len(self.ts))
        intake.brought += len(self.ts)
        outside = self.known & ((self.ts == BEGINNING) | (self.ts == INFINITY))
        late = self.known & ~outside & (self.ts < intake.watermark)
        self._set_aside(~self.known, "no event time", positions)
        self._set_aside(outside, "outside of time", positions)
        reason = f"late: before the watermark {intake.watermark}"
        self._set_aside(late, reason, positions)
        kept = np.flatnonzero(self.known & ~outside & ~late)
        block = arriving(self.columns, self.ts).take(kept)
        seen = self.ts[self.known & ~outside]
        if len(seen):
            intake.latest = max(intake.latest, int(seen.max()))
            # Before all time there is nothing to be late for.
            intake.watermark = max(intake.watermark, intake.latest - intake.slack, BEGINNING + 1)
        return block

    def _set_aside(self, which: Flags, reason: str, positions: Ints) -> None:
        if which.any():
            chosen = np.flatnonzero(which)
            rows = self.table.take(pa.array(chosen))
            name = self.intake.name
            self.intake.aside.append(SetAside(name, reason, rows, positions[chosen]))


def _instants(times: pa.Array) -> tuple[Ints, Flags]:
    """Event times as integers, and which are known."""
    known = np.asarray(times.is_valid().to_numpy(zero_copy_only=False))
    if not pa.types.is_integer(times.type):
        times = times.cast(pa.int32() if pa.types.is_date(times.type) else pa.int64())
    return np.asarray(times.cast(pa.int64()).fill_null(0).to_numpy()), known


def _read_column(source: str, table: pa.Table, name: str, wanted: pa.DataType) -> pa.Array:
    """A column in the declared type; wider values than declared are refused."""
    if name not in table.column_names:
        there = ", ".join(table.column_names) or "none"
        msg = f'stream "{source}" has no column "{name}" in this block'
        raise DataError(msg, hint=f"Columns there: {there}.")
    column = table.column(name)
    found = column.type
    if found != wanted:
        column = _converted(source, name, column, wanted)
    return _canonical(one_array(column))


def _converted(
    source: str, name: str, column: pa.ChunkedArray, wanted: pa.DataType
) -> pa.ChunkedArray:
    msg = f'stream "{source}", column "{name}": declared {wanted}, but {column.type} came'
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not _is_compatible(column.type, wanted):
        raise DataError(msg, hint="Declare the column with the type that comes, or cast it.")
    try:
        return column.cast(wanted)
    except pa.ArrowInvalid as fault:
        msg = f"{msg}, and a value does not fit"
        raise DataError(msg, hint=f"{fault}.") from fault


def _is_compatible(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether one type is another width or unit of the other; text never becomes a number."""
    kinds = (
        pa.types.is_boolean,
        lambda one: pa.types.is_string(one) or pa.types.is_large_string(one)
        or pa.types.is_string_view(one),
        pa.types.is_timestamp,
        pa.types.is_date,
    )  # fmt: skip
    if pa.types.is_null(found) or any(kind(found) and kind(wanted) for kind in kinds):
        return True
    numbers = (pa.types.is_integer, pa.types.is_decimal, pa.types.is_floating)
    ranks = [[kind(one) for kind in numbers].index(True) for one in (found, wanted) if
             any(kind(one) for kind in numbers)]  # fmt: skip
    return len(ranks) == 2 and ranks[0] <= ranks[1]


def _canonical(column: pa.Array) -> pa.Array:
    """Doubles with one zero and one NaN, so that equal values have equal bits."""
    if not pa.types.is_floating(column.type):
        return column
    plain = pc.add(column, 0.0)
    is_nan = pc.is_nan(plain)
    if pc.any(is_nan).as_py():
        plain = pc.if_else(is_nan, pa.scalar(float("nan")), plain)
    return plain


def relation_block(name: str, schema: Schema, changes: pa.Table) -> Block:
    """The changes of a relation: its columns, `_at` and `_sign` (+1 enters, -1 leaves).

    Raises:
        DataError: A column is missing, or cannot be read as declared.
    """
    columns = tuple(_read_column(name, changes, one.name, to_arrow(one.type)) for one in schema)
    at = one_array(changes.column("_at")).to_numpy()
    sign = one_array(changes.column("_sign")).to_numpy().astype(np.int8)
    return Block(columns, at, np.full(len(at), INFINITY, np.int64), sign)
