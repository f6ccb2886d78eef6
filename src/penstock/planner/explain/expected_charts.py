"""Progress charts of a plan, by what is expected of its operators: before anything has run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.operators.source_specs import ExchangeSpec, StreamSpec
from penstock.operators.spec import row_width
from penstock.scheduling.chart import MeasuredWork
from penstock.scheduling.chart_text import chart_lines
from penstock.scheduling.paths import routes
from penstock.scheduling.work_rules import BLOCK_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.planner.explain.shown import ShownOperator
    from penstock.scheduling.paths import Path


@dataclass(frozen=True)
class ExpectedCharts:
    """The paths of a query with their charts, in seconds for a block of usual size.

    Args:
        paths: One from each source that rows come from.
        labels: Of operators, by their numbers in paths.
    """

    paths: tuple[Path, ...]
    labels: tuple[str, ...]

    def lines(self) -> list[str]:
        """The charts in text."""
        if not self.paths:
            return ["Progress of blocks: none are expected, as no stream is read"]
        return [line for path in self.paths for line in chart_lines(path, self.labels)]

    def json(self) -> list[dict[str, Any]]:
        """The charts for programs; times in microseconds, sizes as shares of a block."""
        return [
            {
                "source": path.source,
                "operators": [self.labels[one] for one in path.operators],
                "points": [[point.time * 1e6, point.size] for point in path.chart.points],
                "chains": [
                    {"first": one.first, "end": one.end, "blocks_per_second": one.slope}
                    for one in path.chart.segments
                ],
            }
            for path in self.paths
        ]


def expected_charts(name: str, top: ShownOperator) -> ExpectedCharts:
    """The charts of a query by its name and uppermost operator; relations change too seldom."""
    operators = [*_from_below(top, set())]
    numbers = {id(one): number for number, one in enumerate(operators)}
    inputs = [[numbers[id(child)] for child in one.children] for one in operators]
    flows = _Flows(operators, inputs)
    sources = {
        one.node.spec.source.name: number
        for number, one in enumerate(operators)
        if isinstance(one.node.spec, StreamSpec | ExchangeSpec) and flows.comes_out[number] > 0
    }
    paths = (
        one.charted(flows.work(BLOCK_ROWS * row_width(operators[one.operators[0]].node.types)))
        for one in routes(inputs, sources, {name: len(operators) - 1})
    )
    return ExpectedCharts(tuple(paths), tuple(one.label() for one in operators))


def _from_below(one: ShownOperator, seen: set[int]) -> Iterator[ShownOperator]:
    """An operator and those it reads, each once, inputs first."""
    if id(one) in seen:
        return
    seen.add(id(one))
    for child in one.children:
        yield from _from_below(child, seen)
    yield one


class _Flows:
    """The bytes that go into operators and come out in a step of time, and what they take."""

    def __init__(self, operators: list[ShownOperator], inputs: list[list[int]]) -> None:
        self.comes_out: list[float] = []
        self._goes_in: list[float] = []
        self._times: list[float] = []
        for one, read in zip(operators, inputs, strict=True):
            found = one.node.estimate
            assert found is not None
            size = (found.rate + found.withdrawn) * row_width(one.node.types)
            self.comes_out.append(size)
            self._goes_in.append(sum(self.comes_out[place] for place in read) if read else size)
            self._times.append(found.time)

    def work(self, unit: float) -> list[MeasuredWork]:
        """The work of each operator, for so many bytes."""
        return [
            MeasuredWork(time * 1e-9 * unit / came, out / came) if came > 0 else MeasuredWork(0, 1)
            for time, came, out in zip(self._times, self._goes_in, self.comes_out, strict=True)
        ]
