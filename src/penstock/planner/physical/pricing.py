"""Prices of plans: they are lowered, and what would run is priced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.planner.cost.estimates import Estimates
from penstock.planner.physical.building import Building
from penstock.planner.physical.lower_plans import Lowering
from penstock.planner.physical.multiway_choice import MultiwayChoices

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.algebra.time import TimeUnit
    from penstock.planner.cost.costs import Cost
    from penstock.planner.physical.building import Choices
    from penstock.planner.statistics.statistics import Statistics


class Pricing:
    """Prices of plans that are compared: what they have in common is lowered and priced once.

    Args:
        choices: How they run.
        statistics: What is known of their input; None: what is assumed.
        unit: The unit of time of those that read relations only.
    """

    def __init__(
        self, choices: Choices, statistics: Statistics | None = None, unit: TimeUnit | None = None
    ) -> None:
        self._choices = choices
        self._statistics = statistics
        self._is_measured = statistics is not None and statistics.has_names
        self._lowering = Lowering(Building(choices, self._is_measured))
        self._graph = self._lowering.building.graph
        self._estimates = Estimates(self._graph, choices, statistics, unit=unit)

    def two_by_two(self, plan: Plan) -> Cost:
        """The cost of a plan if every join is one of two inputs."""
        result = self._lowering.lower(plan)
        return self._estimates.total(self._graph.below(result), result)

    def as_run(self, plan: Plan) -> Cost:
        """The cost with the joins of many inputs that it would run with."""
        ways = MultiwayChoices([plan], self._choices, self._statistics)
        if self._choices.joins == "tree" or not any(one.is_chosen for one in ways.all_of(plan)):
            return self.two_by_two(plan)
        lowering = Lowering(Building(self._choices, self._is_measured), many=ways.many)
        result, graph = lowering.lower(plan), lowering.building.graph
        estimates = Estimates(graph, self._choices, self._statistics, unit=plan.unit)
        return estimates.total(graph.below(result), result)
