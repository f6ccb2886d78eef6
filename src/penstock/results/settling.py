"""Elements of a result become final as the query's clock passes: folded, commit by commit.

A lane may be ahead of the others, and so of the query's clock; what it says waits until then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.operators import Final
from penstock.algebra.patterns import Pattern
from penstock.operators.block import Block, concatenated
from penstock.operators.declared_state.state_part import DeclaredState
from penstock.operators.output.order_limit import order_codes
from penstock.operators.set.counted import CountedRows, Target
from penstock.operators.waiting import Waiting
from penstock.results.answer_kind import kind_of
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from penstock.algebra.plan import Plan
    from penstock.operators.operator import Segments
    from penstock.results.answer_kind import Kind


class Elements:
    """Elements as they come, whatever the clock."""

    def take_in(self, blocks: Sequence[Block], clock: int) -> Block | None:
        """New elements, and the query's clock: what there is to say since the last call."""
        del clock
        return concatenated(blocks) if blocks else None

    def segments(self) -> Segments:
        """The state, as Arrow."""
        return {}

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take it back; this is new."""


class Settling(Elements):
    """Elements wait until the clock has passed their beginning; then they are final."""

    def __init__(self) -> None:
        self._waiting = Waiting()
        self._state = DeclaredState(waiting=self._waiting)

    def take_in(self, blocks: Sequence[Block], clock: int) -> Block | None:
        """New elements, and the query's clock: what has become final since the last call."""
        for block in blocks:
            self._waiting.push(block)
        due = self._waiting.take(clock)
        return self._settled(concatenated(due) if due else None, clock)

    def _settled(self, due: Block | None, clock: int) -> Block | None:
        """The result of elements that began before the clock; all that ended before it is known."""
        raise NotImplementedError

    def segments(self) -> Segments:
        """The state, as Arrow."""
        return self._state.segments()

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take it back; this is new."""
        self._state.restore(segments)


class SentElements(Settling):
    """The elements that ISTREAM, DSTREAM or RSTREAM send out, in time order."""

    def _settled(self, due: Block | None, clock: int) -> Block | None:
        del clock
        return None if due is None else due.by_time()


class ChangingContent(Settling):
    """A changing result: the rows of the last final instant, and the net changes that led there.

    The rows are counted, each different row once, so what has ended is forgotten.

    Args:
        types: The types of the columns.
        span: How long rows live, about.
        partitions: Into how many parts a calendar queue divides that time.
    """

    def __init__(self, types: Sequence[pa.DataType], span: int, partitions: int) -> None:
        super().__init__()
        # Elements of several lanes come in no order of expiry, and may be withdrawn.
        patterns = [Pattern.STR]
        self._counted = CountedRows(list(types), patterns, Target.COPIES, span, partitions)
        self._state = DeclaredState(waiting=self._waiting, counted=self._counted.rows)

    def __len__(self) -> int:
        """The number of rows of the result."""
        counted = self._counted
        return int(counted.counts[counted.rows.live_slots(), 2].sum())

    def _settled(self, due: Block | None, clock: int) -> Block | None:
        """The net changes of each instant: a row that leaves before one that enters."""
        changes = self._counted.step([due], clock)
        order = order_of(changes.times, (changes.deltas > 0).astype(np.int64))
        places = np.repeat(order, np.abs(changes.deltas[order]))
        times = changes.times[places]
        sign = np.sign(changes.deltas[places]).astype(np.int8)
        block = Block(self._counted.rows.take(changes.slots[places]), times, times, sign)
        self._counted.release()
        return block if len(block) else None

    def current(self) -> tuple[pa.Array, ...]:
        """The rows that are valid at the last final instant, in the order of their values."""
        slots = self._counted.rows.live_slots()
        columns = self._counted.rows.take(np.repeat(slots, self._counted.counts[slots, 2]))
        if not columns or not len(columns[0]):
            return columns
        order = np.lexsort([order_codes(column) for column in reversed(columns)])
        return tuple(column.take(order) for column in columns)


def fold_for(plan: Plan, types: Sequence[pa.DataType], span: int, partitions: int) -> Elements:
    """An empty fold that makes of a query's elements what the query says.

    Args:
        plan: The query.
        types: The types of the columns of its result.
        span: How long its rows live, about.
        partitions: Into how many parts a calendar queue divides that time.
    """
    return fold_of(kind_of(plan), types, span, partitions)


def fold_of(kind: Kind, types: Sequence[pa.DataType], span: int, partitions: int) -> Elements:
    """The same for results of a kind."""
    if kind == "sent":
        return SentElements()
    return Elements() if kind == "ended" else ChangingContent(types, span, partitions)


def timed_fold_for(
    plan: Plan, types: Sequence[pa.DataType], span: int, partitions: int
) -> Elements:
    """The same for who wants to see results in time order, whatever kind they are of.

    Of rows that are told when they have ended these are net changes, too, up to where none that
    is still open begins: it does not matter how plans have cut them.
    """
    if isinstance(plan, Final):
        return ChangingContent(types, span, partitions)
    return fold_for(plan, types, span, partitions)
