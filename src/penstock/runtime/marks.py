"""Marks: how far the blocks reach that wait at the inputs of a station, and when they came."""

from __future__ import annotations

from collections import deque
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from penstock.scheduling.scheduler import Head

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

TOGETHER_ROWS = 4096
"""Blocks of one queue that have no more rows than this together are taken in one step."""
TOGETHER = 32
"""At most so many."""


class Mark(NamedTuple):
    """The end of a block in a queue: all rows of its input before an instant are there.

    Args:
        instant: No row behind the mark lies before it.
        head: The number and the arrival of the block of which the rows were made.
        rows: Those between the mark before and this one.
        nbytes: Their bytes.
        blocks: The number of blocks that became this one, as they were taken together.
    """

    instant: int
    head: Head
    rows: int = 0
    nbytes: int = 0
    blocks: int = 1


class PassedBlocks(NamedTuple):
    """The blocks that a step takes.

    Args:
        head: What is made of them came like this one.
        blocks: Their number; of a join, that of the input with most.
    """

    head: Head
    blocks: int


class Marks:
    """The marks at the inputs of a station; the rows wait in its queues.

    Most stations have one input, and each of their steps asks a few times: they are answered
    without looking for the input that is behind.

    Args:
        reached: By input, the instant to which steps have taken it in; it is kept up to date.

    Attributes:
        rows: Those that wait,
        nbytes: and their bytes.
    """

    def __init__(self, reached: list[int]) -> None:
        self.rows = 0
        self.nbytes = 0
        self._reached = reached
        self._ports: list[deque[Mark]] = [deque() for _ in reached]
        self._only = self._ports[0] if len(reached) == 1 else None

    def __len__(self) -> int:
        """The number of those that wait."""
        return sum(map(len, self._ports))

    def put(self, port: int, mark: Mark) -> bool:
        """A mark behind rows that came; one that tells nothing new is not kept.

        Returns:
            It is the first of its input, so that the head may be another one.
        """
        waiting = self._ports[port]
        if mark.instant <= (waiting[-1].instant if waiting else self._reached[port]):
            return False
        waiting.append(mark)
        self.rows += mark.rows
        self.nbytes += mark.nbytes
        return len(waiting) == 1

    def head(self, clock: int) -> Head | None:
        """The oldest block that waits; None: no step can be taken, as an input is waited for."""
        if self._only is not None:
            return self._only[0].head if self._only and self._only[0].instant > clock else None
        return None if self.target(clock) is None else _head(self._firsts(), min)

    def _firsts(self) -> list[Mark]:
        """The first mark of each input at which one waits."""
        return [one[0] for one in self._ports if one]

    def target(self, clock: int) -> int | None:
        """The instant to which the first marks allow a step: inputs go together in time."""
        if self._only is not None:
            instant = self._only[0].instant if self._only else self._reached[0]
            return instant if instant > clock else None
        found = None
        for port, waiting in enumerate(self._ports):
            instant = waiting[0].instant if waiting else self._reached[port]
            if instant <= clock:
                return None
            if found is None or instant < found:
                found = instant
        return found

    def next_stop(self, clock: int) -> int:
        """The instant to which the next step goes: the target, or a later one.

        Small blocks are taken together. There has to be a target.
        """
        if self._only is not None:
            waiting = self._only
            if len(waiting) == 1 or waiting[0].rows + waiting[1].rows > TOGETHER_ROWS:
                return waiting[0].instant
        target = self.target(clock)
        assert target is not None
        return self._extended(target) if any(len(one) > 1 for one in self._ports) else target

    def _extended(self, target: int) -> int:
        """A later instant to go to at once, if blocks are small."""
        ahead = [[one[at] for at in range(min(len(one), TOGETHER))] for one in self._ports]
        rows = 0
        following = target
        while True:
            for one in ahead:
                while one and one[0].instant <= following:
                    rows += one.pop(0).rows
            if following > target and rows > TOGETHER_ROWS:
                return target
            target = following
            if not all(ahead):
                return target
            following = min(one[0].instant for one in ahead)

    def passed(self, target: int) -> PassedBlocks:
        """Take away the marks up to an instant, which a step goes to.

        What it makes came when the last of the inputs did of which it is made.
        """
        if self._only is not None and len(self._only) == 1:
            (mark,) = self._only
            self._only.clear()
            self._reached[0] = max(target, self._reached[0])
            self.rows = self.nbytes = 0
            return PassedBlocks(mark.head, mark.blocks)
        firsts = self._firsts()
        taken = [one for one in firsts if one.instant <= target]
        made = _head(taken, max) if taken else _head(firsts, min)
        blocks = 1
        for port, waiting in enumerate(self._ports):
            if self._reached[port] < target:
                self._reached[port] = target
            found = 0
            while waiting and waiting[0].instant <= target:
                mark = waiting.popleft()
                self.rows -= mark.rows
                self.nbytes -= mark.nbytes
                found += mark.blocks
            blocks = max(blocks, found)
        return PassedBlocks(made, blocks)

    def forget(self) -> None:
        """Let the inputs have reached their last marks: nothing is taken block by block any more.

        What is left then waits for another input.
        """
        for port, waiting in enumerate(self._ports):
            if waiting:
                self._reached[port] = waiting[-1].instant
            waiting.clear()
        self.rows = self.nbytes = 0

    @property
    def last_sequence(self) -> int:
        """The greatest number of a block that waits; -1: none does."""
        return max((one.head.sequence for waiting in self._ports for one in waiting), default=-1)

    def tables(self) -> dict[str, pa.Table]:
        """The marks of the inputs at which some wait."""
        return {
            f"marks{port}": pa.Table.from_pylist([_saved(one) for one in waiting])
            for port, waiting in enumerate(self._ports)
            if waiting
        }

    def take_back(self, tables: Mapping[str, pa.Table]) -> None:
        """Put the marks of `tables` back; `reached` is as it was then."""
        for port in range(len(self._ports)):
            if f"marks{port}" in tables:
                for values in tables[f"marks{port}"].to_pylist():
                    head = Head(values.pop("arrival"), values.pop("sequence"))
                    self.put(port, Mark(head=head, **values))


def _saved(mark: Mark) -> dict[str, float]:
    """A mark as a row."""
    return {
        "instant": mark.instant,
        "sequence": mark.head.sequence,
        "arrival": mark.head.arrival,
        "rows": mark.rows,
        "nbytes": mark.nbytes,
        "blocks": mark.blocks,
    }


_sequence = attrgetter("head.sequence")


def _head(marks: Sequence[Mark], choose: Callable[..., Mark]) -> Head:
    """The head of one of some marks: by their numbers, the least or the greatest."""
    return (marks[0] if len(marks) == 1 else choose(marks, key=_sequence)).head


def have_marks(parts: Sequence[Mapping[str, pa.Table]]) -> bool:
    """Rows wait between stations in saved states of lanes."""
    return any(name.rpartition("/")[2].startswith("marks") for part in parts for name in part)
