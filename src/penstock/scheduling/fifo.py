"""FIFO: a block to completion, in order of arrival."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.scheduling.by_rank import ByRank

if TYPE_CHECKING:
    from penstock.scheduling.by_rank import Rank
    from penstock.scheduling.scheduler import Head


class Fifo(ByRank):
    """The oldest block of all inputs, through its whole path; while it is blocked, the next."""

    def rank(self, operator: int, head: Head) -> Rank:
        """The number of the block; of several parts of one, the one that got furthest."""
        return (head.sequence, -operator)
