"""Progress charts in lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.scheduling.chart import Segment
    from penstock.scheduling.paths import Path

UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
"""Units of time, and how many seconds each has."""


def chart_lines(path: Path, labels: Sequence[str]) -> list[str]:
    """The chart of a path: its chains with their priorities, and what each operator leaves.

    Args:
        path: With times in seconds.
        labels: The operators in a few words, by their numbers.
    """
    return [
        f"Progress of a block from {path.source}: {time_text(path.chart.time)}",
        *(
            line
            for number, segment in enumerate(path.chart.segments, 1)
            for line in _chain(path, labels, number, segment)
        ),
    ]


def _chain(path: Path, labels: Sequence[str], number: int, segment: Segment) -> Iterator[str]:
    """A chain, and a line for each of its operators."""
    yield f"  chain {number}, priority {slope_text(segment.slope)}"
    for step in range(segment.first, segment.end):
        start, end = path.chart.points[step : step + 2]
        taken = time_text(end.time - start.time)
        yield f"    {taken:>7}, leaves {100 * end.size:.3g} %: {labels[path.operators[step]]}"


def time_text(seconds: float) -> str:
    """A time with two digits or three.

    >>> time_text(0.0123), time_text(12.0), time_text(3e-10)
    ('12.3 ms', '12 s', '0 ns')
    """
    size, unit = next((one for one in UNITS if seconds >= one[0] * 0.9995), UNITS[-1])
    many = seconds / size
    return f"{round(many, 1) if many < 99.95 and size > 1e-9 else round(many):g} {unit}"


def slope_text(slope: float) -> str:
    """The priority of a chain: the blocks that it frees in a second of its work.

    >>> slope_text(0.12857), slope_text(12345.6)
    ('0.129 blocks/s', '12,346 blocks/s')
    """
    return f"{slope:,.0f} blocks/s" if slope >= 1000 else f"{slope:.3g} blocks/s"
