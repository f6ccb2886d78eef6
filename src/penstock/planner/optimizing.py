"""From the plans that say what queries mean to plans that say the same at less cost.

What several queries have in common, and keeps state, is optimised for all of them at once: a filter
of one query does not go below it, so that it is still there once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.planner.choosing import Choosing
from penstock.planner.physical.building import Choices
from penstock.planner.rewriting import Rewriting
from penstock.planner.rules.joins.commute_join import CommuteJoin
from penstock.planner.rules.maps.prune_columns import PruneColumns
from penstock.planner.rules.representation.common_subplans import CommonSubplans
from penstock.planner.rules.rule_list import ALWAYS, BY_COST, TIDY
from penstock.planner.sharing import Shared, reused
from penstock.planner.statistics.statistics import Statistics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.plan import Plan
    from penstock.planner.rules.rule import TogetherRule


@dataclass(frozen=True)
class Optimized:
    """A plan as it runs, and the rules that made it so, in the order in which they first fired."""

    plan: Plan
    fired: tuple[str, ...] = ()


def optimized(
    plans: Mapping[str, Plan],
    statistics: Statistics | None = None,
    choices: Choices | None = None,
) -> dict[str, Optimized]:
    """The plans that queries run by which run together.

    Args:
        plans: The queries, by name.
        statistics: What is known of their input; None: what is assumed.
        choices: How all of them run: what a plan costs depends on the strategy.
    """
    choices, statistics = choices or Choices(), statistics or Statistics()
    together = _JointPlans(list(plans.values()))
    together.commute()
    together.merge()
    shared = Shared(together.plans)
    fired: list[list[str]] = []
    found: list[Plan] = []
    for opaque, place in shared.parts():
        rewriting = Rewriting(ALWAYS)
        choosing = Choosing(BY_COST, ALWAYS, choices, statistics)
        found.append(choosing.cheapest(rewriting.rewritten(opaque, place), place))
        fired.append([*rewriting.fired, *choosing.fired])
    together.become(shared.whole(found), shared.of_each(fired))
    together.merge()
    together.prune()
    together.tidy()
    together.merge()
    return {
        name: Optimized(plan, tuple(dict.fromkeys(rules)))
        for name, plan, rules in zip(plans, together.plans, together.fired, strict=True)
    }


class _JointPlans:
    """The plans of all queries, and the rules that fired in each, as they become."""

    def __init__(self, plans: list[Plan]) -> None:
        self.plans = plans
        self.fired: list[list[str]] = [[] for _ in plans]

    def become(self, plans: list[Plan], fired: Sequence[Sequence[str]]) -> None:
        """Note what the plans have become, and the rules by which each did."""
        self.plans = plans
        for known, new in zip(self.fired, fired, strict=True):
            known += new

    def commute(self) -> None:
        """Joins that are the same but for their sides become the same."""
        self._apply(CommuteJoin())

    def merge(self) -> None:
        """Equal subplans become one."""
        made = CommonSubplans().rewritten(self.plans)
        before, after = reused(self.plans), reused(made)
        changed = [old != new for old, new in zip(before, after, strict=True)]
        self.become(made, [[CommonSubplans.name] if one else [] for one in changed])

    def prune(self) -> None:
        """Columns that nothing reads are dropped."""
        self._apply(PruneColumns())

    def _apply(self, rule: TogetherRule) -> None:
        made = rule.rewritten(self.plans)
        changed = [old != new for old, new in zip(self.plans, made, strict=True)]
        self.become(made, [[rule.name] if one else [] for one in changed])

    def tidy(self) -> None:
        """The work that pruning has left: it makes projections, and empties others."""
        several = [Rewriting(TIDY) for _ in self.plans]
        made = [one.rewritten(plan) for one, plan in zip(several, self.plans, strict=True)]
        self.become(made, [one.fired for one in several])


def plans_to_run(
    plans: Mapping[str, Plan],
    statistics: Statistics | None = None,
    choices: Choices | None = None,
) -> dict[str, Plan]:
    """The optimised plans of queries that run together."""
    return {name: one.plan for name, one in optimized(plans, statistics, choices).items()}
