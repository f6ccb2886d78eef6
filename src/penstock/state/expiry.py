"""Queues of what ends: entries come back in the order of their end, once the clock has passed it.

A FIFO for input that expires in the order it came (WKS), a calendar queue for any order (WK, STR).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa

from penstock.algebra.patterns import Pattern
from penstock.state.rows import grown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.state.arrays import Ints, Values

DEFAULT_PARTITIONS = 32
"""Partitions of a calendar queue; more make each smaller, and each block touches more of them."""


class ExpiryQueue(Protocol):
    """Entries, each with an end and payload values."""

    def push(self, ends: Ints, payload: Sequence[Values]) -> None:
        """Add entries."""

    def pop(self, clock: int) -> tuple[Ints, list[Values]]:
        """Take out all entries that end before the clock, by end."""

    def contents(self) -> tuple[Ints, list[Values]]:
        """All entries; pushing them into an empty queue restores it."""

    def __len__(self) -> int:
        """How many entries."""

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""


def expiry_queue(
    pattern: Pattern, types: Sequence[np.dtype[np.generic]], span: int, partitions: int
) -> ExpiryQueue:
    """The queue for input of a pattern; `span` is how long its rows live at most, about."""
    if pattern in (Pattern.MON, Pattern.WKS):
        return FifoQueue(types)
    return CalendarQueue(types, span, partitions)


def in_order(keys: Ints, payload: list[Values]) -> tuple[Ints, list[Values]]:
    """Entries by key, those of one key as they stood; most often they stand right already."""
    if len(keys) < 2 or bool((keys[1:] >= keys[:-1]).all()):
        return keys, payload
    order = np.argsort(keys, kind="stable")
    return keys[order], [values[order] for values in payload]


class FifoQueue:
    """Entries whose ends do not decrease from one push to the next: a stretch of an array.

    Rows that begin together may end apart (RANGE w SLIDE s): within a push any order will do.
    """

    def __init__(self, types: Sequence[np.dtype[np.generic]]) -> None:
        self._ends: Ints = np.zeros(0, np.int64)
        self._payload: list[Values] = [np.zeros(0, one) for one in types]
        self._head = 0
        self._tail = 0

    def __len__(self) -> int:
        return self._tail - self._head

    def push(self, ends: Ints, payload: Sequence[Values]) -> None:
        """Add entries, at the end of the array."""
        ends, payload = in_order(ends, list(payload))
        if self._tail + len(ends) > len(self._ends) and self._head >= len(self):
            self._shift()
        stop = self._tail + len(ends)
        self._ends = grown(self._ends, stop)
        self._ends[self._tail : stop] = ends
        for number, values in enumerate(payload):
            self._payload[number] = grown(self._payload[number], stop)
            self._payload[number][self._tail : stop] = values
        self._tail = stop

    def pop(self, clock: int) -> tuple[Ints, list[Values]]:
        """Take entries from the head."""
        live = self._ends[self._head : self._tail]
        stop = self._head + int(np.searchsorted(live, clock, side="left"))
        taken = self._slice(self._head, stop)
        self._head = stop
        return taken

    def contents(self) -> tuple[Ints, list[Values]]:
        """All entries."""
        return self._slice(self._head, self._tail)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self._ends.nbytes + sum(values.nbytes for values in self._payload)

    def _slice(self, start: int, stop: int) -> tuple[Ints, list[Values]]:
        return (
            self._ends[start:stop].copy(),
            [values[start:stop].copy() for values in self._payload],
        )

    def _shift(self) -> None:
        """Move the live stretch to the front; at most half of the array is alive."""
        ends, payload = self.contents()
        room = max(2 * len(ends), 64)
        self._ends = grown(ends, room)
        self._payload = [grown(values, room) for values in payload]
        self._head, self._tail = 0, len(ends)


class CalendarQueue:
    """A circular array of partitions by end; a partition is put in order when its time comes.

    Entries further ahead than one round wait in their partition for a later round.
    """

    def __init__(self, types: Sequence[np.dtype[np.generic]], span: int, partitions: int) -> None:
        self._types = tuple(types)
        self._count = max(partitions, 1)
        self._width = max(-(-span // self._count), 1)
        self._partitions = [_Partition(self._types) for _ in range(self._count)]
        self._size = 0
        self._reached: int | None = None

    def __len__(self) -> int:
        return self._size

    def push(self, ends: Ints, payload: Sequence[Values]) -> None:
        """Add each entry to the partition of its end."""
        if not len(ends):
            return
        days = ends // self._width
        earliest = int(days.min())
        self._reached = earliest if self._reached is None else min(earliest, self._reached)
        numbers = days % self._count
        numbers, (ends, *payload) = in_order(numbers, [ends, *payload])
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        for start, stop in zip(starts, np.append(starts[1:], len(ends)), strict=True):
            part = [values[start:stop].copy() for values in payload]
            self._partitions[int(numbers[start])].add(ends[start:stop].copy(), part)
        self._size += len(ends)

    def pop(self, clock: int) -> tuple[Ints, list[Values]]:
        """Take entries from the partitions up to the clock's own."""
        empty: tuple[Ints, list[Values]] = (
            np.zeros(0, np.int64),
            [np.zeros(0, one) for one in self._types],
        )
        if not self._size or self._reached is None:
            self._reached = None
            return empty
        today = (clock - 1) // self._width
        if today < self._reached:
            return empty
        days = range(self._reached, min(today, self._reached + self._count - 1) + 1)
        self._reached = today
        taken = [self._partitions[day % self._count].take(clock) for day in days]
        ends = np.concatenate([part[0] for part in taken])
        payload = [
            np.concatenate([part[1][number] for part in taken])
            for number in range(len(self._types))
        ]
        self._size -= len(ends)
        # Within one round partitions follow each other in time; over more, rounds mix.
        return in_order(ends, payload)

    def contents(self) -> tuple[Ints, list[Values]]:
        """All entries, partition by partition."""
        parts = [partition.contents() for partition in self._partitions]
        return (
            np.concatenate([part[0] for part in parts]),
            [
                np.concatenate([part[1][number] for part in parts])
                for number in range(len(self._types))
            ],
        )

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return sum(partition.nbytes for partition in self._partitions)


