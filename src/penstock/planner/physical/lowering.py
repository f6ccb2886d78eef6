"""From the logical plans of queries to the graph of operators that they run by."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.planner.cost.estimates import NOBODY, Estimates
from penstock.planner.physical.building import Building, Choices
from penstock.planner.physical.lower_plans import Lowering
from penstock.planner.physical.multiway_choice import MultiwayChoices

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock.algebra.plan import Plan
    from penstock.operators.flow import Flow
    from penstock.planner.physical.graph import Estimate, Graph
    from penstock.planner.statistics.statistics import Statistics


def operator_graph(
    plans: Mapping[str, Plan],
    choices: Choices | None = None,
    uncut: Callable[[Plan], Plan] = lambda plan: plan,
    statistics: Statistics | None = None,
    lanes: int = 1,
    exchanged: Mapping[str, Flow] = NOBODY,
) -> Graph:
    """The graph that computes the results of queries, by name; what they have in common once.

    Args:
        plans: The queries.
        choices: How they run.
        uncut: What an operator was before its plan was cut into parts.
        statistics: By what it is decided which joins run in one operator.
        lanes: How many share the rows; each makes room for its part.
        exchanged: The rows that other parts of a plan that is cut send, by their names.
    """
    choices = choices or Choices()
    ways = MultiwayChoices(plans.values(), choices, statistics, uncut, lanes, exchanged=exchanged)
    lowering = Lowering(Building(choices), uncut, ways.many)
    for name, plan in plans.items():
        lowering.building.graph.results[name] = lowering.lower(plan)
    # Some were only looked at.
    return lowering.building.graph.only(plans)


def estimated(
    graph: Graph,
    choices: Choices,
    statistics: Statistics | None = None,
    exchanged: Mapping[str, Flow] = NOBODY,
) -> tuple[Graph, dict[str, Flow]]:
    """A graph whose operators say what is expected of them; and the rows of its results."""
    estimates = Estimates(graph, choices, statistics, exchanged)
    found: dict[int, Estimate] = {}
    for result in graph.results.values():
        for number in graph.below(result) - found.keys():
            found[number] = estimates.of(number, result)
    nodes = [replace(node, estimate=found.get(n)) for n, node in enumerate(graph.nodes)]
    return graph.over(nodes), {name: estimates.flow(n) for name, n in graph.results.items()}
