"""Work reports: what waits in a lane, for how long, and by which charts the next step is chosen."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.scheduling.paths import Path


@dataclass(frozen=True)
class ChartReport:
    """A way of blocks through a lane, with its chart.

    Args:
        source: Where they come from.
        query: Where they lead to.
        operators: What they pass.
        points: Before and after each: the seconds spent on a block so far, and what is left of it.
        chains: For each chain its first operator, the one behind its last, and its slope: what of
            a block a second of work frees.
    """

    source: str
    query: str
    operators: tuple[str, ...]
    points: tuple[tuple[float, float], ...]
    chains: tuple[tuple[int, int, float], ...]

    @staticmethod
    def of(path: Path, labels: Sequence[str]) -> ChartReport:
        """The report of a path, by the labels of all operators."""
        return ChartReport(
            path.source,
            path.query,
            tuple(labels[one] for one in path.operators),
            tuple((one.time, one.size) for one in path.chart.points),
            tuple((one.first, one.end, one.slope) for one in path.chart.segments),
        )


@dataclass(frozen=True)
class WorkReport:
    """A lane that has a budget.

    Args:
        scheduler: Who chooses.
        queue_rows: The rows that wait between stations,
        queue_bytes: and their bytes,
        peak_bytes: and the most there have been since the lane was made.
        least_step: The shortest step that a station has done, in seconds.
        latencies: By query, the counts of `Latencies`.
        charts: Of each way.
    """

    scheduler: str
    queue_rows: int
    queue_bytes: int
    peak_bytes: int
    least_step: float | None
    latencies: dict[str, dict[str, int]] = field(default_factory=dict)
    charts: tuple[ChartReport, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As it is sent."""
        return asdict(self)
