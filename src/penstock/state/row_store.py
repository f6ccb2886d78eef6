"""A store of rows by slot: values of each column side by side, written and read in bulk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state import arrays
from penstock.state.arrays import (
    Flags,
    Ints,
    Lengths,
    Values,
    arrow_array,
    check_text,
    is_text,
    storage_of,
    text_array,
    text_parts,
    validity_of,
    values_of,
)
from penstock.state.gathering import gathered
from penstock.state.texts import copy_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa


_NEAR = 2**32 - 1
"""Bytes that 32 bits can count."""


class RowStore:
    """Rows of given column types, each in a slot that its owner numbers.

    >>> import pyarrow as pa
    >>> store = RowStore([pa.int64(), pa.string()])
    >>> store.put(np.array([0, 2]), [pa.array([7, None]), pa.array(["a", "b"])])
    >>> [column.to_pylist() for column in store.take(np.array([2, 0, 2]))]
    [[None, 7, None], ['b', 'a', 'b']]
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self.columns = [_TextColumn() if is_text(one) else _FixedColumn(one) for one in types]

    def reserve(self, capacity: int) -> None:
        """Room for slots below the capacity."""
        for store in self.columns:
            store.reserve(capacity)

    def put(self, slots: Ints, columns: Sequence[pa.Array]) -> None:
        """Write rows into slots, over what was there; slots are different from each other."""
        if not len(slots):
            return
        self.reserve(int(slots.max()) + 1)
        for store, column in zip(self.columns, columns, strict=True):
            store.put(slots, column)

    def take(self, slots: Ints, width: int | None = None) -> tuple[pa.Array, ...]:
        """The rows of the slots, in their order; a slot may come several times.

        `width`: only so many columns, the first ones.
        """
        return tuple(store.take(slots) for store in self.columns[:width])

    def values(self, number: int) -> Values:
        """The values of a column of one width, in all slots."""
        store = self.columns[number]
        assert isinstance(store, _FixedColumn)
        return store.values

    def weights(self, slots: Ints) -> list[Ints]:
        """The lengths of strings in slots, of the columns where all may be too much to take.

        `portions_of_text` says how much can be taken at once.
        """
        found = [store.weights(slots) for store in self.columns]
        return [one for one in found if one is not None]

    @property
    def longest(self) -> int:
        """No string in any column is longer."""
        return max((store.longest for store in self.columns), default=0)

    def forget(self, slots: Ints) -> None:
        """The slots are free: what only they hold can go."""
        for store in self.columns:
            store.forget(slots)

    def move(self, slots: Ints) -> None:
        """Slot i becomes what was in slot `slots[i]`; all others are gone."""
        for store in self.columns:
            store.move(slots)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use, spare room included."""
        return sum(store.nbytes for store in self.columns)


def grown(array: Values, capacity: int) -> Values:
    """The array with room for `capacity` entries, and a quarter more if it must grow."""
    if capacity <= len(array):
        return array
    length = max(capacity, len(array) + len(array) // 4, 64)
    room = np.zeros((length, *array.shape[1:]), array.dtype)
    room[: len(array)] = array
    return room


class _FixedColumn:
    """Values of one width in an array; whether they are NULL in another, made when needed."""

    longest = 0

    def __init__(self, type_: pa.DataType) -> None:
        self.type = type_
        storage = storage_of(type_)
        shape = (0, 2) if storage.shape else (0,)
        self.values: Values = np.zeros(shape, storage.base)
        self.valid: Flags | None = None

    def reserve(self, capacity: int) -> None:
        self.values = grown(self.values, capacity)
        if self.valid is not None:
            self.valid = grown(self.valid, len(self.values))

    def put(self, slots: Ints, column: pa.Array) -> None:
        self.values[slots] = values_of(column)
        valid = validity_of(column)
        if valid is not None and self.valid is None:
            self.valid = np.ones(len(self.values), np.bool_)
        if self.valid is not None:
            self.valid[slots] = True if valid is None else valid

    def take(self, slots: Ints) -> pa.Array:
        valid = None if self.valid is None else gathered(self.valid, slots)
        return arrow_array(gathered(self.values, slots), valid, self.type)

    def weights(self, slots: Ints) -> Ints | None:
        del slots
        return None

    def forget(self, slots: Ints) -> None:
        del slots

    def move(self, slots: Ints) -> None:
        self.values = self.values[slots]
        self.valid = None if self.valid is None else self.valid[slots]

    @property
    def nbytes(self) -> int:
        return self.values.nbytes + (0 if self.valid is None else self.valid.nbytes)


class _TextColumn:
    """Strings in one heap of bytes that only grows at its end; a third of waste, it is rewritten.

    A length of -1 is a NULL.
    """

    def __init__(self) -> None:
        # Where strings begin, in 32 bits until some are further away.
        self.starts: Values = np.zeros(0, np.uint32)
        self.lengths: Lengths = np.zeros(0, np.int32)
        self.heap = np.zeros(0, np.uint8)
        self.used = 0
        self.waste = 0
        # No string is longer: so most often one need not look at lengths to know that all fit.
        self.longest = 0

    def reserve(self, capacity: int) -> None:
        self.starts = grown(self.starts, capacity)
        self.lengths = grown(self.lengths, capacity)

    def put(self, slots: Ints, column: pa.Array) -> None:
        self.forget(slots)
        starts, content = text_parts(column)
        first, last = int(starts[0]), int(starts[-1])
        if self.used + last - first > _NEAR:
            self.starts = self.starts.astype(np.int64)
        self.heap = grown(self.heap, self.used + last - first)
        self.heap[self.used : self.used + last - first] = content[first:last]
        self.starts[slots] = starts[:-1] + (self.used - first)
        lengths = np.diff(starts)
        self.longest = max(self.longest, int(lengths.max(initial=0)))
        valid = validity_of(column)
        self.lengths[slots] = lengths if valid is None else np.where(valid, lengths, -1)
        self.used += last - first

    def take(self, slots: Ints) -> pa.Array:
        lengths = gathered(self.lengths, slots)
        valid = lengths >= 0
        starts = np.zeros(len(slots) + 1, np.int64)
        np.cumsum(np.maximum(lengths, 0), out=starts[1:])
        check_text(int(starts[-1]))
        content = np.empty(int(starts[-1]), np.uint8)
        copy_texts(self.heap, self.starts[slots].astype(np.int64), starts, content)
        return text_array(starts, content, valid)

    def weights(self, slots: Ints) -> Ints | None:
        if self.longest * len(slots) <= arrays.MOST_TEXT:
            return None
        return np.maximum(self.lengths[slots], 0).astype(np.int64)

    def forget(self, slots: Ints) -> None:
        self.waste += int(np.maximum(self.lengths[slots], 0).sum())
        self.lengths[slots] = 0
        if self.waste > 4096 and 3 * self.waste > self.used:
            self.move(np.arange(len(self.lengths)))

    def move(self, slots: Ints) -> None:
        lengths = self.lengths[slots]
        starts = np.zeros(len(slots) + 1, np.int64)
        np.cumsum(np.maximum(lengths, 0), out=starts[1:])
        heap = np.empty(int(starts[-1]), np.uint8)
        copy_texts(self.heap, self.starts[slots].astype(np.int64), starts, heap)
        self.starts = starts[:-1].astype(np.uint32 if len(heap) <= _NEAR else np.int64)
        self.lengths = lengths
        self.heap, self.used, self.waste = heap, len(heap), 0
        self.longest = int(lengths.max(initial=0))

    @property
    def nbytes(self) -> int:
        return self.starts.nbytes + self.lengths.nbytes + self.heap.nbytes
