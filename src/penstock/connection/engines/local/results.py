"""What a running query answers: its current content and changes, or the rows it sends out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.connection.engines.local.unread import Unread
from penstock.results.settling import Content, Sending

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from penstock.operators.block import Block
    from penstock.operators.operator import Segments
    from penstock.planner.physical.graph import Node


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


class SentRows(Outcomes):
    """What ISTREAM, DSTREAM or RSTREAM send out, in time order, until it is read."""

    def __init__(self, keep: int) -> None:
        super().__init__(keep)
        self.sent = Unread("emissions()", keep)
        self._sending = Sending()

    def take_in(self, blocks: Sequence[Block], clock: int) -> None:
        """New elements; what is before the clock is final."""
        super().take_in(blocks, clock)
        final = self._sending.take_in(blocks, clock)
        if final is not None:
            self.sent.add(final)

    def segments(self) -> Segments:
        """The state, as Arrow."""
        return super().segments() | self._sending.segments() | self.sent.segments("sent")

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take it back; this is new."""
        super().restore(segments)
        self._sending.restore(segments)
        self.sent.restore(segments, "sent")


class ChangingRows(Outcomes):
    """A query's result as it changes: the rows of the last final instant, and how they came to be.

    Changes wait until they are read.
    """

    def __init__(self, node: Node, partitions: int, keep: int) -> None:
        super().__init__(keep)
        self.changes = Unread("changes()", keep)
        self._content = Content(node.arrow_types, node.span, partitions)

    def __len__(self) -> int:
        """How many rows the result has."""
        return len(self._content)

    def take_in(self, blocks: Sequence[Block], clock: int) -> None:
        """New elements; what is before the clock is final."""
        super().take_in(blocks, clock)
        final = self._content.take_in(blocks, clock)
        if final is not None:
            self.changes.add(final)

    def current(self) -> tuple[pa.Array, ...]:
        """The rows that are valid at the last final instant, in the order of their values."""
        return self._content.current()

    def segments(self) -> Segments:
        """The state, as Arrow."""
        return super().segments() | self.changes.segments("changes") | self._content.segments()

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take it back; this is new."""
        super().restore(segments)
        self.changes.restore(segments, "changes")
        self._content.restore(segments)
