"""Which of several equivalent plans to run: the cheapest that rules and costs lead to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.planner.as_run import AsRun
from penstock.planner.costs import Costs
from penstock.planner.partitioning import partitioning_of
from penstock.planner.rewriting import Rewriting, alternatives
from penstock.planner.ways import Ways

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.plan import Plan
    from penstock.planner.building import Choices
    from penstock.planner.rules.rule import Place, Rule
    from penstock.planner.statistics import Statistics

MOST_ROUNDS = 12
"""How many times a plan is exchanged for a cheaper one."""
WORTH_IT = 0.95
"""A plan is exchanged for one that costs less than this share of it: estimates are rough."""


@dataclass(frozen=True)
class _Candidate:
    """A plan, what it costs, and the rules that made it: one by cost, and those that tidied up."""

    cost: float
    plan: Plan
    fired: tuple[str, ...]


class Choosing:
    """Goes from a plan to the cheapest that one rule makes of it, until none is much cheaper."""

    def __init__(
        self,
        by_cost: Sequence[Rule],
        always: Sequence[Rule],
        choices: Choices,
        statistics: Statistics,
    ) -> None:
        self._by_cost = by_cost
        self._orders = {rule.name for rule in by_cost if rule.only_orders}
        self._always = always
        self._choices = choices
        self._statistics = statistics
        self.fired: list[str] = []

    def cheapest(self, plan: Plan, place: Place) -> Plan:
        """The plan to run."""
        least = self._cost(plan)
        for _ in range(MOST_ROUNDS):
            found = self._best(plan, place, least * WORTH_IT)
            if found is None:
                break
            plan, least = found.plan, found.cost
            self.fired += found.fired
        return plan

    def _best(self, plan: Plan, place: Place, least: float) -> _Candidate | None:
        candidates: list[_Candidate] = []
        for name, other in alternatives(plan, self._by_cost, place):
            tidying = Rewriting(self._always)
            tidy = tidying.rewritten(other, place)
            candidates.append(_Candidate(self._cost(tidy), tidy, (name, *tidying.fired)))
        better = [one for one in sorted(candidates, key=lambda one: one.cost) if one.cost < least]
        if not better:
            return None
        is_divided, running = partitioning_of(plan).is_partitioned, self._cost_as_run(plan)
        for one in better:
            # All lanes at once are worth more than any order of operators on one.
            if is_divided and not partitioning_of(one.plan).is_partitioned:
                continue
            # What is cheaper two by two may prevent a join of many windows that is cheaper still.
            if one.fired[0] in self._orders or self._cost_as_run(one.plan) < running:
                return one
        return None

    def _cost(self, plan: Plan) -> float:
        """What a plan costs if every join is one of two inputs: quick to say."""
        return Costs(plan, self._choices, self._statistics).total.weighed

    def _cost_as_run(self, plan: Plan) -> float:
        """What it costs with the joins of many inputs that it would run with."""
        ways = Ways([plan], self._choices, self._statistics)
        return self._cost(AsRun({"": plan}, ways).shown(plan))
