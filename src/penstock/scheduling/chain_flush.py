"""Chain-Flush: Chain, until a result would come too late."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from penstock.scheduling.chain import Chain
from penstock.scheduling.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.scheduling.paths import Path
    from penstock.scheduling.scheduler import Head


class ChainFlush:
    """Chain within the latencies that queries ask for, as far as that goes.

    The head of each operator has an instant at which work on it must begin: when it came, and the
    latency of its query, less the time from here to the result. When the earliest of these has
    come, or would have before the operator has finished that Chain would choose, the head and what
    waits between it and the result are brought to the end, oldest first; then Chain chooses again.

    What waits behind a head is not looked at, so that deadlines are missed by a little.
    """

    def __init__(self) -> None:
        self._chain = Chain()
        self._begins: Ranking[tuple[float]] = Ranking()
        self._slack: dict[int, float] = {}
        self._takes: dict[int, float] = {}
        self._above: dict[int, frozenset[int]] = {}
        self._flush: _Flush | None = None

    def replan(self, paths: Sequence[Path], operators: int) -> None:
        """Take the charts and the latencies of queries."""
        self._chain.replan(paths, operators)
        self._slack, self._takes, self._above = {}, {}, {}
        for path in paths:
            points = path.chart.points
            for step, operator in enumerate(path.operators):
                takes = points[step + 1].time - points[step].time
                self._takes[operator] = max(takes, self._takes.get(operator, 0.0))
                left = (inf if path.latency is None else path.latency) - path.chart.left(step)
                self._slack[operator] = min(left, self._slack.get(operator, inf))
                above = self._above.get(operator, frozenset())
                self._above[operator] = above.union(path.operators[step:])
        self._flush = None
        self._begins.clear()
        for operator, head in self._chain.heads.items():
            self._due(operator, head)

    def waits(self, operator: int, head: Head | None) -> None:
        """Find when work on the head must begin."""
        self._chain.waits(operator, head)
        if head is None:
            self._begins.remove(operator)
        else:
            self._due(operator, head)
        if self._flush is not None:
            self._flush.waits(operator, head)

    def ran(self, operator: int, seconds: float) -> None:
        """Time spent does not count."""

    def choose(self, now: float) -> int | None:
        """The next of a flush, the first of one that is due, or Chain's choice."""
        chosen = None if self._flush is None else self._flush.first()
        if chosen is None:
            usual = self._chain.choose(now)
            # What runs is not interrupted.
            until = now if usual is None else now + self._takes.get(usual, 0.0)
            self._flush = self._urgent(until)
            chosen = usual if self._flush is None else self._flush.first()
        return chosen

    def _due(self, operator: int, head: Head) -> None:
        slack = self._slack.get(operator, inf)
        if slack < inf:
            self._begins.put(operator, (head.arrival + slack,))

    def _urgent(self, now: float) -> _Flush | None:
        """The flush that has to begin now."""
        operator = self._begins.first()
        if operator is None or now < self._begins.key(operator)[0]:
            return None
        heads = self._chain.heads
        flush = _Flush(heads[operator].sequence, self._above[operator])
        for one in flush.operators:
            flush.waits(one, heads.get(one))
        return flush


class _Flush:
    """Work on a block and on what is older, from an operator to the results above it.

    Args:
        last: The number of the block.
        operators: That one, and those above it.
    """

    def __init__(self, last: int, operators: frozenset[int]) -> None:
        self.operators = operators
        self._last = last
        self._ranking: Ranking[tuple[int, int]] = Ranking()

    def waits(self, operator: int, head: Head | None) -> None:
        """Take part, if what waits is no younger."""
        if operator not in self.operators:
            return
        if head is None or head.sequence > self._last:
            self._ranking.remove(operator)
        else:
            self._ranking.put(operator, (head.sequence, -operator))

    def first(self) -> int | None:
        """The oldest, and of parts of one block the one that got furthest; None: it is done."""
        return self._ranking.first()
