"""Round-robin: each operator in turn, for a quantum of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.scheduling.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.scheduling.paths import Path
    from penstock.scheduling.scheduler import Head

ROUNDING = 1e-9
"""The share of a quantum that sums of times may lack."""


class RoundRobin:
    """Operators in a cycle; one has its turn until its quantum is spent or nothing waits for it.

    No operator is left waiting for ever. With a quantum of one block it would be FIFO on a single
    path.

    Args:
        quantum: Seconds of a turn; long enough for several blocks.
    """

    def __init__(self, quantum: float) -> None:
        self._quantum = quantum * (1 - ROUNDING)
        self._turns: Ranking[tuple[int, int]] = Ranking()
        self._now = (0, -1)
        self._spent = 0.0

    def replan(self, paths: Sequence[Path], operators: int) -> None:
        """Forget the operators that are gone; charts do not count."""
        for one in self._turns.members():
            if one >= operators:
                self._turns.remove(one)

    def waits(self, operator: int, head: Head | None) -> None:
        """Give an operator a place in the cycle, behind the one whose turn it is."""
        if head is None:
            self._turns.remove(operator)
        elif operator not in self._turns:
            cycle, last = self._now
            self._turns.put(operator, (cycle + (operator <= last), operator))

    def ran(self, operator: int, seconds: float) -> None:
        """Spend the quantum; when nothing is left of it, the turn is over."""
        cycle, last = self._now
        if operator != last:
            return
        self._spent += seconds
        if self._spent >= self._quantum:
            self._spent = 0.0
            if operator in self._turns:
                self._turns.put(operator, (cycle + 1, operator))

    def choose(self, now: float) -> int | None:
        """The one whose turn it is."""
        first = self._turns.first()
        if first is not None and self._turns.key(first) != self._now:
            self._now, self._spent = self._turns.key(first), 0.0
        return first
