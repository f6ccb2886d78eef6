"""In which order to take steps, each of which costs something for every combination that is there.

A step leaves so many times as many combinations as came to it. Of two steps the one with the lower
rank comes first: that which saves most for what it costs. If steps must come behind others, a step
and what had better come before it, but may not, are taken together: they have one rank as well. As
long as each step waits for one other at most, this is the best of all sequences (Monma and Sidney).
"""

from __future__ import annotations

import math
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class StepSequence(NamedTuple):
    """Steps that are taken one after the other, by number.

    Args:
        steps: The steps.
        cost: What they cost for each combination that comes to them.
        factor: How many combinations there are behind them, for each of these.
    """

    steps: tuple[int, ...]
    cost: float
    factor: float

    @property
    def rank(self) -> float:
        """Runs with a low rank come first."""
        if self.cost <= 0.0:
            return -math.inf if self.factor <= 1.0 else math.inf
        return (self.factor - 1.0) / self.cost

    def then(self, other: StepSequence) -> StepSequence:
        """Both, one behind the other."""
        cost = self.cost + self.factor * other.cost
        return StepSequence(self.steps + other.steps, cost, self.factor * other.factor)


_rank = attrgetter("rank")


def side_by_side(several: Iterable[Sequence[StepSequence]]) -> list[StepSequence]:
    """Sequences that do not wait for each other as one; each has ascending ranks.

    Of runs that are alike, those of a sequence that is named earlier come first.
    """
    return sorted((run for one in several for run in one), key=_rank)


def led_by(first: StepSequence, rest: Sequence[StepSequence]) -> list[StepSequence]:
    """A sequence that must come behind a step, with that step, in ascending ranks again."""
    behind = list(rest)
    while behind and first.rank > behind[0].rank:
        first = first.then(behind.pop(0))
    return [first, *behind]
