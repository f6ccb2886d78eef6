"""The results of a query that runs in this process: elements as they came, as many as are kept."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra.time import BEGINNING
from penstock.errors import DataError, count
from penstock.operators.block import concatenated, from_table, to_table
from penstock.store.contents import folded
from penstock.store.result_reader import Commit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from threading import RLock

    from penstock.operators.block import Block
    from penstock.operators.operator import Segments
    from penstock.results.settling import Elements

JOINED = 64
"""So many steps in a row become one,"""
JOINED_ROWS = 1 << 16
"""unless they have more elements than this."""
_NUMBERS = itertools.count()


@dataclass(frozen=True, slots=True)
class LoggedStep:
    """Elements that came together, the last of which is before number `end`, and the clock then."""

    end: int
    clock: int
    block: Block | None

    @property
    def start(self) -> int:
        """The number of its first element."""
        return self.end - (0 if self.block is None else len(self.block))


class ElementLog:
    """The elements of a query, numbered from 0 on; the last `keep` of them, or somewhat more.

    A query may run for ever without being read, so the oldest are forgotten. Of a relation, what is
    left of them is kept: elements that make the same snapshots from then on.

    Attributes:
        number: That of no other log.
        end: How many elements have come.
        clock: The query's clock.
        left: What is left of the elements that were forgotten.
        left_clock: The clock when the last of them came.
        is_over: Whether no elements will follow.
    """

    def __init__(self, keep: int, *, has_content: bool) -> None:
        self.number = next(_NUMBERS)
        self.end = 0
        self.clock = BEGINNING
        self.left: Block | None = None
        self.left_clock = BEGINNING
        self.is_over = False
        self._keep = keep
        self._has_content = has_content
        self._steps: list[LoggedStep] = []

    @property
    def first(self) -> int:
        """The number of the first element that is kept."""
        return self._steps[0].start if self._steps else self.end

    def add(self, blocks: Sequence[Block], clock: int) -> None:
        """Elements that come, and the query's clock since then."""
        came = [one for one in blocks if len(one)]
        if not came and clock == self.clock:
            return
        block = concatenated(came) if came else None
        self.end += 0 if block is None else len(block)
        self.clock = clock
        if self._steps and self._steps[-1].block is None:
            # The clock alone says nothing that the next one does not say.
            self._steps.pop()
        self._steps.append(LoggedStep(self.end, clock, block))
        self._join()
        if self.end - self.first > self._keep + self._keep // 4:
            self._forget()

    def _join(self) -> None:
        """Make one step of many small ones: each has its price in memory."""
        if len(self._steps) % JOINED:
            return
        last = self._steps[-JOINED:]
        blocks = [one.block for one in last if one.block is not None]
        if sum(map(len, blocks)) < min(JOINED_ROWS, self._keep // 8):
            self._steps[-JOINED:] = [LoggedStep(self.end, self.clock, concatenated(blocks))]

    def _forget(self) -> None:
        """Forget the oldest steps, as long as enough elements are kept."""
        gone = [] if self.left is None else [self.left]
        while self.end - self._steps[0].end >= self._keep:
            oldest = self._steps.pop(0)
            assert oldest.block is not None
            gone.append(oldest.block)
            self.left_clock = oldest.clock
        if self._has_content and self.left_clock > BEGINNING:
            self.left = folded(gone, self.left_clock)
        else:
            waiting = [one.take(one.ts >= self.left_clock) for one in gone]
            self.left = concatenated(waiting) if any(map(len, waiting)) else None

    def after(self, number: int, clock: int) -> LoggedStep | None:
        """The next elements from a number on, or a later clock."""
        for step in self._steps:
            if step.end > number:
                block = step.block
                assert block is not None
                return LoggedStep(
                    step.end, step.clock, block.stretch(max(number - step.start, 0), len(block))
                )
            if step.clock > clock:
                return LoggedStep(step.end, step.clock, None)
        return None

    def steps(self) -> Iterator[tuple[list[Block], int]]:
        """All that is kept: elements, and the clock with which they came."""
        yield ([] if self.left is None else [self.left]), self.left_clock
        for step in self._steps:
            yield ([] if step.block is None else [step.block]), step.clock

    def segments(self) -> Segments:
        """The state, as Arrow."""
        made = {
            "steps": pa.table(
                {
                    "end": pa.array([self.end, *(one.end for one in self._steps)], pa.int64()),
                    "clock": pa.array(
                        [self.left_clock, *(one.clock for one in self._steps)], pa.int64()
                    ),
                }
            )
        }
        blocks = [one.block for one in self._steps if one.block is not None]
        if blocks:
            made["elements"] = to_table(concatenated(blocks))
        if self.left is not None:
            made["left"] = to_table(self.left)
        return made

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take it back; this is new."""
        ends = segments["steps"]["end"].to_pylist()
        clocks = segments["steps"]["clock"].to_pylist()
        self.end, self.left_clock = ends[0], clocks[0]
        self.clock = clocks[-1]
        if "left" in segments:
            self.left = from_table(segments["left"])
        whole = from_table(segments["elements"]) if "elements" in segments else None
        place = self.end - (0 if whole is None else len(whole))
        before = place
        for end, clock in zip(ends[1:], clocks[1:], strict=True):
            block = None if whole is None else whole.stretch(before - place, end - place)
            self._steps.append(LoggedStep(end, clock, block if end > before else None))
            before = end


class LogReader:
    """Folds the elements of a log; how far it has come is the number of the next element.

    Args:
        log: The elements.
        lock: Held while anything changes.
        look: Called before elements are read: what has been read is final.
        fold: Makes an empty fold.
    """

    def __init__(
        self,
        log: ElementLog,
        lock: RLock,
        look: Callable[[], None],
        fold: Callable[[], Elements],
    ) -> None:
        self._log = log
        self._lock = lock
        self._look = look
        self._make = fold
        self._begin()

    def _begin(self) -> None:
        self.fold = self._make()
        self._number: int | None = None
        self._clock = BEGINNING

    def read(self) -> Iterator[Commit]:
        """The commits since the last call; those without rows are left out.

        Raises:
            DataError: Elements were forgotten that were not read; the next call begins anew with
                what is kept.
        """
        with self._lock:
            self._look()
        while (step := self._next()) is not None:
            blocks, end, clock = step
            block = self.fold.take_in(blocks, clock)
            self._number, self._clock = end, clock
            if block is not None and len(block):
                yield Commit(end, clock, block)

    def _next(self) -> tuple[list[Block], int, int] | None:
        with self._lock:
            log = self._log
            if self._number is None:
                return ([] if log.left is None else [log.left]), log.first, log.left_clock
            if self._number < log.first:
                gone = log.first - self._number
                self._begin()
                msg = f"{count(gone, 'result')} were forgotten before they were read"
                hint = (
                    "Read more often, or connect_inline(keep=...) with more. The next call begins"
                    " with what is kept."
                )
                raise DataError(msg, hint=hint)
            found = log.after(self._number, self._clock)
        if found is None:
            return None
        return ([] if found.block is None else [found.block]), found.end, found.clock

    def catch_up(self) -> None:
        """Take in all that is there, whatever is left of it."""
        with self._lock:
            if self._number is not None and self._number < self._log.first:
                self._begin()
            for _ in self.read():
                pass
