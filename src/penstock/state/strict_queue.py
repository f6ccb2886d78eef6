"""The queue for ends of rows that may be withdrawn: its kind depends on how many are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.cancelling import DELTA, SLOT, CancellingQueue
from penstock.state.expiry import CalendarQueue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.state.arrays import Ints, Values
    from penstock.state.expiry import ExpiryQueue

OFTEN, SELDOM = 1 / 4, 1 / 8
"""Shares of ends that are withdrawn, above and below which the other kind of queue takes over."""
REMEMBERED = 4096
"""Ends by which the share is measured; beyond so many, the older ones count half."""


class StrictQueue:
    """A calendar queue while rows live to their end, one in which ends cancel out while not.

    In a calendar queue a withdrawal is an entry like any other, and cancels the end of what it
    withdraws only when both come out. That is less work, unless many rows are withdrawn. Which
    share is, is measured as they come; what waits moves when the other kind is better by now.

    Args:
        span: How long it is until entries end, at most, about.
        partitions: Into how many parts that time is divided.
    """

    def __init__(self, span: int, partitions: int) -> None:
        self._span = span
        self._partitions = partitions
        self._queue: ExpiryQueue = self._calendar()
        self._ends = self._withdrawn = 0

    def __len__(self) -> int:
        return len(self._queue)

    def push(self, ends: Ints, payload: Sequence[Values]) -> None:
        """Add entries: slots, and by how much their copies change then."""
        if self._ends > REMEMBERED:
            self._choose()
            self._ends //= 2
            self._withdrawn //= 2
        self._queue.push(ends, payload)
        withdrawn = int(np.count_nonzero(payload[1] > 0))
        self._ends += len(ends) - withdrawn
        self._withdrawn += withdrawn

    def pop(self, clock: int) -> tuple[Ints, list[Values]]:
        """Take out all entries that end before the clock, by end."""
        return self._queue.pop(clock)

    def contents(self) -> tuple[Ints, list[Values]]:
        """All entries; pushing them into an empty queue restores it."""
        return self._queue.contents()

    def renumber(self, numbers: Ints, column: int = 0) -> None:
        """Write `numbers[n]` over every slot n."""
        self._queue.renumber(numbers, column)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self._queue.nbytes

    @property
    def structure(self) -> str:
        """The structure that entries are kept in now, in the words of EXPLAIN."""
        return "hashed" if self._is_cancelling else f"calendar({self._partitions})"

    @property
    def _is_cancelling(self) -> bool:
        return isinstance(self._queue, CancellingQueue)

    def _calendar(self) -> CalendarQueue:
        return CalendarQueue((SLOT, DELTA), self._span, self._partitions)

    def _choose(self) -> None:
        """Let the other kind take over if it is better for what came last."""
        share, was_cancelling = self._withdrawn / self._ends, self._is_cancelling
        is_better = share < SELDOM if was_cancelling else share > OFTEN
        if is_better:
            waiting = self._queue.contents()
            self._queue = (
                self._calendar()
                if was_cancelling
                else CancellingQueue(self._span, self._partitions)
            )
            self._queue.push(*waiting)
