"""Chance: choices that a seed decides, the same on every machine and in every run."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


class Draw:
    """A source of choices; equal seeds give equal choices.

    >>> [Draw("7/1").count(1, 100) == Draw("7/1").count(1, 100), Draw("x").pick("a", "a")]
    [True, 'a']
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def pick(self, *choices: T) -> T:
        """One of the choices; name one twice to make it twice as likely."""
        return self._random.choice(choices)

    def chance(self, percent: int) -> bool:
        """TRUE in so many cases of a hundred."""
        return self._random.random() * 100 < percent

    def count(self, least: int, most: int) -> int:
        """A number, both ends included."""
        return self._random.randint(least, most)

    def some(self, choices: Sequence[T], most: int) -> list[T]:
        """At least one and at most so many different members, in random order."""
        return self._random.sample(choices, self.count(1, min(most, len(choices))))

    def shuffled(self, members: Sequence[T]) -> list[T]:
        """All members in random order."""
        return self._random.sample(members, len(members))
