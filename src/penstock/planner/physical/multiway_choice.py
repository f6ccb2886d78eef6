"""The choice of joins that run in one operator, or two by two: as is set, or by cost.

A join of many inputs keeps no result in between, so it has less state; a tree finds the partners of
a new row in what it has kept, so it may have less to do. What is compared is time and the fourth
root of memory (`Cost.weighed`), as for all plans.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.plan import different_nodes
from penstock.operators.source_specs import MapSpec
from penstock.planner.cost.estimates import NOBODY, Estimates
from penstock.planner.cost.join_orders import MOST_EXHAUSTIVE, best_orders
from penstock.planner.flattening import LEAST_INPUTS, Flattening
from penstock.planner.physical.agreements import agreed
from penstock.planner.physical.building import Building
from penstock.planner.physical.lower_multi import multiway_node
from penstock.planner.physical.lower_plans import Lowering
from penstock.planner.physical.multiway import Multiway, model_of
from penstock.planner.rewriting import parts_of
from penstock.planner.statistics.statistics import Statistics

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set

    from penstock.algebra.plan import Plan
    from penstock.operators.flow import Flow
    from penstock.planner.cost.costs import Cost
    from penstock.planner.cost.join_model import JoinModel
    from penstock.planner.flattening import Flat
    from penstock.planner.physical.building import Choices

WORTH_IT = 0.95
"""A tree is replaced by what costs less than this share of it: estimates are rough.

