"""Progress charts as a picture: steps, envelope, chains and their priorities."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from penstock.scheduling.chart_text import slope_text, time_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from penstock.scheduling.chart import Point, Segment
    from penstock.scheduling.paths import Path

WIDTH, HEIGHT = 560, 220
"""Of the area of a chart."""
MARGIN, HEAD, LINE = 50, 40, 17
"""Around it; above it, for a title; for each line of text below it."""
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b")
"""Of chains, in their order."""
MOST_LETTERS = 78
"""Of a label."""


def charts_svg(charts: Iterable[tuple[Path, Sequence[str]]]) -> str:
    """A picture of the charts of some paths, one below the other.

    Args:
        charts: Paths, with times in seconds, and for each the operators in a few words, by their
            numbers.
    """
    drawn: list[str] = []
    top = 0
    for path, labels in charts:
        one = _Drawing(path, labels, top)
        drawn += one.lines()
        top = one.bottom
    size = f'width="{WIDTH + 2 * MARGIN}" height="{top}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">'
    ground = '<rect width="100%" height="100%" fill="white"/>'
    return "\n".join([head, ground, *drawn, "</svg>", ""])


class _Drawing:
    """A chart at its place in a picture."""

    def __init__(self, path: Path, labels: Sequence[str], top: int) -> None:
        self._path = path
        self._labels = labels
        self._top = top + HEAD
        self._tallest = max(one.size for one in path.chart.points)
        texts = len(path.operators) + len(path.chart.segments)
        self.bottom = self._top + HEIGHT + 2 * LINE + texts * LINE + LINE

    def lines(self) -> Iterator[str]:
        """Elements of SVG."""
        yield self._text(MARGIN, self._top - 16, f"{self._path.source} to {self._path.query}", 15)
        yield from self._axes()
        yield self._line(self._steps(), "#444444")
        below = self._top + HEIGHT + 2 * LINE
        for number, segment in enumerate(self._path.chart.segments):
            colour = COLOURS[number % len(COLOURS)]
            ends = [self._path.chart.points[one] for one in (segment.first, segment.end)]
            yield self._line(ends, colour, dashed=True)
            texts = [*self._chain(number + 1, segment)]
            for place, text in enumerate(texts):
                yield self._text(MARGIN, below + place * LINE, text, 12, colour=colour)
            below += len(texts) * LINE

    def _steps(self) -> list[Point]:
        """The corners: a block shrinks when an operator has finished it."""
        points = self._path.chart.points
        found = [points[0]]
        for point in points[1:]:
            found += [point._replace(size=found[-1].size), point]
        return found

    def _chain(self, number: int, segment: Segment) -> Iterator[str]:
        yield f"chain {number}: priority {slope_text(segment.slope)}"
        for step in range(segment.first, segment.end):
            label = self._labels[self._path.operators[step]]
            cut = label if len(label) <= MOST_LETTERS else f"{label[: MOST_LETTERS - 3]}..."
            yield f"  {step + 1}. {cut}"

    def _axes(self) -> Iterator[str]:
        chart = self._path.chart
        left, bottom = MARGIN, self._top + HEIGHT
        frame = f'x="{left}" y="{self._top}" width="{WIDTH}" height="{HEIGHT}"'
        yield f'<rect {frame} fill="none" stroke="#cccccc"/>'
        for size in sorted({0.0, 1.0, self._tallest}):
            yield self._text(left - 6, self._y(size) + 4, f"{size:.3g}", 11, anchor="end")
        yield self._text(left, bottom + 14, "0", 11)
        end = time_text(chart.time)
        yield self._text(left + WIDTH, bottom + 14, end, 11, anchor="end")
        for step in range(len(chart.steps)):
            start, after = chart.points[step : step + 2]
            middle = (self._x(start.time) + self._x(after.time)) / 2
            yield self._text(middle, self._y(start.size) - 4, str(step + 1), 11, anchor="middle")

    def _x(self, time: float) -> float:
        return MARGIN + WIDTH * time / self._path.chart.time

    def _y(self, size: float) -> float:
        return self._top + HEIGHT * (1 - size / self._tallest)

    def _line(self, points: Sequence[Point], colour: str, *, dashed: bool = False) -> str:
        corners = " ".join(f"{self._x(one.time):.1f},{self._y(one.size):.1f}" for one in points)
        dashes = ' stroke-dasharray="6 4"' if dashed else ""
        style = f'fill="none" stroke="{colour}" stroke-width="2"{dashes}'
        return f'<polyline points="{corners}" {style}/>'

    @staticmethod
    def _text(
        x: float, y: float, text: str, size: int, anchor: str = "start", colour: str = "black"
    ) -> str:
        place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"'
        return f'<text {place} fill="{colour}" xml:space="preserve">{escape(text)}</text>'
