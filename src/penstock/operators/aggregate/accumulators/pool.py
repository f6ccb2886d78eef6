"""A pool of texts: each distinct value of a column once, as long as a row holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.aggregate.accumulators import pool_loops as loops
from penstock.operators.aggregate.accumulators.events import owned
from penstock.state.moving import Occupancy
from penstock.state.row_store import grown
from penstock.state.slots import moved_together

if TYPE_CHECKING:
    from penstock.operators.aggregate.accumulators.events import Bools, Bytes, Int64s

FIRST_TEXTS, FIRST_BYTES = 16, 256


class Pool:
    """Texts (any bytes) by number. A number stays the same while the text is held."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self.texts = np.zeros((FIRST_TEXTS, 4), np.int64)
        self.data = np.zeros(FIRST_BYTES, np.uint8)
        self.meta = np.zeros(4, np.int64)
        self._lately = Occupancy()
        self._index()

    def _index(self) -> None:
        self.index = np.zeros(7 * len(self.texts) // 4, np.int32)
        loops.rebuild(self.index, self.texts, self.meta)

    def hold(self, offsets: Int64s, data: Bytes, known: Bools) -> Int64s:
        """The numbers of texts data[offsets[i] : offsets[i + 1]], each held once more."""
        numbers = np.empty(len(known), np.int64)
        start = 0
        while start < len(known):
            start = loops.intern(
                start, offsets, data, known, self.index, self.texts, self.data, self.meta, numbers
            )
            if start < len(known):
                self._grow(int(offsets[start + 1] - offsets[start]))
        return numbers

    def _grow(self, length: int) -> None:
        """Make room for one more text."""
        if self.meta[loops.FREE] < 0:
            self.texts = grown(self.texts, len(self.texts) + 1)
            self._index()
        if self.meta[loops.USED] + length > len(self.data):
            self._write_anew(int(self.meta[loops.USED] - self.meta[loops.DEAD]) + length)

    def release(self, numbers: Int64s) -> None:
        """Let go of texts, once for each time they occur."""
        self._lately.note(int(self.meta[loops.LIVE]))
        loops.release(numbers, self.index, self.texts, self.meta)
        if 3 * self.meta[loops.DEAD] > max(int(self.meta[loops.USED]), FIRST_BYTES):
            self._write_anew(int(self.meta[loops.USED] - self.meta[loops.DEAD]))

    @property
    def is_spacious(self) -> bool:
        """Most numbers have been free for a while."""
        return self._lately.leaves_empty(len(self.texts), int(self.meta[loops.LIVE]))

    def compact(self) -> Int64s:
        """Give the texts held the lowest numbers; by old numbers the new ones."""
        moved = moved_together(self._held(), len(self.texts))
        self.texts = grown(self.texts[moved.kept], FIRST_TEXTS)
        self._index()
        return moved.numbers

    def _held(self) -> Int64s:
        return np.flatnonzero(self.texts[:, loops.HELD])

    def _write_anew(self, room: int) -> None:
        """Leave out the bytes of texts that are gone; room for so many bytes and some more."""
        data = np.empty(max(room + room // 4, FIRST_BYTES), np.uint8)
        self.meta[loops.USED] = loops.compact(self.texts, self.data, data)
        self.meta[loops.DEAD] = 0
        self.data = data

    def take(self, numbers: Int64s, known: Bools) -> tuple[Int64s, Bytes]:
        """The texts with these numbers, empty where unknown: offsets and bytes."""
        offsets = self.offsets(numbers, known)
        data = np.empty(offsets[-1], np.uint8)
        loops.gather(numbers, known, self.texts, self.data, data)
        return offsets, data

    def offsets(self, numbers: Int64s, known: Bools) -> Int64s:
        """The place where each of these texts would begin, if they were taken, and the last end."""
        lengths = np.where(known, self.texts[np.where(known, numbers, 0), loops.LENGTH], 0)
        return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

    def table(self) -> pa.Table:
        """Every text held, with its number."""
        numbers = self._held()
        offsets, data = self.take(numbers, np.ones(len(numbers), np.bool_))
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        return pa.table(
            {
                "number": numbers,
                "held": self.texts[numbers, loops.HELD],
                "text": pa.Array.from_buffers(pa.large_binary(), len(numbers), buffers),
            }
        )

    def restore(self, table: pa.Table) -> None:
        """Take back a table."""
        self._reset()
        numbers, held = table["number"].to_numpy(), table["held"].to_numpy()
        if not len(numbers):
            return
        # Held in the order of their numbers, the texts are numbered 0, 1, ...; then moved.
        texts = table["text"].combine_chunks()
        offsets, data = binary_of(texts)
        compact = self.hold(offsets, data, np.ones(len(numbers), np.bool_))
        moved = np.zeros((max(int(numbers.max()) + 1, FIRST_TEXTS), 4), np.int64)
        moved[numbers] = self.texts[compact]
        moved[numbers, loops.HELD] = held
        self.texts = moved
        self._index()

    @property
    def nbytes(self) -> int:
        """Memory allocated."""
        return self.index.nbytes + self.texts.nbytes + self.data.nbytes


def binary_of(array: pa.Array) -> tuple[Int64s, Bytes]:
    """The offsets and bytes of an Arrow array of strings or binaries, large or not."""
    large = array.type in (pa.large_string(), pa.large_binary())
    _, places, content = array.buffers()
    if not len(array):
        return np.zeros(1, np.int64), np.zeros(0, np.uint8)
    offsets = np.frombuffer(places, np.int64 if large else np.int32)
    offsets = offsets[array.offset : array.offset + len(array) + 1].astype(np.int64)
    data = np.frombuffer(content, np.uint8) if content else np.zeros(0, np.uint8)
    return offsets - offsets[0], owned(data[offsets[0] : offsets[-1]])
