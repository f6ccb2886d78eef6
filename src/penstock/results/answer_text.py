"""The answer of a query as text: its columns, then a line a row, portion by portion.

Columns are as wide as the widest cell so far, and are set anew with each portion. So an answer of
at most a portion has the same columns throughout, and a longer one need not be there as a whole
before its first lines are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.streams import RelationToStream, is_ordered
from penstock.algebra.values import NO_RESULTS, NO_ROWS
from penstock.operators.block import Block, concatenated
from penstock.results.answer_kind import unit_of
from penstock.results.lines import RowsWithIntervals, TimedRows, text_of
from penstock.results.validity import Validities
from penstock.results.value_order import by_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from penstock.algebra.plan import Plan
    from penstock.results.lines import Layout

PORTION = 65_536
"""Rows that are put into columns at once."""


class Portions:
    """Rows of any number of blocks, so many at a time."""

    def __init__(self, rows: int) -> None:
        self._size = rows
        self._blocks: list[Block] = []
        self._rows = 0

    def add(self, block: Block) -> Iterator[Block]:
        """Further rows; the portions that are full then."""
        self._blocks.append(block)
        self._rows += len(block)
        if self._rows < self._size:
            return
        rows = concatenated(self._blocks)
        for start in range(0, len(rows) - self._size + 1, self._size):
            yield rows.stretch(start, start + self._size)
        rest = len(rows) % self._size
        self._blocks = [rows.take(np.arange(len(rows) - rest, len(rows)))] if rest else []
        self._rows = rest

    def rest(self) -> Iterator[Block]:
        """The rows that no portion was made of."""
        blocks, self._blocks, self._rows = self._blocks, [], 0
        if blocks:
            yield concatenated(blocks)


class AnswerText:
    """The answer of a query as text, while its results come, whether they end or go on.

    Args:
        plan: The query.
        title: Its name, if it has one.
        intervals: Whether rows are shown with the time in which they hold, rather than changes.
        portion: So many rows are put into columns at once.
    """

    def __init__(
        self, plan: Plan, title: str | None, *, intervals: bool = False, portion: int = PORTION
    ) -> None:
        self._head = headline(plan, title)
        self._is_head_due = True
        self._is_begun = False
        sends = isinstance(plan, RelationToStream)
        self._is_ordered = sends and is_ordered(plan.children[0])
        self._validities = Validities(portion) if intervals else None
        self._layout: Layout = (
            RowsWithIntervals(plan) if intervals else TimedRows(plan, signed=not sends)
        )
        self._portions = Portions(portion)

    def add(self, block: Block) -> Iterator[str]:
        """Net changes or rows sent out, in time order; the text that is ready then."""
        yield from self._shown(self._arranged(block))

    def flush(self) -> Iterator[str]:
        """The text of all that is known so far, for who cannot wait until it fills a portion."""
        if self._validities is not None:
            yield from self._shown(self._validities.flush())
        yield from self._rest()

    def end(self) -> Iterator[str]:
        """All has come: the text that is left."""
        if self._validities is not None:
            yield from self._shown(self._validities.end())
        yield from self._rest()
        if not self._is_begun:
            yield self._head if self._validities is not None else f"{self._head}\n{NO_RESULTS}"

    def name_columns(self) -> None:
        """Another text was printed since the last one: the next one stands for itself."""
        self._is_head_due = True
        self._layout.begin()

    def pass_over(self, block: Block) -> None:
        """The next net changes, which were printed before this text was begun."""
        if self._validities is not None:
            self._validities.add(block)
            self._validities.flush()

    def _rest(self) -> Iterator[str]:
        for portion in self._portions.rest():
            yield self._text(portion)

    def _arranged(self, block: Block) -> Block | None:
        if self._validities is not None:
            return self._validities.add(block)
        # Lanes send rows of one instant in any order, unless the query gives them one.
        return block if self._is_ordered else by_value(block)

    def _shown(self, rows: Block | None) -> Iterator[str]:
        if rows is not None:
            for portion in self._portions.add(rows):
                yield self._text(portion)

    def _text(self, portion: Block) -> str:
        text = text_of(self._layout.lines(portion))
        if self._is_head_due:
            text = f"{self._head}\n{text}"
        self._is_head_due, self._is_begun = False, True
        return text


def snapshot_text(
    plan: Plan, title: str | None, instant: int, columns: tuple[pa.Array, ...]
) -> Iterator[str]:
    """The rows that hold at an instant, as text."""
    yield headline(plan, title)
    at = np.full(len(columns[0]), instant, np.int64)
    if not len(at):
        yield f"@{unit_of(plan).format(instant)}  {NO_ROWS}"
    rows, layout = Block(columns, at, at), TimedRows(plan, signed=False)
    for start in range(0, len(at), PORTION):
        yield text_of(layout.lines(rows.stretch(start, min(start + PORTION, len(at)))))


def headline(plan: Plan, title: str | None) -> str:
    """The columns of a query, behind its name if it has one."""
    columns = " | ".join(plan.schema.names)
    return f"{title}: {columns}" if title else columns
