"""Schedulers that give each operator a rank by its head alone, and take the first."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from penstock.scheduling.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.scheduling.paths import Path
    from penstock.scheduling.scheduler import Head

Rank: TypeAlias = tuple[float, ...]


class ByRank:
    """The frame of them: a subclass says what the rank is."""

    def __init__(self) -> None:
        self.heads: dict[int, Head] = {}
        self._ranking: Ranking[Rank] = Ranking()

    def rank(self, operator: int, head: Head) -> Rank:
        """The operator with the least runs."""
        raise NotImplementedError

    def plan(self, paths: Sequence[Path]) -> None:
        """Prepare ranks by paths; one that needs no charts does nothing."""

    def replan(self, paths: Sequence[Path], operators: int) -> None:
        """Rank what waits anew."""
        self.plan(paths)
        self.heads = {one: head for one, head in self.heads.items() if one < operators}
        self._ranking.clear()
        for operator, head in self.heads.items():
            self._ranking.put(operator, self.rank(operator, head))

    def waits(self, operator: int, head: Head | None) -> None:
        """Rank an operator by its head."""
        if head is None:
            self.heads.pop(operator, None)
            self._ranking.remove(operator)
        else:
            self.heads[operator] = head
            self._ranking.put(operator, self.rank(operator, head))

    def ran(self, operator: int, seconds: float) -> None:
        """Time spent does not count."""

    def choose(self, now: float) -> int | None:
        """The first."""
        return self._ranking.first()
