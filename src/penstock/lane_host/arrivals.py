"""From rows in the common format to the blocks of each lane, the late ones set aside."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.types import TIMESTAMP, to_arrow
from penstock.lane_host.row_slots import BREAK, CODE, INSTANT, POSITIONS, RAW, STREAM
from penstock.operators.block import Block, arriving
from penstock.operators.saved_tables import one_array
from penstock.runtime.arriving_columns import canonical
from penstock.runtime.lateness import admission
from penstock.state.sorting import order_of
from penstock.store.rejected_rows import POSITION, TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.lane_host.row_slots import RowFormat, StreamSlots
    from penstock.state.arrays import Flags, Ints


@dataclass
class Arrivals:
    """The rows that a stream brought to a lane in one micro-batch."""

    block: Block
    rows: int
    latest: int
    aside: dict[str, pa.Table] = field(default_factory=dict)
    """Rows that are not taken in, by reason."""


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


def arrivals(rows: pa.Table, stream: StreamSlots, watermark: int) -> Arrivals:
    """The rows of one stream as a block; those before the watermark, or without time, aside."""
    times = one_array(rows[INSTANT])
    known = _is_there(times)
    ts = np.asarray(times.fill_null(0).to_numpy())
    columns = _columns(rows, stream, times)
    unreadable = _is_unreadable(rows)
    admitted = admission(ts, known & ~unreadable, watermark, stream.definition.unit)
    found = Arrivals(arriving(columns, ts).take(admitted.taken), len(rows), admitted.latest)
    for reason, which in {"unreadable": unreadable, **admitted.rejected}.items():
        # What cannot be read has no event time, either; the first reason counts.
        chosen = which if which is unreadable else which & ~unreadable
        if chosen.any():
            found.aside[reason] = _rejected(rows, stream, columns, np.flatnonzero(chosen))
    return found


def _rejected(
    rows: pa.Table, stream: StreamSlots, columns: tuple[pa.Array, ...], places: Ints
) -> pa.Table:
    """Rows that are not taken in: their columns, where they stand, and what could not be read."""
    chosen = pa.array(places)
    names = [*stream.definition.schema.names, POSITION, TEXT]
    own = [column.take(chosen) for column in columns]
    return pa.table([*own, *_place_and_text(_raw(rows).take(chosen))], names=names)


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


def _place_and_text(raw: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The positions of rows, and the text that could not be read, each where that is known."""
    parts = [(None, None, None) if one is None else one.partition(BREAK) for one in raw.to_pylist()]
    places = [place for place, _, _ in parts]
    texts = [text if broken else None for _, broken, text in parts]
    return pa.array(places, pa.string()), pa.array(texts, pa.string())


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
