"""Schedulers: which operator runs next.

The order of work changes how much waits in queues, and for how long; it never changes a result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.scheduling.paths import Path


class Head(NamedTuple):
    """The oldest block that waits before an operator, whatever has been made of it on the way.

    Args:
        arrival: The instant at which its oldest row came in, in seconds of the clock of `choose`.
        sequence: Its number among all blocks that came in, of all inputs. What an operator makes
            of a block keeps its number.
    """

    arrival: float
    sequence: int


class Scheduler(Protocol):
    """Chooses operators, one after the other, by what it is told of them.

    Operators are numbered, inputs before what reads them. The queues are the caller's: he tells
    the scheduler the head of an operator whenever it changes, and asks whenever an operator has
    finished a block, after he has told it all that this changed, and what has come since. A choice
    and each of these calls cost O(log n) for n operators at most, however many blocks wait;
    `replan` alone may look at all of them.
    """

    def replan(self, paths: Sequence[Path], operators: int) -> None:
        """Go on with these paths, as charts or queries have changed; between two choices.

        What was told of heads stays true of operators that are still there.

        Args:
            paths: All ways; an operator that is on none goes before all others.
            operators: Their number: 0 to this, without it.
        """

    def waits(self, operator: int, head: Head | None) -> None:
        """The operator could run now, and this is what waits before it.

        None: it cannot, as nothing waits, or one input of a join has nothing and the other must
        wait for it. Of the queues of several inputs, the oldest head counts.
        """

    def ran(self, operator: int, seconds: float) -> None:
        """An operator has been at work for that long, whether or not it finished a block."""

    def choose(self, now: float) -> int | None:
        """The operator that runs next, on its head; None: none can run."""
