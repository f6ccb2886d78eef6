"""Which of several equivalent plans to run: the cheapest that rules and costs lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.planner.costs import Costs
from penstock.planner.partitioning import partitioning_of
from penstock.planner.rewriting import Rewriting, alternatives

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
            name, plan, least = found
            self.fired.append(name)
        return plan

    def _best(self, plan: Plan, place: Place, least: float) -> tuple[str, Plan, float] | None:
        candidates: list[tuple[float, int, str, Plan]] = []
        for number, (name, other) in enumerate(alternatives(plan, self._by_cost, place)):
            tidy = Rewriting(self._always).rewritten(other, place)
            candidates.append((self._cost(tidy), number, name, tidy))
        is_divided = partitioning_of(plan).is_partitioned
        for cost, _, name, other in sorted(candidates, key=lambda one: one[:2]):
            if cost >= least:
                break
            # All lanes at once are worth more than any order of operators on one.
            if partitioning_of(other).is_partitioned or not is_divided:
                return name, other, cost
        return None

    def _cost(self, plan: Plan) -> float:
        return Costs(plan, self._choices, self._statistics).total.time
