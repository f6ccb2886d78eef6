"""Blocks: everything that moves between operators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa

from penstock.algebra.time import INFINITY
from penstock.algebra.types import to_arrow
from penstock.operators.saved_tables import arrays_of
from penstock.state import arrays
from penstock.state.arrays import column_bytes, is_text, joined, text_bytes, text_lengths
from penstock.state.cutting import portions_of_text
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.types import Schema
    from penstock.state.arrays import Flags, Ints, Signs


@dataclass(frozen=True, slots=True)
class Block:
    """Rows, column by column, each valid from `ts` to before `te`.

    On a strict edge `sign` is +1 or -1: a negative row withdraws the part [ts, te) of one element
    with the same row and the same te that began before. None: no row is negative.
    """

    columns: tuple[pa.Array, ...]
    ts: Ints
    te: Ints
    sign: Signs | None = None

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.ts)

    @property
    def signs(self) -> Signs:
        """The sign of each row."""
        return np.ones(len(self), np.int8) if self.sign is None else self.sign

    @property
    def nbytes(self) -> int:
        """Bytes of the rows and their intervals."""
        return sum(map(column_bytes, self.columns)) + 17 * len(self)

    @property
    def row_bits(self) -> int | None:
        """The bits of a row and its interval, the same in all blocks of these types; None: text."""
        if any(is_text(column.type) for column in self.columns):
            return None
        return sum(int(column.type.bit_width) for column in self.columns) + 8 * 17

    def take(self, rows: Ints | Flags) -> Block:
        """Some of the rows, by number or by flag."""
        if rows.dtype == np.bool_:
            if rows.all():
                return self
            rows = np.flatnonzero(rows)
        elif len(rows) == len(self) and bool((np.diff(rows) == 1).all()):
            return self
        chosen = pa.array(rows)
        return Block(
            tuple(column.take(chosen) for column in self.columns),
            self.ts[rows],
            self.te[rows],
            None if self.sign is None else self.sign[rows],
        )

    def stretch(self, start: int, stop: int) -> Block:
        """The rows from `start` to before `stop`, not copied."""
        if stop - start == len(self):
            return self
        return Block(
            tuple(column.slice(start, stop - start) for column in self.columns),
            self.ts[start:stop],
            self.te[start:stop],
            None if self.sign is None else self.sign[start:stop],
        )

    @property
    def text(self) -> int:
        """Bytes of all strings."""
        return sum(text_bytes(column) for column in self.columns if is_text(column.type))

    def texts(self) -> Ints:
        """Bytes of the strings of each row."""
        total = np.zeros(len(self), np.int64)
        for column in self.columns:
            if is_text(column.type):
                total += text_lengths(column)
        return total

    def weights(self, rows: Ints) -> list[Ints]:
        """The lengths of strings in rows, of the columns where all may be too much to take."""
        return [
            text_lengths(column)[rows]
            for column in self.columns
            if is_text(column.type) and text_bytes(column) * len(rows) > arrays.MOST_TEXT
        ]

    def with_columns(self, columns: tuple[pa.Array, ...]) -> Block:
        """Other values under the same intervals."""
        return Block(columns, self.ts, self.te, self.sign)

    def by_time(self) -> Block:
        """The rows by ts; of one instant the negative ones first, otherwise as they stood."""
        if self.sign is None:
            if len(self) < 2 or bool((self.ts[1:] >= self.ts[:-1]).all()):
                return self
            return self.take(order_of(self.ts))
        return self.take(order_of(self.ts, self.sign.astype(np.int64)))


def arriving(columns: tuple[pa.Array, ...], ts: Ints) -> Block:
    """Rows of a stream: each begins at its ts and stays."""
    return Block(columns, ts, np.full(len(ts), INFINITY, np.int64))


def empty_block(schema: Schema) -> Block:
    """No rows of a schema."""
    nothing = np.zeros(0, np.int64)
    return Block(tuple(pa.array([], to_arrow(one)) for one in schema.types), nothing, nothing)


class StoredRows(Protocol):
    """Rows that an operator keeps in slots."""

    def take(self, slots: Ints) -> tuple[pa.Array, ...]:
        """The rows of slots."""

    def weights(self, slots: Ints) -> list[Ints]:
        """The lengths of strings in slots, of columns where all may be too much to take."""


def stored_blocks(
    rows: StoredRows, slots: Ints, ts: Ints, te: Ints, sign: Signs | None = None
) -> list[Block]:
    """Rows kept in slots under intervals: one block, or as many as their strings need."""
    return [
        Block(rows.take(slots[part]), ts[part], te[part], None if sign is None else sign[part])
        for part in portions_of_text(len(slots), rows.weights(slots))
    ]


def stored_arrivals(rows: StoredRows, slots: Ints, ts: Ints) -> list[Block]:
    """Rows kept in slots, each from an instant on."""
    return stored_blocks(rows, slots, ts, np.full(len(ts), INFINITY, np.int64))


def concatenated(blocks: Sequence[Block]) -> Block:
    """The rows of several blocks, one after the other; there is at least one block."""
    if len(blocks) == 1:
        return blocks[0]
    signed = any(block.sign is not None for block in blocks)
    return Block(
        tuple(joined(parts) for parts in zip(*(b.columns for b in blocks), strict=True)),
        np.concatenate([block.ts for block in blocks]),
        np.concatenate([block.te for block in blocks]),
        np.concatenate([block.signs for block in blocks]) if signed else None,
    )


def rows_by_time(blocks: Sequence[Block]) -> Block | None:
    """The rows of several blocks as one, by time; None where there are no blocks."""
    return concatenated(blocks).by_time() if blocks else None


def to_table(block: Block, names: Sequence[str] | None = None) -> pa.Table:
    """The block as Arrow: its columns, then `_ts`, `_te` and, if it has one, `_sign`."""
    arrays = [*block.columns, pa.array(block.ts), pa.array(block.te)]
    named = [str(number) for number in range(len(block.columns))] if names is None else names
    names = [*named, "_ts", "_te"]
    if block.sign is not None:
        arrays.append(pa.array(block.sign))
        names.append("_sign")
    return pa.table(arrays, names=names)


def from_table(table: pa.Table) -> Block:
    """The block that `to_table` was given."""
    signed = table.column_names[-1] == "_sign"
    arrays = arrays_of(table)
    sign = arrays.pop().to_numpy(zero_copy_only=False) if signed else None
    te, ts = arrays.pop().to_numpy(), arrays.pop().to_numpy()
    return Block(tuple(arrays), ts, te, sign)
