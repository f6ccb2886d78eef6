"""The input monitor: how many rows are taken in at once, and how many of them stay.

It goes by the bytes that wait in lanes when the next rows are about to come. First it takes in
fewer rows at once; rows are left out only if that was asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.shedding.shedding import MOST_ONE_IN, Shedding

if TYPE_CHECKING:
    from penstock.shedding.intake_rules import IntakeRules

LEAST_ROWS = 1024
"""So many rows are taken in at once, however much waits: less would cost more than it saves."""
MOST_ROWS = 1 << 24
"""With so many rows at once the intake is not held down any more."""


class InputMonitor:
    """Watches what waits in lanes.

    Attributes:
        most_rows: So many rows are taken in at once; None: as many as there are.
        one_in: One row in so many may stay.
        decision: The last one; None: all rows stay.
    """

    def __init__(self) -> None:
        self.most_rows: int | None = None
        self.one_in = 1
        self.decision: Shedding | None = None

    def look(self, rules: IntakeRules, waiting: int, last_rows: int) -> Shedding | None:
        """Decide before rows are taken in; None: all of them stay.

        Args:
            rules: What was set.
            waiting: The bytes that wait in all lanes.
            last_rows: How many rows were taken in last.
        """
        self.most_rows = _most_rows(self.most_rows, rules.queue_limit, waiting, last_rows)
        self.one_in = _one_in(self.one_in, rules.bound, waiting) if rules.sheds else 1
        self.decision = None
        if rules.shedding is not None and self.one_in > 1:
            self.decision = Shedding(rules.shedding, self.one_in, rules.keeps_rows)
        return self.decision

    def facts(self, held_back: int) -> dict[str, int | None]:
        """The state for people.

        Args:
            held_back: How many batches without rows were run before rows were taken in.
        """
        return {"rows": self.most_rows, "one_in": self.one_in, "held_back": held_back}


def _most_rows(before: int | None, limit: int | None, waiting: int, last_rows: int) -> int | None:
    """Half as many as before while more waits than may; twice as many below half of that."""
    if limit is None:
        return None
    if waiting > limit:
        return max(LEAST_ROWS, (before or last_rows) // 2)
    if before is None or 2 * waiting >= limit:
        return before
    return None if 2 * before >= MOST_ROWS else 2 * before


def _one_in(before: int, bound: int | None, waiting: int) -> int:
    """Half as many stay while more waits than may; twice as many below half of that."""
    if bound is None or not waiting:
        return 1
    if waiting > bound:
        return min(2 * before, MOST_ONE_IN)
    return max(1, before // 2) if 2 * waiting < bound else before
