"""The choice among equivalent plans: the cheapest that rules and costs lead to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.planner.partition.partitioning import partitioning_of
from penstock.planner.physical.pricing import Pricing
from penstock.planner.rewriting import Rewriting, alternatives

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.plan import Plan
    from penstock.planner.physical.building import Choices
    from penstock.planner.rules.rule import Rule, RuleContext
    from penstock.planner.statistics.statistics import Statistics

MOST_ROUNDS = 12
"""The number of times a plan is exchanged for a cheaper one."""
FOLLOWED = 3
"""So many plans are followed at a time."""
WORTH_IT = 0.95
"""A plan is exchanged for one that costs less than this share of it: estimates are rough."""


@dataclass(frozen=True)
class _Candidate:
    """A plan, what it costs, and the rules that led to it: those by cost, and those that tidied."""

    cost: float
    plan: Plan
    fired: tuple[str, ...] = ()


class Choosing:
    """Goes from plans to the cheapest that one rule makes of them, until none is much cheaper.

    Several ways are followed at a time: what is cheapest after one rule may be what the best plan
    cannot be made of.
    """

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

    def cheapest(self, plan: Plan, place: RuleContext) -> Plan:
        """The plan to run."""
        pricing = Pricing(self._choices, self._statistics, plan.unit)
        best = _Candidate(pricing.two_by_two(plan).weighed, plan)
        followed = [best]
        for _ in range(MOST_ROUNDS):
            found = [other for one in followed for other in self._better(one, place, pricing)]
            if not found:
                break
            followed = _cheapest_of(found)
            best = min(best, followed[0], key=lambda one: one.cost)
        self.fired += best.fired
        return best.plan

    def _better(self, given: _Candidate, place: RuleContext, pricing: Pricing) -> list[_Candidate]:
        """The cheapest plans that one rule makes of another."""
        plan, candidates = given.plan, list[_Candidate]()
        for name, other in alternatives(plan, self._by_cost, place):
            tidying = Rewriting(self._always)
            tidy = tidying.rewritten(other, place)
            candidates.append(
                _Candidate(pricing.two_by_two(tidy).weighed, tidy, (name, *tidying.fired))
            )
        least = given.cost * WORTH_IT
        better = [one for one in sorted(candidates, key=lambda one: one.cost) if one.cost < least]
        if not better:
            return []
        found: list[_Candidate] = []
        is_divided = partitioning_of(plan).is_partitioned
        running = pricing.as_run(plan).weighed
        for one in better:
            # All lanes at once are worth more than any order of operators on one.
            if is_divided and not partitioning_of(one.plan).is_partitioned:
                continue
            # What is cheaper two by two may prevent a join of many windows that is cheaper still.
            if one.fired[0] in self._orders or pricing.as_run(one.plan).weighed < running:
                found.append(replace(one, fired=(*given.fired, *one.fired)))
                if len(found) == FOLLOWED:
                    break
        return found


def _cheapest_of(found: Sequence[_Candidate]) -> list[_Candidate]:
    """The few that are followed on, each plan once."""
    chosen: list[_Candidate] = []
    for one in sorted(found, key=lambda one: one.cost):
        if all(one.plan != other.plan for other in chosen):
            chosen.append(one)
            if len(chosen) == FOLLOWED:
                break
    return chosen