Not if a part of it is in one operator: then the same kind of estimate stands on both sides.
"""

MOST_EXPECTED = 1 << 20
"""Room is made at once for no more rows than this."""


@dataclass(frozen=True)
class MultiwayChoice:
    """The ways in which a tree of joins can run.

    Args:
        many: It as one operator.
        cost: What it costs, with what `kept` takes.
        of_tree: What the tree costs, with the parts of it that are in one operator.
        is_chosen: Whether it runs as one operator.
        is_set: Whether SET says so.
        is_mixed: Whether the tree would have such parts.
        kept: A part of the tree that stays a join of its own, whose result is an input.
    """

    many: Multiway
    cost: Cost
    of_tree: Cost
    is_chosen: bool
    is_set: bool
    is_mixed: bool = False
    kept: Plan | None = None

    @property
    def ratio(self) -> float:
        """By what factor one operator is cheaper than the tree."""
        return self.of_tree.weighed / max(self.cost.weighed, 1e-12)


class MultiwayChoices:
    """The ways of the joins of plans that run together.

    Args:
        plans: The plans.
        choices: How they are to run.
        statistics: By what is chosen; None: by what is assumed.
        uncut: What an operator was before inputs were cut off; conditions are known by it.
        lanes: How many share the rows.
        cut: Operators that run elsewhere; those above read what these send.
        exchanged: The rows that other parts of a plan that is cut send, by their names.
    """

    def __init__(
        self,
        plans: Iterable[Plan],
        choices: Choices,
        statistics: Statistics | None = None,
        uncut: Callable[[Plan], Plan] = lambda plan: plan,
        lanes: int = 1,
        cut: Collection[Plan] = (),
        exchanged: Mapping[str, Flow] = NOBODY,
    ) -> None:
        plans = tuple(plans)
        self._choices = choices
        self._statistics = statistics
        self._uncut = uncut
        self._lanes = lanes
        self._readers = _readers(plans)
        self._cut = {id(one): one for one in cut}
        is_measured = statistics is not None and statistics.has_names
        # The alternatives, side by side; what runs is lowered anew.
        self._lowering = Lowering(Building(choices, is_measured), uncut, self._in_parts)
        graph, unit = (
            self._lowering.building.graph,
            next((one.unit for one in plans if one.unit), None),
        )
        self._estimates = Estimates(graph, choices, statistics, exchanged, unit)
        self._known: dict[int, tuple[Plan, MultiwayChoice | None]] = {}

    def at(self, plan: Plan) -> MultiwayChoice | None:
        """The way of a plan that joins three inputs or more; None: it does not."""
        if id(plan) not in self._known:
            self._known[id(plan)] = (plan, self._way(plan))
        return self._known[id(plan)][1]

    def many(self, plan: Plan) -> Multiway | None:
        """The one operator that a plan runs as; None: it is put together from others."""
        way = self.at(plan) if self._choices.joins != "tree" else None
        return way.many if way is not None and way.is_chosen else None

    def _flat(self, plan: Plan, kept: Plan | None = None) -> Flat | None:
        """The inputs that a plan joins, three or more."""
        flat = Flattening(lambda one: one is kept or self._is_whole(one), self._uncut)
        found = flat.flattened(plan)
        return None if found is None or len(found.inputs) < LEAST_INPUTS else found

    def _is_whole(self, plan: Plan) -> bool:
        return self._readers.get(id(plan), 0) > 1 or id(plan) in self._cut

    def _way(self, plan: Plan) -> MultiwayChoice | None:
        flat = self._flat(plan)
        if flat is None:
            return None
        if isinstance(plan, op.Map | op.Alias):
            return self._moved(plan)
        is_set = self._choices.joins != "auto"
        of_tree = self._cost(self._lowering.lower_alone(plan), flat)
        whole = self._as_one(flat, flat)
        if is_set:
            return MultiwayChoice(*whole, of_tree, self._choices.joins == "multiway", is_set)
        within = {id(one) for one in flat.joins}
        is_mixed = any(id(one) in within for one in self._parts(plan, within))
        candidates = [(*whole, None), *self._with_one_kept(plan, flat)]
        many, cost, kept = min(candidates, key=lambda one: one[1].weighed)
        if cost.weighed < (1.0 if is_mixed else WORTH_IT) * of_tree.weighed:
            return MultiwayChoice(many, cost, of_tree, True, is_set, is_mixed, kept)
        return MultiwayChoice(*whole, of_tree, False, is_set, is_mixed)

    def _moved(self, plan: op.Map | op.Alias) -> MultiwayChoice:
        """The choice for what only moves columns: that of what is below it."""
        below = self.at(plan.child)
        assert below is not None
        flat = self._flat(plan, below.kept)
        assert flat is not None
        return replace(below, many=replace(below.many, flat=flat))

    def _in_parts(self, plan: Plan) -> Multiway | None:
        """The one operator of a part of a tree; if joins are set, of none."""
        return self.many(plan) if self._choices.joins == "auto" else None

    def _cost(self, number: int, flat: Flat) -> Cost:
        """The cost of a join that was lowered, what it joins left out."""
        graph = self._lowering.building.graph
        inputs = set[int]().union(*(graph.below(self._lowering.lower(one)) for one in flat.inputs))
        return self._estimates.total(graph.below(number) - inputs, number)

    def _as_one(self, flat: Flat, whole: Flat) -> tuple[Multiway, Cost]:
        """A join as one operator, and what it costs, with what is kept for it of the whole."""
        asks = agreed(flat)
        flows = [self._estimates.flow(self._lowering.lower(one)) for one in flat.inputs]
        inputs = tuple(map(self._uncut, flat.inputs))
        model = model_of(inputs, asks, flows, self._statistics or Statistics())
        orders, expected = best_orders(model), self._expected(model, inputs)
        many = Multiway(flat.inputs, flat, asks, orders, model, expected, self._lanes)
        return many, self._cost(self._unmoved(multiway_node(self._lowering, many)), whole)

    def _unmoved(self, number: int) -> int:
        """A node without the projection on top, which the one above a tree takes in."""
        node = self._lowering.building.node(number)
        return node.inputs[0] if isinstance(node.spec, MapSpec) else number

    def _with_one_kept(
        self, plan: Plan, flat: Flat
    ) -> Iterator[tuple[Multiway, Cost, Plan | None]]:
        """A plan as one operator over a part of its tree, whose result is kept."""
        if len(flat.inputs) > MOST_EXHAUSTIVE:
            return
        for part in flat.joins[:-1]:
            rest = self._flat(plan, part) if isinstance(part, op.Product | op.Join) else None
            if rest is not None:
                yield *self._as_one(rest, flat), part

    def _parts(self, plan: Plan, within: Set[int]) -> Iterator[Plan]:
        """The parts of a tree of joins that runs by steps: inputs, and parts in one operator."""
        for one in plan.children:
            if id(one) in within and self.many(one) is None:
                yield from self._parts(one, within)
            else:
                yield one

    def _expected(self, model: JoinModel, inputs: Iterable[Plan]) -> tuple[int, ...] | None:
        """The number of rows of the inputs that a lane will have, if rates were measured.

        What is assumed takes no room.
        """
        if self._statistics is None or not self._statistics.rates:
            return None
        return tuple(
            min(int(side.live / self._lanes), MOST_EXPECTED) if self._is_measured(one) else 0
            for side, one in zip(model.sides, inputs, strict=True)
        )

    def _is_measured(self, plan: Plan) -> bool:
        """The frequency of rows of an input is known."""
        known = self._statistics.rates if self._statistics is not None else {}
        sources = [one for one in different_nodes(plan) if isinstance(one, st.Source)]
        return all(isinstance(one, st.Stream) and one.name in known for one in sources)

    def all_of(self, plan: Plan) -> list[MultiwayChoice]:
        """The ways of all joins of a plan, from the top; of parts of a tree if they are chosen."""
        way = self.at(plan)
        if way is None:
            below: Iterable[Plan] = parts_of(plan)[0]
        elif way.is_chosen:
            below = way.many.inputs
        else:
            below = self._parts(plan, {id(one) for one in way.many.flat.joins})
        found = [] if way is None else [way]
        for one in below:
            found += [other for other in self.all_of(one) if other not in found]
        return found


def _readers(plans: Iterable[Plan]) -> dict[int, int]:
    """The number of operators and queries that read the result of each operator."""
    found: dict[int, int] = {}
    seen: set[int] = set()
    for plan in plans:
        found[id(plan)] = found.get(id(plan), 0) + 1
        for node in different_nodes(plan):
            if id(node) not in seen:
                seen.add(id(node))
                for child in node.children:
                    found[id(child)] = found.get(id(child), 0) + 1
    return found
