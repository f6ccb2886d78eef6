"""Queues of what ends: entries come back in the order of their end, once the clock has passed it.

A FIFO for input that expires in the order it came (WKS), a calendar queue for any order (WK, STR).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Protocol

import numpy as np

from penstock.algebra.patterns import Pattern
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.state.arrays import Ints, Values

DEFAULT_PARTITIONS = 32
"""Partitions of a calendar queue; more make each smaller, and each block touches more of them."""
_PARTITION_ENTRIES = 512
"""A partition of fewer entries costs more to touch than to go through."""
_FADING = 0.75
"""The weight of a long stride of the clock at the next."""
_LEAST_PIECE, _MOST_PIECE = 64, 1 << 14
"""Entries of a piece of a FIFO."""


class ExpiryQueue(Protocol):
    """Entries, each with an end and payload values."""

    def push(self, ends: Ints, payload: Sequence[Values]) -> None:
        """Add entries."""

    def pop(self, clock: int) -> tuple[Ints, list[Values]]:
        """Take out all entries that end before the clock, by end."""

    def contents(self) -> tuple[Ints, list[Values]]:
        """All entries; pushing them into an empty queue restores it."""

    def renumber(self, numbers: Ints, column: int = 0) -> None:
        """Write `numbers[n]` over every number n in a column of the payload."""

    def __len__(self) -> int:
        """The number of entries."""

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
    order = order_of(keys)
    return keys[order], [values[order] for values in payload]


class FifoQueue:
    """Entries whose ends do not decrease from one push to the next: a row of pieces of arrays.

    Rows that begin together may end apart (RANGE w SLIDE s): within a push any order will do.
    A piece goes when all of it has been taken, so what is not in use is less than two pieces.
    """

    def __init__(self, types: Sequence[np.dtype[np.generic]]) -> None:
        self._types = (np.dtype(np.int64), *types)
        self._pieces: deque[list[Values]] = deque()
        # Where the first piece begins and the last one ends.
        self._head = 0
        self._tail = 0
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def push(self, ends: Ints, payload: Sequence[Values]) -> None:
        """Add entries behind the last."""
        ends, payload = in_order(ends, list(payload))
        columns = [ends, *payload]
        done = self._fill(columns, 0) if self._pieces else 0
        while done < len(ends):
            room = min(max(len(ends) - done, self._size // 16, _LEAST_PIECE), _MOST_PIECE)
            self._pieces.append([np.empty(room, one) for one in self._types])
            self._tail = 0
            done = self._fill(columns, done)
        self._size += len(ends)

    def pop(self, clock: int) -> tuple[Ints, list[Values]]:
        """Take entries from the first pieces."""
        taken: list[list[Values]] = []
        while self._pieces:
            piece = self._pieces[0]
            stop = self._stop(0)
            reached = self._head + int(piece[0][self._head : stop].searchsorted(clock))
            taken.append([values[self._head : reached] for values in piece])
            self._head = reached
            if reached < stop:
                break
            self._pieces.popleft()
            self._head = 0
        ends, payload = self._joined(taken)
        self._size -= len(ends)
        return ends, payload

    def contents(self) -> tuple[Ints, list[Values]]:
        """All entries."""
        return self._joined(self._filled())

    def renumber(self, numbers: Ints, column: int = 0) -> None:
        """Write `numbers[n]` over every number n in a column of the payload."""
        for _, *payload in self._filled():
            payload[column][:] = numbers[payload[column]]

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return sum(values.nbytes for piece in self._pieces for values in piece)

    def _filled(self) -> list[list[Values]]:
        """The filled part of each piece."""
        heads = [self._head, *[0] * len(self._pieces)]
        return [
            [values[heads[number] : self._stop(number)] for values in piece]
            for number, piece in enumerate(self._pieces)
        ]

    def _stop(self, number: int) -> int:
        """Up to where a piece is filled."""
        is_last = number == len(self._pieces) - 1
        return self._tail if is_last else len(self._pieces[number][0])

    def _fill(self, columns: list[Values], start: int) -> int:
        """Write entries from `start` on into the last piece; the first for which is no room."""
        piece = self._pieces[-1]
        stop = min(len(columns[0]), start + len(piece[0]) - self._tail)
        until = self._tail + stop - start
        for kept, values in zip(piece, columns, strict=True):
            kept[self._tail : until] = values[start:stop]
        self._tail = until
        return stop

    def _joined(self, parts: list[list[Values]]) -> tuple[Ints, list[Values]]:
        nothing = [np.zeros(0, one) for one in self._types]
        columns = zip(*(parts or [nothing]), strict=True)
        ends, *payload = (np.concatenate(column) for column in columns)
        return ends, payload


class CalendarQueue:
    """A circular array of partitions by end; a partition is put in order when its time comes.

    Entries further ahead than one round wait in their partition for a later round. While there are
    few entries, or the clock goes on by several partitions at a time, there are fewer partitions.
    """

    def __init__(self, types: Sequence[np.dtype[np.generic]], span: int, partitions: int) -> None:
        self._types = tuple(types)
        self._span = span
        self._most = max(partitions, 1)
        self._clock: int | None = None
        # By how much the clock goes on, about.
        self._stride = 0.0
        self._divide(1)

    def _divide(self, count: int) -> None:
        """Begin anew with so many partitions."""
        self._count = count
        self._width = max(-(-self._span // count), 1)
        self._partitions = [Partition(self._types) for _ in range(count)]
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
            part = [
                values[start:stop].astype(one)
                for values, one in zip(payload, self._types, strict=True)
            ]
            self._partitions[int(numbers[start])].add(ends[start:stop].copy(), part)
        self._size += len(ends)
        self._fit()

    def _fit(self) -> None:
        """Have as many partitions as the entries are worth."""
        touched = self._span / self._stride if self._stride else self._most
        wanted = int(max(min(self._size // _PARTITION_ENTRIES, touched, self._most), 1))
        if (
            wanted >= 2 * self._count
            or 4 * wanted <= self._count
            or wanted == self._most > self._count
        ):
            ends, payload = self.contents()
            self._divide(wanted)
            self.push(ends, payload)

    def pop(self, clock: int) -> tuple[Ints, list[Values]]:
        """Take entries from the partitions up to the clock's own."""
        self._go_on(clock)
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

    def _go_on(self, clock: int) -> None:
        """Remember how far the clock goes; a step may ask for what ended several times."""
        if self._clock is not None:
            self._stride = max(float(clock - self._clock), _FADING * self._stride)
        self._clock = clock

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

    def renumber(self, numbers: Ints, column: int = 0) -> None:
        """Write `numbers[n]` over every number n in a column of the payload."""
        for partition in self._partitions:
            partition.renumber(numbers, column)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return sum(partition.nbytes for partition in self._partitions)


