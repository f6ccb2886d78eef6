"""Which joins run in one operator, and which two by two: as is set, or by cost.

A join of many inputs keeps no result in between, so it has less state; a tree finds the partners of
a new row in what it has kept, so it may have less to do. What is compared is time and the fourth
root of memory: a plan that is twice as fast may take sixteen times the memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.algebra.plan import different_nodes
from penstock.planner.agreements import agreed
from penstock.planner.costs import Cost, Costs
from penstock.planner.flattening import LEAST_INPUTS, Flattening
from penstock.planner.join_orders import best_orders
from penstock.planner.multiway import Multiway
from penstock.planner.rewriting import parts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from penstock.algebra.plan import Plan
    from penstock.planner.building import Choices
    from penstock.planner.join_model import JoinModel
    from penstock.planner.statistics import Statistics

WORTH_IT = 0.95
"""A tree is replaced by what costs less than this share of it: estimates are rough."""

MOST_EXPECTED = 1 << 20
"""Room is made at once for no more rows than this."""


@dataclass(frozen=True)
class Way:
    """How a tree of joins can run.

    Args:
        many: It as one operator.
        cost: What it costs.
        of_tree: What the tree costs.
        is_chosen: Whether it runs as one operator.
        is_set: Whether SET says so.
    """

    many: Multiway
    cost: Cost
    of_tree: Cost
    is_chosen: bool
    is_set: bool

    @property
    def ratio(self) -> float:
        """By what factor one operator is cheaper than the tree."""
        return _weighed(self.of_tree) / max(_weighed(self.cost), 1e-12)


def _weighed(cost: Cost) -> float:
    return cost.time * math.sqrt(math.sqrt(max(cost.size, 1.0)))


class Ways:
    """The ways of the joins of plans that run together."""

    def __init__(
        self,
        plans: Iterable[Plan],
        choices: Choices,
        statistics: Statistics | None = None,
        uncut: Callable[[Plan], Plan] = lambda plan: plan,
    ) -> None:
        self._choices = choices
        self._statistics = statistics
        self._readers = _readers(plans)
        self._flattening = Flattening(lambda plan: self._readers.get(id(plan), 0) > 1, uncut)
        self._known: dict[int, tuple[Plan, Way | None]] = {}

    def at(self, plan: Plan) -> Way | None:
        """The way of a plan that joins three inputs or more; None: it does not."""
        if id(plan) not in self._known:
            self._known[id(plan)] = (plan, self._way(plan))
        return self._known[id(plan)][1]

    def many(self, plan: Plan) -> Multiway | None:
        """The one operator that a plan runs as; None: it is put together from others."""
        way = self.at(plan) if self._choices.joins != "tree" else None
        return way.many if way is not None and way.is_chosen else None

    def _way(self, plan: Plan) -> Way | None:
        flat = self._flattening.flattened(plan)
        if flat is None or len(flat.inputs) < LEAST_INPUTS:
            return None
        asks = agreed(flat)
        costs = Costs(plan, self._choices, self._statistics)
        model = costs.model(flat, asks)
        expected = self._expected(model)
        many = Multiway(flat.inputs, plan, flat, asks, best_orders(model), model, expected)
        cost = costs.of_many(many, model)
        of_tree = sum(map(costs.of, flat.joins), Cost(0.0))
        is_cheaper = _weighed(cost) < WORTH_IT * _weighed(of_tree)
        is_set = self._choices.joins != "auto"
        is_chosen = self._choices.joins == "multiway" if is_set else is_cheaper
        return Way(many, cost, of_tree, is_chosen, is_set)

    def _expected(self, model: JoinModel) -> tuple[int, ...] | None:
        """How many rows the inputs will have, if rates were measured: assumed ones take no room."""
        if self._statistics is None or not self._statistics.rates:
            return None
        return tuple(min(int(side.live), MOST_EXPECTED) for side in model.sides)

    def shown(self, plan: Plan) -> Plan:
        """The plan with joins of many inputs where it runs them."""
        many = self.many(plan)
        if many is not None:
            inputs = tuple(self.shown(one) for one in many.inputs)
            return replace(many, inputs=inputs)
        inputs, rebuild = parts_of(plan)
        made = tuple(self.shown(one) for one in inputs)
        same = all(old is new for old, new in zip(inputs, made, strict=True))
        return plan if same else rebuild(made)

    def all_of(self, plan: Plan) -> list[Way]:
        """The ways of all joins of a plan, from the top."""
        way = self.at(plan)
        below = parts_of(plan)[0] if way is None else way.many.inputs
        found = [] if way is None else [way]
        for one in below:
            found += [other for other in self.all_of(one) if other not in found]
        return found


def _readers(plans: Iterable[Plan]) -> dict[int, int]:
    """How many operators and queries read the result of each operator."""
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
