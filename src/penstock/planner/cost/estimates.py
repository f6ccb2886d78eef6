"""Estimates: what is expected of each operator of a graph that runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.errors import InternalError
from penstock.operators.flow import DIFFERENT_VALUES
from penstock.operators.source_specs import ExchangeSpec, StreamSpec
from penstock.planner.cost.costs import Cost
from penstock.planner.cost.flow_rules import RULES, EstimateContext
from penstock.planner.cost.prices import price_of
from penstock.planner.physical.graph import Estimate
from penstock.planner.statistics.statistics import Statistics

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock.algebra.time import TimeUnit
    from penstock.operators.flow import Flow
    from penstock.planner.physical.building import Choices
    from penstock.planner.physical.graph import Graph

LOOKED_THROUGH, BATCH = 7.0, 10_000.0
"""For each row of state and batch of so many rows, if ends are found by looking through all."""
NOBODY: Mapping[str, Flow] = {}


class Estimates:
    """Flows and costs of the operators of a graph, which may still grow.

    Args:
        graph: The operators.
        choices: How they run.
        statistics: What was measured; None: what is assumed.
        exchanged: The rows that other fragments send, by their names.
        unit: The unit of time of what reads relations only.
    """

    def __init__(
        self,
        graph: Graph,
        choices: Choices,
        statistics: Statistics | None = None,
        exchanged: Mapping[str, Flow] = NOBODY,
        unit: TimeUnit | None = None,
    ) -> None:
        self._graph = graph
        self._is_direct = choices.strategy == "direct"
        self._statistics = statistics or Statistics()
        self._exchanged = exchanged
        self._default_unit = unit
        self._places: dict[int, EstimateContext] = {}
        self._flows: dict[int, Flow] = {}
        self._costs: dict[int, Cost] = {}

    def flow(self, number: int) -> Flow:
        """The rows that an operator sends."""
        if number not in self._flows:
            self._estimate(number, self._unit(number))
        return self._flows[number]

    def cost(self, number: int) -> Cost:
        """The cost of an operator, without looking through state."""
        if number not in self._costs:
            out = self.flow(number)
            self._costs[number] = price_of(self._places[number], out)
        return self._costs[number]

    def total(self, numbers: Iterable[int], result: int) -> Cost:
        """The cost of operators of a query."""
        batches = self._batches(self._graph.below(result)) if self._is_direct else 0.0
        found = (self._looked_through(self.cost(one), batches) for one in numbers)
        return sum(found, Cost(0.0))

    def of(self, number: int, result: int) -> Estimate:
        """The estimate of an operator of a query."""
        self.flow(result)
        out, cost = self.flow(number), self.total([number], result)
        return Estimate(out.rate, out.withdrawn, out.live, cost.time, cost.rows, cost.size)

    def _looked_through(self, cost: Cost, batches: float) -> Cost:
        """With what it takes to look through rows that are in no order, for those that ended."""
        return replace(cost, time=cost.time + cost.loose * LOOKED_THROUGH * batches, loose=0.0)

    def _batches(self, numbers: Iterable[int]) -> float:
        nodes = self._graph.nodes
        streams = [one for one in numbers if isinstance(nodes[one].spec, StreamSpec)]
        return sum(self.flow(one).rate for one in streams) / BATCH

    def _estimate(self, number: int, unit: TimeUnit | None) -> None:
        for one in sorted(self._missing(number)):
            node = self._graph.nodes[one]
            inputs = [self._flows[below] for below in node.inputs]
            patterns = [self._graph.nodes[below].pattern for below in node.inputs]
            place = EstimateContext(node, inputs, patterns, self._statistics, unit, self._exchanged)
            self._places[one] = place
            self._flows[one] = _flow_of(place)

    def _missing(self, number: int) -> set[int]:
        """An operator and those below of which nothing is known yet."""
        found: set[int] = set()
        waiting = [number]
        while waiting:
            one = waiting.pop()
            if one not in found and one not in self._flows:
                found.add(one)
                waiting += self._graph.nodes[one].inputs
        return found

    def _unit(self, number: int) -> TimeUnit | None:
        """The unit of time of a query; relations alone do not tell."""
        for one in sorted(self._graph.below(number)):
            spec = self._graph.nodes[one].spec
            if isinstance(spec, StreamSpec | ExchangeSpec) and spec.source.unit is not None:
                return spec.source.unit
        return self._default_unit


def _flow_of(place: EstimateContext) -> Flow:
    """The rows that an operator sends, all columns of them."""
    if type(place.spec) not in RULES:
        msg = f"nobody has said which rows {type(place.spec).__name__} makes"
        raise InternalError(msg)
    found = RULES[type(place.spec)](place)
    width = len(place.node.types)
    missing = (DIFFERENT_VALUES,) * (width - len(found.different))
    return replace(found, different=(*found.different, *missing)[:width])