class Partition:
    """The entries of one partition: an ordered stretch, and what came since it was ordered."""

    def __init__(self, types: Sequence[np.dtype[np.generic]]) -> None:
        self._types = types
        self._ends: Ints = np.zeros(0, np.int64)
        self._payload: list[Values] = [np.zeros(0, one) for one in types]
        self._head = 0
        self._added: list[tuple[Ints, list[Values]]] = []

    def __len__(self) -> int:
        return len(self._ends) - self._head + sum(len(ends) for ends, _ in self._added)

    def add(self, ends: Ints, payload: list[Values]) -> None:
        """Add entries, in any order."""
        self._added.append((ends, payload))

    def take(self, clock: int) -> tuple[Ints, list[Values]]:
        """Entries that end before the clock, by end."""
        self._arrange()
        stop = int(np.searchsorted(self._ends, clock, side="left"))
        taken = self._ends[self._head : stop], [one[self._head : stop] for one in self._payload]
        self._head = stop
        if 2 * stop >= len(self._ends):
            # What is left, most often entries of the next round, may have to wait for long.
            self._ends, self._head = self._ends[stop:].copy(), 0
            self._payload = [one[stop:].copy() for one in self._payload]
        return taken

    def contents(self) -> tuple[Ints, list[Values]]:
        """All entries, in no order."""
        return self._joined(self._parts())

    def renumber(self, numbers: Ints, column: int) -> None:
        """Write `numbers[n]` over every number n in a column of the payload."""
        for _, payload in self._parts():
            payload[column][:] = numbers[payload[column]]

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        parts = [(self._ends, self._payload), *self._added]
        return sum(ends.nbytes + sum(one.nbytes for one in payload) for ends, payload in parts)

    def _arrange(self) -> None:
        """Put what came since into the ordered stretch."""
        if self._added:
            self._ends, self._payload = in_order(*self._joined(self._parts()))
            self._head, self._added = 0, []

    def _parts(self) -> list[tuple[Ints, list[Values]]]:
        """The ordered stretch, and what came since."""
        ordered = self._ends[self._head :], [one[self._head :] for one in self._payload]
        return [ordered, *self._added]

    def _joined(self, parts: list[tuple[Ints, list[Values]]]) -> tuple[Ints, list[Values]]:
        ends = np.concatenate([part[0] for part in parts])
        numbers = range(len(self._types))
        return ends, [np.concatenate([part[1][number] for part in parts]) for number in numbers]
