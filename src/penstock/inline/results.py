"""What a running query answers: its current content and changes, or the rows it sends out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.patterns import Pattern
from penstock.inline.unread import Unread
from penstock.operators.block import Block, concatenated
from penstock.operators.counted import CountedRows, Target
from penstock.operators.ordering import order_codes
from penstock.operators.waiting import Waiting
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from penstock.operators.operator import Segments
    from penstock.planner.graph import Node


class Outcomes:
    """Elements as they come, until they are read; of EMIT FINAL that is all there is to read."""

    def __init__(self, keep: int) -> None:
        self.elements = Unread("elements()", keep)

    def take_in(self, blocks: Sequence[Block], clock: int) -> None:
        """New elements; what is before the clock is final."""
        del clock
        for block in blocks:
            self.elements.add(block)

    def segments(self) -> Segments:
        """The state, as Arrow."""
        return self.elements.segments("elements")

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take it back; this is new."""
        self.elements.restore(segments, "elements")


class SettledRows(Outcomes):
    """Besides, what is final: elements wait until the clock has passed their beginning.

    A lane may be ahead of the others, and so of the query's clock.
    """

    def __init__(self, keep: int) -> None:
        super().__init__(keep)
        self._waiting = Waiting()

    def take_in(self, blocks: Sequence[Block], clock: int) -> None:
        """New elements; what is before the clock is final."""
        super().take_in(blocks, clock)
        for block in blocks:
            self._waiting.push(block)
        due = self._waiting.take(clock)
        self._settle(concatenated(due) if due else None, clock)

    def _settle(self, block: Block | None, clock: int) -> None:
        """Elements that began before the clock; all that ended before it is known."""
        raise NotImplementedError

    def segments(self) -> Segments:
        """The state, as Arrow."""
        return super().segments() | self._waiting.segments("waiting")

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take it back; this is new."""
        super().restore(segments)
        self._waiting.restore(segments, "waiting")


class SentRows(SettledRows):
    """What ISTREAM, DSTREAM or RSTREAM send out, in time order."""

    def __init__(self, keep: int) -> None:
        super().__init__(keep)
        self.sent = Unread("emissions()", keep)

    def _settle(self, block: Block | None, clock: int) -> None:
        if block is not None:
            self.sent.add(block.by_time())

    def segments(self) -> Segments:
        """The state, as Arrow."""
        return super().segments() | self.sent.segments("sent")

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take it back; this is new."""
        super().restore(segments)
        self.sent.restore(segments, "sent")


class ChangingRows(SettledRows):
    """A query's result as it changes: the rows of the last final instant, and how they came to be.

    The rows are counted, each different row once, so what has ended is forgotten.
    """

    def __init__(self, node: Node, partitions: int, keep: int) -> None:
        super().__init__(keep)
        self.changes = Unread("changes()", keep)
        # Elements of several lanes come in no order of expiry, whatever the pattern of each.
        patterns = [Pattern.WK]
        self._counted = CountedRows(
            node.arrow_types, patterns, Target.COPIES, node.span, partitions
        )

    def __len__(self) -> int:
        """How many rows the result has."""
        counted = self._counted
        return int(counted.counts[counted.rows.live_slots(), 2].sum())

    def _settle(self, block: Block | None, clock: int) -> None:
        changes = self._counted.step([block], clock)
        order = order_of(changes.times, (changes.deltas > 0).astype(np.int64))
        places = np.repeat(order, np.abs(changes.deltas[order]))
        times = changes.times[places]
        sign = np.sign(changes.deltas[places]).astype(np.int8)
        self.changes.add(Block(self._counted.rows.take(changes.slots[places]), times, times, sign))
        self._counted.release()

    def current(self) -> tuple[pa.Array, ...]:
        """The rows that are valid at the last final instant, in the order of their values."""
        slots = self._counted.rows.live_slots()
        columns = self._counted.rows.take(np.repeat(slots, self._counted.counts[slots, 2]))
        if not columns or not len(columns[0]):
            return columns
        order = np.lexsort([order_codes(column) for column in reversed(columns)])
        return tuple(column.take(order) for column in columns)

    def segments(self) -> Segments:
        """The state, as Arrow."""
        counted = {f"counted/{name}": one for name, one in self._counted.segments().items()}
        return super().segments() | self.changes.segments("changes") | counted

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take it back; this is new."""
        super().restore(segments)
        self.changes.restore(segments, "changes")
        start = "counted/"
        own = {
            name.removeprefix(start): one
            for name, one in segments.items()
            if name.startswith(start)
        }
        self._counted.restore(own)
