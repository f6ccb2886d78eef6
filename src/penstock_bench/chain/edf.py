"""EDF: the block whose result is due first."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from penstock.scheduling.by_rank import ByRank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.scheduling.by_rank import Rank
    from penstock.scheduling.paths import Path
    from penstock.scheduling.scheduler import Head


class EarliestDeadline(ByRank):
    """It meets all deadlines that can be met, and takes as much memory as FIFO.

    Only to compare with: of what Chain-Flush does, it is the part that keeps the latency.
    """

    def plan(self, paths: Sequence[Path]) -> None:
        """Find the latency that is allowed to each operator."""
        self._allowed: dict[int, float] = {}
        for path in paths:
            for one in path.operators:
                least = self._allowed.get(one, inf)
                self._allowed[one] = min(least, inf if path.latency is None else path.latency)

    def rank(self, operator: int, head: Head) -> Rank:
        """The deadline, then the age of the block."""
        deadline = head.arrival + self._allowed.get(operator, inf)
        return (deadline, head.sequence, -operator)
