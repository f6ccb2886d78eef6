"""Chain-Flush as it is defined: all that waits is looked at before each unit of work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.scheduling.chain import Chain
from penstock.scheduling.scheduler import Head
from penstock_bench.chain.model import SeesAll

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.scheduling.paths import Path
    from penstock_bench.chain.model import Part, Queues


class ExactChainFlush(SeesAll):
    """Chain on all blocks, or on those that together have no time to spare.

    Where operators cannot be interrupted, or queries share them, deadlines may be missed.
    """

    def __init__(self) -> None:
        self._chain = Chain()
        self._ready: set[int] = set()

    def sees(self, queues: Queues) -> None:
        """Take the queues."""
        self._queues = queues

    def replan(self, paths: Sequence[Path], operators: int) -> None:
        """Take the charts."""
        self._chain.replan(paths, operators)

    def waits(self, operator: int, head: Head | None) -> None:
        """Note whether an operator can run."""
        self._chain.waits(operator, head)
        self._ready -= {operator}
        if head is not None:
            self._ready |= {operator}

    def ran(self, operator: int, seconds: float) -> None:
        """Time spent does not count."""

    def choose(self, now: float) -> int | None:
        """Chain's choice among the blocks that have no time to spare; among all, if none do."""
        ready = [one for one in self._tight(now) if one.stage.operator in self._ready]
        if not ready:
            return self._chain.choose(now)
        return min(ready, key=self._rank).stage.operator

    def _rank(self, part: Part) -> tuple[float, ...]:
        return self._chain.rank(part.stage.operator, Head(part.arrival, part.sequence))

    def _tight(self, now: float) -> Iterable[Part]:
        """The fewest blocks, by deadline, whose work takes all the time until the last of theirs.

        Work on them keeps that so; once they are done, others are looked at.
        """
        waiting = sorted(self._queues.parts(), key=_deadline)
        work = 0.0
        for count, one in enumerate(waiting, 1):
            work += one.work
            if now + work >= _deadline(one)[0]:
                return waiting[:count]
        return waiting


def _deadline(part: Part) -> tuple[float, int]:
    return part.arrival + part.stage.latency, part.sequence
