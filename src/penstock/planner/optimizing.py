"""From the plans that say what queries mean to plans that say the same at less cost.

What several queries have in common, and keeps state, is optimised for all of them at once: a filter
of one query does not go below it, so that it is still there once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.planner.building import Choices
from penstock.planner.choosing import Choosing
from penstock.planner.rewriting import Rewriting
from penstock.planner.rules import (
    constants,
    duplicates,
    filters,
    filters_joins,
    joins,
    maps,
    outer_joins,
    representation,
    unions,
)
from penstock.planner.rules.pruning import PruneColumns
from penstock.planner.rules.representation import CommonSubplans
from penstock.planner.sharing import Shared, count_nodes, merged
from penstock.planner.statistics import Statistics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.algebra.plan import Plan
    from penstock.planner.rules.rule import Rule, TogetherRule

ALWAYS: tuple[Rule, ...] = (
    maps.RenameIsMap(),
    constants.FoldConstants(),
    constants.TrueFilter(),
    constants.Contradiction(),
    filters.DuplicateConditions(),
    outer_joins.SimplifyOuterJoin(),
    filters.MergeFilters(),
    filters_joins.ProductToJoin(),
    filters_joins.TransitiveConditions(),
    filters.FilterBelowMap(),
    filters.FilterBelowUnion(),
    outer_joins.FilterBelowOuterJoin(),
    filters_joins.FilterBelowJoin(),
    filters_joins.FilterBelowExists(),
    filters_joins.FilterBelowArrival(),
    filters.FilterBelowDistinct(),
    filters.FilterBelowSetOperation(),
    filters.FilterBelowGroup(),
    filters.FilterBelowAggregate(),
    filters.FilterBelowCut(),
    filters.FilterBelowWindow(),
    filters_joins.ConditionBelowJoin(),
    constants.EmptyBranch(),
    maps.MergeMaps(),
    maps.IdentityMap(),
    maps.MapAboveJoin(),
    maps.MapIntoAggregate(),
    maps.MapBelowWindow(),
    maps.GroupBelowWindow(),
    unions.FlattenUnions(),
    duplicates.RedundantDistinct(),
    duplicates.AbsorbedDistinct(),
    duplicates.DistinctBelowExists(),
    duplicates.DistinctBelowExtremes(),
    duplicates.DistinctAggregates(),
    duplicates.IntroduceSemiJoin(),
    representation.DropCuts(),
)
"""Rules that never make a plan dearer."""
TOGETHER: tuple[TogetherRule, ...] = (CommonSubplans(), PruneColumns())
"""Rules for all queries that run together, applied when the others have nothing left to do."""
BY_COST: tuple[Rule, ...] = (
    duplicates.DistinctBelowProduct(),
    unions.JoinBelowUnion(),
    joins.CommuteJoin(),
    joins.AssociateJoin(),
    joins.ExchangeJoin(),
    joins.PullUpNegation(),
    joins.PushDownNegation(),
)
"""Rules whose outcome may be dearer or cheaper."""


@dataclass(frozen=True)
class Optimized:
    """A plan as it runs, and the rules that made it so, in the order in which they first fired."""

    plan: Plan
    fired: tuple[str, ...] = ()


def optimized(
    plans: Mapping[str, Plan], statistics: Statistics | None = None
) -> dict[str, Optimized]:
    """The plans that queries run by which run together; the same under all strategies."""
    choices, statistics = Choices(), statistics or Statistics()
    given = list(plans.values())
    common = merged(given)
    by_all = [CommonSubplans.name] if count_nodes(common) < count_nodes(given) else []
    shared = Shared(common)
    fired: list[list[str]] = []
    found: list[Plan] = []
    for opaque, place in shared.parts():
        rewriting = Rewriting(ALWAYS)
        choosing = Choosing(BY_COST, ALWAYS, choices, statistics)
        found.append(choosing.cheapest(rewriting.rewritten(opaque, place), place))
        fired.append([*rewriting.fired, *choosing.fired])
    whole = merged(shared.whole(found))
    pruned = PruneColumns().rewritten(whole)
    if any(old is not new for old, new in zip(whole, pruned, strict=True)):
        by_all.append(PruneColumns.name)
    tidy = Rewriting((maps.MergeMaps(), maps.IdentityMap()))
    made = merged([tidy.rewritten(one) for one in pruned])
    return {
        name: Optimized(plan, tuple(dict.fromkeys([*rules, *by_all])))
        for name, plan, rules in zip(plans, made, shared.of_each(fired), strict=True)
    }


def plans_to_run(
    plans: Mapping[str, Plan], statistics: Statistics | None = None
) -> dict[str, Plan]:
    """The optimised plans of queries that run together."""
    return {name: one.plan for name, one in optimized(plans, statistics).items()}
