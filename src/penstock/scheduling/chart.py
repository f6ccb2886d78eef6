"""Progress charts: how the size of a block shrinks with the time spent on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Iterable

LEAST_TIME = 1e-12
"""The time of an operator that is too fast to be measured: a chart never goes straight down.

It is at least this share of the time before it, too, or it would be lost when these are added.
"""

LEAST_SIZE = 1e-9
"""What is left of a block inside a path: what comes behind an operator must have a time."""


class MeasuredWork(NamedTuple):
    """The measured work of an operator.

    Args:
        time: For a unit of size that comes in.
        selectivity: The size that goes out for a unit that comes in; joins may exceed 1.
    """

    time: float
    selectivity: float


class Point(NamedTuple):
    """A block after some time of work: what is left of it."""

    time: float
    size: float


class Segment(NamedTuple):
    """A chain: steps of a chart between two points of its envelope.

    Args:
        first: Its first step, counted from 0.
        end: The step behind its last.
        slope: The size that a unit of time frees, on average over the chain.
    """

    first: int
    end: int
    slope: float


@dataclass(frozen=True)
class Chart:
    """The points that a block of size 1 passes on its path: before and after each operator.

    Args:
        points: From (0, 1) to (T, 0), where results leave; time only grows.
    """

    points: tuple[Point, ...]

    def __post_init__(self) -> None:
        times = [one.time for one in self.points]
        grows = all(a < b for a, b in pairwise(times))
        if len(times) < 2 or times[0] != 0 or not grows:
            msg = f"a chart begins at time 0 and has steps that take time, not {times}"
            raise ValueError(msg)
        if self.points[-1].size != 0 or any(one.size <= 0 for one in self.points[:-1]):
            msg = f"only results have no size: {[one.size for one in self.points]}"
            raise ValueError(msg)

    @classmethod
    def of(cls, *points: tuple[float, float]) -> Self:
        """A chart by its points."""
        return cls(tuple(Point(*one) for one in points))

    @classmethod
    def measured(cls, costs: Iterable[MeasuredWork]) -> Self:
        """The chart of operators, in the order in which a block passes them.

        A time is measured per size that comes in; in the chart it is for what is left of a block.
        """
        points = [Point(0.0, 1.0)]
        for cost in costs:
            time, size = points[-1]
            left = max(size * cost.selectivity, LEAST_SIZE)
            points.append(Point(time + max(size * cost.time, LEAST_TIME, time * LEAST_TIME), left))
        points[-1] = Point(points[-1].time, 0.0)
        return cls(tuple(points))

    @property
    def time(self) -> float:
        """The time a block takes in all."""
        return self.points[-1].time

    @cached_property
    def steps(self) -> tuple[Segment, ...]:
        """Each operator by itself: its slope is the size that it frees in a unit of its time."""
        return tuple(self._segment(at, at + 1) for at in range(len(self.points) - 1))

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The chains of the lower envelope; their slopes never increase."""
        found: list[Segment] = []
        at, last = 0, len(self.points) - 1
        while at < last:
            # The first of those that reach the steepest slope: max keeps the first.
            ways = [self._segment(at, end) for end in range(at + 1, last + 1)]
            found.append(max(ways, key=lambda one: one.slope))
            at = found[-1].end
        return tuple(found)

    def merged(self, threshold: float) -> tuple[Segment, ...]:
        """The chains, with those at the end whose slope is below a threshold made one."""
        steep = [one for one in self.segments if one.slope >= threshold]
        start = steep[-1].end if steep else 0
        last = len(self.points) - 1
        return (*steep, *([self._segment(start, last)] if start < last else []))

    @cached_property
    def envelope(self) -> Chart:
        """The chart whose operators are the chains."""
        ends = [self.points[one.end] for one in self.segments]
        return Chart((self.points[0], *ends))

    def left(self, step: int) -> float:
        """The time from the beginning of a step to the end."""
        return self.time - self.points[step].time

    def _segment(self, first: int, end: int) -> Segment:
        a, b = self.points[first], self.points[end]
        return Segment(first, end, _exact((a.size - b.size) / (b.time - a.time)))


def _exact(slope: float) -> float:
    """A slope without what rounding added, so that equal slopes are equal."""
    return float(f"{slope:.12g}")
