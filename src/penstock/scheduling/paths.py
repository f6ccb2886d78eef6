"""Operator paths: the operators that what comes from an input passes on its way to a query."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from penstock.scheduling.chart import Chart

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from penstock.scheduling.chart import MeasuredWork


@dataclass(frozen=True)
class Path:
    """A way through the operators, with its chart.

    A join and what is above it belong to several paths, and so do operators that queries share.

    Args:
        source: The input whose blocks pass here.
        query: The query that they lead to.
        operators: In the order in which a block passes them; step i of the chart is number i.
        chart: Measured or estimated.
        latency: The time that the query allows a block from arrival to result; None: any.
    """

    source: str
    query: str
    operators: tuple[int, ...]
    chart: Chart
    latency: float | None = None

    def __post_init__(self) -> None:
        if len(self.operators) != len(self.chart.steps):
            msg = f"{len(self.operators)} operators and {len(self.chart.steps)} steps of a chart"
            raise ValueError(msg)


@dataclass(frozen=True)
class UnchartedPath:
    """A path without its chart: what is known before anything is measured."""

    source: str
    query: str
    operators: tuple[int, ...]

    def charted(self, costs: Sequence[MeasuredWork], latency: float | None = None) -> Path:
        """The path, by the cost of every operator."""
        chart = Chart.measured(costs[one] for one in self.operators)
        return Path(self.source, self.query, self.operators, chart, latency)


def routes(
    inputs: Sequence[Sequence[int]], sources: Mapping[str, int], results: Mapping[str, int]
) -> list[UnchartedPath]:
    """The ways from every source to every query that it reaches.

    There is one for each pair, unless ways part and meet again, as in the join of a stream with
    itself: then as many as it takes to walk along each edge.

    Args:
        inputs: The operators that each operator reads; all of these come before it.
        sources: The operator where each input enters.
        results: The operator whose results each query gets.
    """
    readers: list[list[int]] = [[] for _ in inputs]
    for number, read in enumerate(inputs):
        for one in dict.fromkeys(read):
            readers[one].append(number)
    return [
        UnchartedPath(source, query, way)
        for source, entry in sources.items()
        for query, last in results.items()
        for way in _ways(readers, entry, last)
    ]


def _ways(readers: Sequence[Sequence[int]], first: int, last: int) -> Iterator[tuple[int, ...]]:
    """Ways from one operator to another that walk along all edges between them."""
    inside = _between(readers, first, last)
    if first not in inside:
        return
    # By any edge that leads there, from any operator: the shortest tables that make whole ways.
    onward = {one: [r for r in readers[one] if r in inside] for one in inside}
    back = {r: one for one in sorted(inside, reverse=True) for r in onward[one]}
    walked: set[tuple[int, int]] = set()
    for one in sorted(inside):
        for reader in onward[one]:
            if (one, reader) not in walked:
                way = [one, reader]
                while way[0] != first:
                    way.insert(0, back[way[0]])
                while way[-1] != last:
                    way.append(onward[way[-1]][0])
                walked.update(pairwise(way))
                yield tuple(way)
    if first == last:
        yield (first,)


def _between(readers: Sequence[Sequence[int]], first: int, last: int) -> set[int]:
    """The operators that are on some way from one to another."""
    found = {last} if first <= last else set()
    for one in range(last - 1, first - 1, -1):
        if any(reader in found for reader in readers[one]):
            found.add(one)
    reached = {first} & found
    for one in range(first, last + 1):
        if one in reached:
            reached.update(reader for reader in readers[one] if reader in found)
    return reached
