"""Chain: the operators that free most memory in their time together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.scheduling.by_slope import BySlope

if TYPE_CHECKING:
    from penstock.scheduling.chart import Chart, Segment


class Chain(BySlope):
    """Operators by the chain they are in: the segment of the lower envelope above which they lie.

    Where all selectivities are at most 1 and no operator is shared, the memory of queues is within
    one block for each path of the least possible, at every instant.
    """

    def segments(self, chart: Chart) -> tuple[Segment, ...]:
        """The chains."""
        return chart.segments
