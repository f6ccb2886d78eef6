"""Fragments: a plan without a common key, cut into parts that have one each.

A fragment runs on its own lanes, and what it sends is routed anew to the lanes of the fragment
that reads it. So a join by one column and an aggregate by another run on all lanes, and only what
compares all rows runs on one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import streams as st
from penstock.algebra.plan import different_nodes
from penstock.planner.clocks import has_clock
from penstock.planner.cost.estimates import Estimates
from penstock.planner.operator_facts import facts_of, is_plain
from penstock.planner.partition.partitioning import partitioning_of
from penstock.planner.partition.phases import in_phases
from penstock.planner.physical.lowering import operator_graph
from penstock.planner.physical.multiway_choice import MultiwayChoices
from penstock.planner.physical.physical_plan import Fragment

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.plan import Plan
    from penstock.operators.flow import Flow
    from penstock.planner.partition.partitioning import Partitioning
    from penstock.planner.physical.building import Choices
    from penstock.planner.physical.graph import Graph
    from penstock.planner.statistics.statistics import Statistics


def fragments_of(
    query: str,
    plan: Plan,
    choices: Choices,
    routes: Callable[[Partitioning], bool],
    statistics: Statistics | None = None,
    lanes: int = 1,
) -> list[Fragment]:
    """Cut the plan of a query into fragments, inputs before what reads them; often it is one.

    `routes` says of a partitioning whether rows of streams can be sent to lanes like that; a
    fragment that can be divided runs on so many lanes.
    """
    return _Cutting(query, choices, routes, statistics, lanes).cut(plan)


def choices_in_fragments(
    plan: Plan,
    choices: Choices,
    routes: Callable[[Partitioning], bool],
    statistics: Statistics | None = None,
) -> MultiwayChoices:
    """The joins of a plan that is cut like this, as they run, in terms of the whole plan."""
    cutting = _Cutting("", choices, routes, statistics, 1)
    cutting.cut(plan)
    return MultiwayChoices([plan], choices, statistics, cut=cutting.sent)


class _Cutting:
    def __init__(
        self,
        query: str,
        choices: Choices,
        routes: Callable[[Partitioning], bool],
        statistics: Statistics | None,
        lanes: int,
    ) -> None:
        self._query = query
        self._choices = choices
        self._routes = routes
        self._statistics = statistics
        self._lanes = lanes
        self._stage = 0
        self._made: list[Fragment] = []
        self._computes: list[Plan] = []
        self._sent: dict[int, st.Exchanged] = {}
        self._flows: dict[str, Flow] = {}
        # Operators whose inputs were cut off, each with what it was: conditions are known by it.
        self._uncut: dict[int, tuple[Plan, Plan]] = {}

    def cut(self, plan: Plan) -> list[Fragment]:
        self._divide(plan)
        below: dict[str | None, frozenset[str]] = {}
        every = frozenset(name for one in self._made for name in one.graph.streams)
        for fragment in self._made:
            graph = fragment.graph
            own = frozenset(graph.streams).union(*(below[name] for name in graph.exchanges))
            below[fragment.name] = own
            if graph.relations:
                graph.beside = every - own
        return self._made

    def _divide(self, plan: Plan) -> None:
        while has_clock(plan) and not self._is_divided(partitioning_of(plan)):
            before = len(self._made)
            rest = self._without_islands(plan)
            if not self._is_worthwhile(rest, before):
                del self._made[before:], self._computes[before:]
                break
            plan = rest
            self._stage += 1
        self._add(plan, partitioning_of(plan), name=None)

    def _is_divided(self, partitioning: Partitioning) -> bool:
        if self._stage:
            return partitioning.is_partitioned
        return self._routes(partitioning)

    def _is_worthwhile(self, rest: Plan, first: int) -> bool:
        """The last cut lets more than stateless operators run on several lanes."""
        islands = zip(self._made[first:], self._computes[first:], strict=True)
        if any(one.is_divided and not _is_stateless(plan) for one, plan in islands):
            return True
        if self._stage or len(self._made) == first or _is_stateless(rest):
            return False
        return partitioning_of(rest).is_partitioned

    def _without_islands(self, plan: Plan) -> Plan:
        """The plan with the largest parts that have a key, and those that cannot be cut, cut off.

        Only where all that lies above looks at rows alone.
        """
        if not is_plain(plan):
            return plan
        phases = in_phases(plan) if self._choices.strategy != "negative" else None
        if phases is not None and has_clock(plan):
            # What is put together before it is sent may be put together in any lane.
            partitioning = partitioning_of(phases.first.child)
            if self._is_island(phases.first.child, partitioning):
                return self._instead(phases.second(self._send(phases.first, partitioning)), plan)
        return self._instead(plan.rebuild(tuple(map(self._replaced, plan.children))), plan)

    def _instead(self, rest: Plan, plan: Plan) -> Plan:
        """The rest of an operator, which is known by what it was."""
        self._uncut[id(rest)] = (rest, self._whole(plan))
        return rest

    def _whole(self, plan: Plan) -> Plan:
        """An operator as it was before anything was cut off."""
        return self._uncut[id(plan)][1] if id(plan) in self._uncut else plan

    def _is_island(self, plan: Plan, partitioning: Partitioning) -> bool:
        """A part worth its own lanes; what was sent need not be sent on as it is."""
        return self._is_divided(partitioning) and not (self._stage and _is_stateless(plan))

    def _replaced(self, plan: Plan) -> Plan:
        if isinstance(plan, st.Exchanged) or not has_clock(plan):
            return plan
        if id(plan) in self._sent:
            return self._sent[id(plan)]
        partitioning = partitioning_of(plan)
        if self._is_island(plan, partitioning):
            return self._send(plan, partitioning)
        if is_plain(plan):
            return self._without_islands(plan)
        return self._send(plan, partitioning) if not self._stage else plan

    def _send(self, plan: Plan, partitioning: Partitioning) -> st.Exchanged:
        name = f"(fragment {len(self._made)})"
        graph = self._add(plan, partitioning, name)
        result = graph.nodes[graph.results[name]]
        sent = st.Exchanged(name, plan.schema, plan.unit, result.pattern, result.span)
        self._sent[id(plan)] = sent
        self._instead(sent, plan)
        return sent

    @property
    def sent(self) -> list[Plan]:
        """The operators, as they were, whose results other fragments read."""
        read = {name for one in self._made for name in one.graph.exchanges}
        return [
            whole
            for rest, whole in self._uncut.values()
            if isinstance(rest, st.Exchanged) and rest.name in read
        ]

    def _add(self, plan: Plan, partitioning: Partitioning, name: str | None) -> Graph:
        divided = has_clock(plan) and self._is_divided(partitioning)
        graph = operator_graph(
            {name or self._query: plan},
            self._choices,
            self._whole,
            self._statistics,
            self._lanes if divided else 1,
            self._flows,
        )
        if name is not None:
            estimates = Estimates(graph, self._choices, self._statistics, self._flows)
            self._flows[name] = estimates.flow(graph.results[name])
        self._made.append(Fragment(graph, partitioning, divided, self._stage, name))
        self._computes.append(plan)
        return graph


def _is_stateless(plan: Plan) -> bool:
    return all(
        facts_of(node).is_stateless or (isinstance(node, st.Window) and not node.spec.counts_rows)
        for node in different_nodes(plan)
    )
