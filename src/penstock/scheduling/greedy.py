"""Greedy: the operator that frees most memory in its own time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.scheduling.by_slope import BySlope

if TYPE_CHECKING:
    from penstock.scheduling.chart import Chart, Segment


class Greedy(BySlope):
    """Operators by their own step of the chart; what lies behind a flat one is not seen."""

    def segments(self, chart: Chart) -> tuple[Segment, ...]:
        """The steps."""
        return chart.steps
