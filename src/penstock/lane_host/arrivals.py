"""From rows in the common format to the blocks of each lane, the late ones set aside."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.types import TIMESTAMP, to_arrow
from penstock.lane_host.row_slots import (
    BREAK,
    CODE,
    INSTANT,
    OPENING,
    POSITIONS,
    RAW,
    STREAM,
    split_raw,
)
from penstock.operators.block import Block, arriving
from penstock.operators.saved_tables import one_array
from penstock.runtime.arriving_columns import canonical
from penstock.runtime.lateness import UNREADABLE, admission, reasons_of
from penstock.runtime.thinning import thinned
from penstock.shedding.shedding import SHED
from penstock.state.sorting import order_of
from penstock.store.rejected_rows import POSITION, REASON, TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.lane_host.row_slots import RowFormat, StreamSlots
    from penstock.shedding.shedding import Shedding
    from penstock.state.arrays import Flags, Ints


@dataclass
class Arrivals:
    """The rows that a stream brought to a lane in one micro-batch."""

    block: Block
    rows: int
    latest: int
    late_by: int = 0
    shed: int = 0
    aside: dict[str, pa.Table] = field(default_factory=dict)
    """Rows that are not taken in, by the kind of their reason."""


def split(
    rows: pa.Table, slots: RowFormat, only: int | None
) -> Iterator[tuple[int, StreamSlots, pa.Table]]:
    """The rows of each code and stream, in the order of their source.

    Rows that do not say their code have the one given.
    """
    if not len(rows):
        return
    if POSITIONS[0] in rows.column_names:
        order = order_of(*(_integers(rows, name) for name in POSITIONS))
        rows = rows.take(pa.array(order))
    by_number = {one.number: one for one in slots.streams.values()}
    streams = _integers(rows, STREAM)
    codes = _integers(rows, CODE) if CODE in rows.column_names else np.full(len(rows), only)
    both = codes * len(by_number) + streams
    if bool((both == both[0]).all()):
        yield int(codes[0]), by_number[int(streams[0])], rows
        return
    order = order_of(both)
    starts = np.flatnonzero(np.diff(both[order], prepend=-1))
    for start, stop in zip(starts, np.append(starts[1:], len(order)), strict=True):
        first = int(order[start])
        own = by_number[int(streams[first])]
        wanted = [INSTANT, *(slot.name for slot in own.slots if slot)]
        wanted += [RAW] if RAW in rows.column_names else []
        chosen = pa.array(order[start:stop])
        yield int(codes[first]), own, rows.select(wanted).take(chosen)


def arrivals(
    rows: pa.Table,
    stream: StreamSlots,
    watermark: int,
    shedding: Shedding | None = None,
    brought: int = 0,
) -> Arrivals:
    """The rows of one stream as a block; those before the watermark, or without time, aside.

    Of the others some are shed, if that was decided; `brought` rows had come before.
    """
    times = one_array(rows[INSTANT])
    known = _is_there(times)
    ts = np.asarray(times.fill_null(0).to_numpy())
    columns = _columns(rows, stream, times)
    unreadable = _is_unreadable(rows)
    watermarks = _watermarks(rows, watermark)
    admitted = admission(ts, known & ~unreadable, watermarks)
    block, left_out = thinned(
        arriving(columns, ts).take(admitted.taken),
        shedding,
        stream.definition.shedding_columns,
        brought,
    )
    found = Arrivals(block, len(rows), admitted.latest, admitted.late_by, len(left_out))
    for kind, which in {UNREADABLE: unreadable, **admitted.rejected}.items():
        # What cannot be read has no event time, either; the first reason counts.
        chosen = np.flatnonzero(which if which is unreadable else which & ~unreadable)
        if len(chosen):
            reasons = reasons_of(kind, ts[chosen], watermarks[chosen], stream.definition.unit)
            found.aside[kind] = _rejected(rows, stream, columns, chosen, reasons)
    if shedding is not None and shedding.keeps_rows and len(left_out):
        reasons = pa.repeat(pa.scalar(shedding.reason), len(left_out))
        chosen = admitted.taken[left_out]
        found.aside[SHED] = _rejected(rows, stream, columns, chosen, reasons)
    return found


def _watermarks(rows: pa.Table, watermark: int) -> Ints:
    """The watermark by which each row is late, or not."""
    if OPENING not in rows.column_names:
        return np.full(len(rows), watermark)
    return np.maximum(_integers(rows, OPENING), watermark)


def _rejected(
    rows: pa.Table,
    stream: StreamSlots,
    columns: tuple[pa.Array, ...],
    places: Ints,
    reasons: pa.Array,
) -> pa.Table:
    """Rows that are not taken in: their columns, where they stand, their text, and the reason."""
    chosen = pa.array(places)
    names = [*stream.definition.schema.names, POSITION, TEXT, REASON]
    own = [column.take(chosen) for column in columns]
    place, why, text = _parts(_raw(rows).take(chosen))
    reasons = pc.if_else(pc.is_valid(why), pc.binary_join_element_wise(reasons, why, ": "), reasons)
    return pa.table([*own, place, text, reasons], names=names)


def _is_unreadable(rows: pa.Table) -> Flags:
    """Rows with a text that could not be read."""
    if RAW not in rows.column_names:
        return np.zeros(len(rows), np.bool_)
    found = pc.match_substring(_raw(rows), BREAK).fill_null(False)
    return np.asarray(found.to_numpy(zero_copy_only=False))


def _raw(rows: pa.Table) -> pa.Array:
    if RAW in rows.column_names:
        return one_array(rows[RAW])
    return pa.nulls(len(rows), pa.string())


def _parts(raw: pa.Array) -> list[pa.Array]:
    """The places of rows, why they cannot be read, and what stands there; each where known."""
    found = [split_raw(one) for one in raw.to_pylist()]
    columns = zip(*found, strict=True) if found else ((), (), ())
    return [pa.array(one, pa.string()) for one in columns]


def _is_there(column: pa.Array) -> Flags:
    return np.asarray(column.is_valid().to_numpy(zero_copy_only=False))


def _columns(rows: pa.Table, stream: StreamSlots, times: pa.Array) -> tuple[pa.Array, ...]:
    made = []
    for field_, slot in zip(stream.definition.schema, stream.slots, strict=True):
        column = times if slot is None else one_array(rows[slot.name])
        if field_.type == TIMESTAMP:
            column = column.view(to_arrow(TIMESTAMP))
        made.append(canonical(column))
    return tuple(made)


def _integers(rows: pa.Table, name: str) -> Ints:
    return np.asarray(one_array(rows[name]).to_numpy()).astype(np.int64)
