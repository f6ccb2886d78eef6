"""Mixed: Chain where it pays, and blocks in order of arrival on the flat ends of charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.scheduling.by_slope import BySlope

if TYPE_CHECKING:
    from penstock.scheduling.chart import Chart, Segment


class Mixed(BySlope):
    """Chain, with those chains made one that stand at the end of a path and are flat.

    What has come so far is then finished, block by block: results are earlier, and little memory is
    lost, as flat chains free little in their time.

    Args:
        threshold: The slope below which chains are merged. With 0 it is Chain; above all slopes,
            each path is FIFO.
    """

    def __init__(self, threshold: float) -> None:
        super().__init__()
        self._threshold = threshold

    def segments(self, chart: Chart) -> tuple[Segment, ...]:
        """The chains, the flat ones at the end as one."""
        return chart.merged(self._threshold)