class _Partition:
    """The entries of one partition: an ordered stretch, and what came since it was ordered."""

    def __init__(self, types: Sequence[np.dtype[np.generic]]) -> None:
        self._types = types
        self._ends: Ints = np.zeros(0, np.int64)
        self._payload: list[Values] = [np.zeros(0, one) for one in types]
        self._head = 0
        self._added: list[tuple[Ints, list[Values]]] = []

    def add(self, ends: Ints, payload: list[Values]) -> None:
        self._added.append((ends, payload))

    def take(self, clock: int) -> tuple[Ints, list[Values]]:
        """Entries that end before the clock, by end."""
        self._arrange()
        stop = int(np.searchsorted(self._ends, clock, side="left"))
        taken = self._ends[self._head : stop], [one[self._head : stop] for one in self._payload]
        self._head = stop
        if stop == len(self._ends):
            self._ends, self._head = np.zeros(0, np.int64), 0
            self._payload = [np.zeros(0, one) for one in self._types]
        return taken

    def contents(self) -> tuple[Ints, list[Values]]:
        """All entries."""
        self._arrange()
        return self._ends[self._head :], [values[self._head :] for values in self._payload]

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        parts = [(self._ends, self._payload), *self._added]
        return sum(ends.nbytes + sum(one.nbytes for one in payload) for ends, payload in parts)

    def _arrange(self) -> None:
        """Put what came since into the ordered stretch."""
        if not self._added:
            return
        parts = [(self._ends[self._head :], [one[self._head :] for one in self._payload])]
        parts += self._added
        ends = np.concatenate([part[0] for part in parts])
        payload = [
            np.concatenate([part[1][number] for part in parts])
            for number in range(len(self._types))
        ]
        self._ends, self._payload = in_order(ends, payload)
        self._head, self._added = 0, []


def queue_table(queue: ExpiryQueue) -> pa.Table:
    """The entries of a queue as a table."""
    ends, payload = queue.contents()
    columns = {"end": pa.array(ends)}
    columns |= {f"payload{number}": pa.array(values) for number, values in enumerate(payload)}
    return pa.table(columns)


def restore_queue(queue: ExpiryQueue, table: pa.Table) -> None:
    """Fill an empty queue with the entries of a table."""
    columns = [column.combine_chunks().to_numpy(zero_copy_only=False) for column in table.columns]
    queue.push(columns[0], columns[1:])
