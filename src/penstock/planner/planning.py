"""From the plans of queries that run together to the one physical plan that they run by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.planner.optimizing import plans_to_run
from penstock.planner.partition.fragments import fragments_of
from penstock.planner.partition.partitioning import Partitioning, common_partitioning
from penstock.planner.physical.lowering import estimated, operator_graph
from penstock.planner.physical.physical_plan import Fragment, PhysicalPlan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.algebra.plan import Plan
    from penstock.operators.flow import Flow
    from penstock.planner.physical.building import Choices
    from penstock.planner.statistics.statistics import Statistics

Routes = Callable[[Partitioning], bool]
"""Says of a partitioning whether rows of streams can be sent to lanes like that."""


def physical_plan(
    plans: Mapping[str, Plan],
    choices: Choices,
    routes: Routes,
    lanes: int,
    statistics: Statistics | None = None,
) -> PhysicalPlan:
    """The best plan that is known for queries: what they mean, by what, on how many lanes."""
    running = plans_to_run(plans, statistics, choices)
    return lowered(running, choices, routes, lanes, statistics)


def lowered(
    running: Mapping[str, Plan],
    choices: Choices,
    routes: Routes,
    lanes: int,
    statistics: Statistics | None = None,
) -> PhysicalPlan:
    """The same for plans that are the best already; a query that is alone is cut into fragments."""
    columns = {name: plan.schema.names for name, plan in running.items()}
    if len(running) == 1:
        ((query, plan),) = running.items()
        fragments = fragments_of(query, plan, choices, routes, statistics, lanes)
        return expected(PhysicalPlan(tuple(fragments), columns), choices, statistics)
    graph = operator_graph(running, choices, statistics=statistics, lanes=lanes)
    partitioning = common_partitioning(list(running.values()))
    whole = PhysicalPlan((Fragment(graph, partitioning, True, 0),), columns)
    return expected(whole, choices, statistics)


def expected(plan: PhysicalPlan, choices: Choices, statistics: Statistics | None) -> PhysicalPlan:
    """The same plan, whose operators say what is expected of them by these statistics."""
    flows: dict[str, Flow] = {}
    made = []
    for one in plan.fragments:
        graph, sent = estimated(one.graph, choices, statistics, flows)
        flows |= sent
        made.append(replace(one, graph=graph))
    return replace(plan, fragments=tuple(made))
