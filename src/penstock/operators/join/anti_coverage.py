"""The covered keys, and when that will change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import INFINITY
from penstock.operators.block import concatenated
from penstock.operators.declared_state.state_part import StatePart
from penstock.operators.join.anti_loops import CoverageChanges
from penstock.operators.saved_tables import arrays_of
from penstock.state.expiry import CalendarQueue
from penstock.state.fingerprints import fingerprints
from penstock.state.row_store import RowStore, grown
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.operators.block import Block
    from penstock.operators.division import Division
    from penstock.operators.join.join_chains import Chains
    from penstock.operators.join.join_sides import JoinSide
    from penstock.operators.operator import Segments
    from penstock.state.arrays import Ints, Signs, Values, Words
    from penstock.state.moving import Moved

_SLACK = 1024
NUMBER, DELTA = np.dtype(np.int32), np.dtype(np.int8)
"""What is kept of a change to come: the number of the key, and the change."""


class KeyCoverage(StatePart):
    """The cover of each key: once or not at all, at the end of any instant.

    An element of coverage is two changes: its sign at its ts and the opposite at its te. So a
    negative row cancels the end of the element it withdraws without looking for it.
    """

    def __init__(self, side: JoinSide, chains: Chains, port: int) -> None:
        self._side = side
        self._port = port
        self._chains = chains
        self._keys = RowStore(side.types)
        self.counts: Signs = np.zeros(0, np.int8)
        self._awaited: Values = np.zeros(0, np.int32)
        self._queue = self._new_queue()
        self._enough = _SLACK

    def __len__(self) -> int:
        return int(np.count_nonzero(self.counts)) + len(self._queue)

    def numbers(self, keys: Sequence[pa.Array], words: Words) -> Ints:
        """The numbers of keys, whose values are remembered for as long as they are in use."""
        numbers, new = self._chains.numbers(words)
        chosen = pa.array(new)
        self._keys.put(numbers[new], [key.take(chosen) for key in keys])
        self.counts = grown(self.counts, self._chains.index.capacity)
        self._awaited = grown(self._awaited, self._chains.index.capacity)
        return numbers

    def changes(self, blocks: Sequence[Block], clock: int) -> CoverageChanges:
        """All changes before the clock, those brought by the blocks of a step included."""
        parts = [self._arriving(concatenated(blocks))] if blocks else []
        ends, numbers, deltas = _widened(*self._queue.pop(clock))
        np.subtract.at(self._awaited, numbers, 1)
        ts, key, delta = (
            np.concatenate(columns) for columns in zip(*parts, (ends, numbers, deltas), strict=True)
        )
        order = order_of(ts, key)
        return CoverageChanges(ts[order], key[order], delta[order])

    def drop_unused(self, candidates: Ints) -> None:
        """Forget the keys without rows that are not covered and await no change."""
        idle = (self.counts[candidates] == 0) & (self._awaited[candidates] == 0)
        self._keys.forget(self._chains.drop_empty(candidates[idle]))
        if len(self._queue) > self._enough:
            self._cancel()
            self._enough = 2 * len(self._queue) + _SLACK

    def move(self, moved: Moved) -> None:
        """Keys have been given other numbers."""
        self._keys.move(moved.kept)
        self._keys.reserve(len(moved.kept) + 1)
        self.counts, self._awaited = moved.rows(self.counts), moved.rows(self._awaited)
        self._queue.renumber(moved.numbers)

    def segments(self) -> Segments:
        """The keys that are covered, and the changes to come."""
        covered = np.flatnonzero(self.counts)
        ends, numbers, deltas = _widened(*self._queue.contents())
        return {
            "covered": self._table(covered, [self.counts[covered].astype(np.int64)]),
            "changes": self._table(numbers, [ends, deltas]),
        }

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Go on from saved coverage."""
        numbers, (counts,) = self._read(segments["covered"], 1)
        self.counts[numbers] = counts
        numbers, (ends, deltas) = self._read(segments["changes"], 2)
        self._await(ends, numbers, deltas)

    def divided(self, parts: Sequence[Segments], division: Division) -> list[Segments]:
        """Each key on its own."""
        spread = division.spread(self._port)
        return division.rows(parts, {"covered": spread, "changes": spread})

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        own = self.counts.nbytes + self._awaited.nbytes
        return own + self._keys.nbytes + self._queue.nbytes

    def _arriving(self, block: Block) -> tuple[Ints, Ints, Ints]:
        block, words = self._side.matchable(block)
        numbers = self.numbers(self._side.keys(block), words)
        signs = block.signs.astype(np.int64)
        ending = block.te < INFINITY
        self._await(block.te[ending], numbers[ending], -signs[ending])
        return block.ts, numbers, signs

    def _await(self, ends: Ints, numbers: Ints, deltas: Ints) -> None:
        self._queue.push(ends, [numbers, deltas])
        np.add.at(self._awaited, numbers, 1)

    def _cancel(self) -> None:
        """Let changes to come that make up for each other go."""
        ends, numbers, deltas = _widened(*self._queue.contents())
        order = order_of(ends, numbers)
        ends, numbers, deltas = ends[order], numbers[order], deltas[order]
        differs = (np.diff(ends) != 0) | (np.diff(numbers) != 0)
        starts = np.flatnonzero(np.concatenate([[True], differs]))
        sums = np.add.reduceat(deltas, starts)
        left = starts[sums != 0]
        self._awaited[:] = 0
        self._queue = self._new_queue()
        self._await(ends[left], numbers[left], sums[sums != 0])
        gone = np.setdiff1d(numbers, numbers[left])
        idle = gone[self.counts[gone] == 0]
        self._keys.forget(self._chains.drop_empty(idle))

    def _new_queue(self) -> CalendarQueue:
        return CalendarQueue([NUMBER, DELTA], self._side.span, self._side.partitions)

    def _table(self, numbers: Ints, values: Sequence[Ints]) -> pa.Table:
        arrays = [*self._keys.take(numbers), *map(pa.array, values)]
        return pa.table(arrays, names=[f"c{number}" for number in range(len(arrays))])

    def _read(self, table: pa.Table, values: int) -> tuple[Ints, list[Ints]]:
        arrays = arrays_of(table)
        keys, saved = arrays[:-values], arrays[-values:]
        numbers = self.numbers(keys, fingerprints(keys, len(table)))
        return numbers, [one.to_numpy() for one in saved]


def _widened(ends: Ints, payload: list[Values]) -> tuple[Ints, Ints, Ints]:
    """Changes of a queue: when, of which key, by how much."""
    numbers, deltas = payload
    return ends, numbers.astype(np.int64), deltas.astype(np.int64)
