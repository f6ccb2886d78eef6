"""The queries of the model: charts of a few operators, joins, several queries."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from penstock.scheduling.chart import Chart, MeasuredWork
from penstock.scheduling.paths import Path, UnchartedPath
from penstock_bench.chain.window_join import JoinInput, join_cost

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class ModelWorkload:
    """Queries, and what a block takes in their operators.

    Args:
        name: In results.
        says: Why it is interesting.
        paths: All ways of blocks.
    """

    name: str
    says: str
    paths: tuple[Path, ...]

    @property
    def sources(self) -> list[str]:
        """The inputs, each once."""
        return [*dict.fromkeys(one.source for one in self.paths)]

    @property
    def time(self) -> float:
        """The work for a block of each input, on average."""
        # What queries have in common of an input is worked on once.
        total = 0.0
        for source in self.sources:
            own = [one for one in self.paths if one.source == source]
            steps = {
                path.operators[: step + 1]: path.chart.points[step + 1].time
                - path.chart.points[step].time
                for path in own
                for step in range(len(path.operators))
            }
            total += sum(steps.values())
        return total / len(self.sources)

    @property
    def has_joins(self) -> bool:
        """True if an operator has several inputs."""
        edges = {
            (before, operator)
            for path in self.paths
            for before, operator in pairwise((path.source, *path.operators))
        }
        return len(edges) > len({operator for _, operator in edges})


def _alone(name: str, says: str, *points: tuple[float, float]) -> ModelWorkload:
    """One query, one path."""
    chart = Chart.of(*points)
    path = Path("s", "q", tuple(range(len(chart.steps))), chart)
    return ModelWorkload(name, says, (path,))


WORK = (
    # A filter for each of two streams.
    MeasuredWork(1, 0.9),
    MeasuredWork(1, 0.9),
    join_cost(JoinInput(2, 1.0, 0.75), JoinInput(1, 2.5, 1.5)),
    # Two filters above the join, the second very selective; then what sends results.
    MeasuredWork(0.5, 0.9),
    MeasuredWork(0.3, 0.03),
    MeasuredWork(60, 0),
    # A query on a stream of its own.
    MeasuredWork(2, 0.8),
    MeasuredWork(0.4, 0.1),
    MeasuredWork(20, 0),
    # Another one, whose third operator is hidden.
    MeasuredWork(1, 0.95),
    MeasuredWork(1.5, 0.98),
    MeasuredWork(0.3, 0.08),
    MeasuredWork(12, 0),
)
"""What the operators of the join take, and those of two more queries."""
JOIN = (UnchartedPath("r", "join", (0, 2, 3, 4, 5)), UnchartedPath("s", "join", (1, 2, 3, 4, 5)))
MORE = (UnchartedPath("t", "short", (6, 7, 8)), UnchartedPath("u", "hidden", (9, 10, 11, 12)))


def _charted(ways: Sequence[UnchartedPath]) -> tuple[Path, ...]:
    return tuple(one.charted(WORK) for one in ways)


WORKLOADS: tuple[ModelWorkload, ...] = (
    _alone("two", "a fast selective operator, then a slow one", (0, 1), (1, 0.2), (6, 0)),
    _alone("three", "slopes that fall", (0, 1), (1, 0.4), (2, 0.2), (4, 0)),
    _alone("falling", "four slopes that fall", (0, 1), (1, 0.5), (3, 0.25), (7, 0.1), (12, 0)),
    _alone("hidden", "the third of four is steep", (0, 1), (2, 0.9), (6, 0.88), (7, 0.1), (12, 0)),
    _alone(
        "relation", "the second joins a stored relation",
        (0, 1), (2, 0.8), (5, 1.6), (6, 0.1), (10, 0),
    ),
    ModelWorkload("join", "two filtered streams, and two filters above their join", _charted(JOIN)),
    ModelWorkload("queries", "that, and two queries on other streams", _charted((*JOIN, *MORE))),
)  # fmt: skip
