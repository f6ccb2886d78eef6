"""All rewrite rules, in the order in which they are tried; each neighbourhood has its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.planner.rules.conditions.contradiction import Contradiction
from penstock.planner.rules.conditions.empty_branch import EmptyBranch
from penstock.planner.rules.conditions.fold_constants import FoldConstants
from penstock.planner.rules.conditions.intersect_conditions import IntersectConditions
from penstock.planner.rules.conditions.true_filter import TrueFilter
from penstock.planner.rules.duplicates.absorbed_distinct import AbsorbedDistinct
from penstock.planner.rules.duplicates.distinct_after_exists import DistinctAfterExists
from penstock.planner.rules.duplicates.distinct_aggregates import DistinctAggregates
from penstock.planner.rules.duplicates.distinct_before_exists import DistinctBeforeExists
from penstock.planner.rules.duplicates.distinct_below_exists import DistinctBelowExists
from penstock.planner.rules.duplicates.distinct_below_extremes import DistinctBelowExtremes
from penstock.planner.rules.duplicates.distinct_below_product import DistinctBelowProduct
from penstock.planner.rules.duplicates.introduce_semi_join import IntroduceSemiJoin
from penstock.planner.rules.duplicates.redundant_distinct import RedundantDistinct
from penstock.planner.rules.existence.exchange_exists import ExchangeExists
from penstock.planner.rules.existence.pull_up_except import PullUpExcept
from penstock.planner.rules.existence.pull_up_exists import PullUpExists
from penstock.planner.rules.existence.pull_up_negation import PullUpNegation
from penstock.planner.rules.existence.push_down_exists import PushDownExists
from penstock.planner.rules.existence.push_down_negation import PushDownNegation
from penstock.planner.rules.filters.condition_below_join import ConditionBelowJoin
from penstock.planner.rules.filters.duplicate_conditions import DuplicateConditions
from penstock.planner.rules.filters.filter_below_aggregate import FilterBelowAggregate
from penstock.planner.rules.filters.filter_below_arrival import FilterBelowArrival
from penstock.planner.rules.filters.filter_below_cut import FilterBelowCut
from penstock.planner.rules.filters.filter_below_distinct import FilterBelowDistinct
from penstock.planner.rules.filters.filter_below_exists import FilterBelowExists
from penstock.planner.rules.filters.filter_below_group import FilterBelowGroup
from penstock.planner.rules.filters.filter_below_join import FilterBelowJoin
from penstock.planner.rules.filters.filter_below_map import FilterBelowMap
from penstock.planner.rules.filters.filter_below_set_operation import FilterBelowSetOperation
from penstock.planner.rules.filters.filter_below_union import FilterBelowUnion
from penstock.planner.rules.filters.filter_below_window import FilterBelowWindow
from penstock.planner.rules.filters.merge_filters import MergeFilters
from penstock.planner.rules.filters.product_to_join import ProductToJoin
from penstock.planner.rules.filters.transitive_conditions import TransitiveConditions
from penstock.planner.rules.joins.associate_join import AssociateJoin
from penstock.planner.rules.joins.commute_join import CommuteJoin
from penstock.planner.rules.joins.exchange_join import ExchangeJoin
from penstock.planner.rules.maps.group_below_window import GroupBelowWindow
from penstock.planner.rules.maps.identity_map import IdentityMap
from penstock.planner.rules.maps.map_above_join import MapAboveJoin
from penstock.planner.rules.maps.map_below_window import MapBelowWindow
from penstock.planner.rules.maps.map_into_aggregate import MapIntoAggregate
from penstock.planner.rules.maps.merge_maps import MergeMaps
from penstock.planner.rules.maps.prune_columns import PruneColumns
from penstock.planner.rules.maps.rename_is_map import RenameIsMap
from penstock.planner.rules.outer_joins.filter_below_outer_join import FilterBelowOuterJoin
from penstock.planner.rules.outer_joins.outer_join_to_negation import OuterJoinToNegation
from penstock.planner.rules.outer_joins.simplify_outer_join import SimplifyOuterJoin
from penstock.planner.rules.representation.common_subplans import CommonSubplans
from penstock.planner.rules.representation.cut_above_map import CutAboveMap
from penstock.planner.rules.representation.drop_cuts import DropCuts
from penstock.planner.rules.representation.merge_cuts import MergeCuts
from penstock.planner.rules.unions.flatten_unions import FlattenUnions
from penstock.planner.rules.unions.join_below_union import JoinBelowUnion

if TYPE_CHECKING:
    from penstock.planner.rules.rule import Rule, TogetherRule

ALWAYS: tuple[Rule, ...] = (
    # Names first: all other rules compare columns by name.
    RenameIsMap(),
    # Decided without rows, before conditions are moved: what is decided does not travel.
    FoldConstants(),
    TrueFilter(),
    Contradiction(),
    DuplicateConditions(),
    IntersectConditions(),
    # Outer joins, while the filter still stands above them that tells what they are for.
    SimplifyOuterJoin(),
    OuterJoinToNegation(),
    # One filter with all conditions, before these are divided among what lies below.
    MergeFilters(),
    ProductToJoin(),
    TransitiveConditions(),
    # Down, operator by operator; the window last, since below it nothing else is found.
    FilterBelowMap(),
    FilterBelowUnion(),
    FilterBelowOuterJoin(),
    FilterBelowJoin(),
    FilterBelowExists(),
    FilterBelowArrival(),
    FilterBelowDistinct(),
    FilterBelowSetOperation(),
    FilterBelowGroup(),
    FilterBelowAggregate(),
    FilterBelowCut(),
    FilterBelowWindow(),
    ConditionBelowJoin(),
    # Filters have shown what is empty.
    EmptyBranch(),
    # Projections, which filters have passed: merged, out of the way of joins and aggregates.
    MergeMaps(),
    IdentityMap(),
    MapAboveJoin(),
    MapIntoAggregate(),
    MapBelowWindow(),
    GroupBelowWindow(),
    # Unions and copies, over what is left.
    FlattenUnions(),
    RedundantDistinct(),
    AbsorbedDistinct(),
    DistinctBelowExists(),
    DistinctBelowExtremes(),
    DistinctAggregates(),
    # Cuts of intervals, which no other rule looks at.
    CutAboveMap(),
    MergeCuts(),
    DropCuts(),
)
"""Rules that never make a plan dearer."""
TOGETHER: tuple[TogetherRule, ...] = (CommuteJoin(), CommonSubplans(), PruneColumns())
"""Rules for all queries that run together: before all others, and when these are done."""
BY_COST: tuple[Rule, ...] = (
    # Fewer rows before a join.
    IntroduceSemiJoin(),
    DistinctBelowProduct(),
    DistinctBeforeExists(),
    DistinctAfterExists(),
    # The order of joins.
    JoinBelowUnion(),
    AssociateJoin(),
    ExchangeJoin(),
    # Negation and existence before or after joins, and each other.
    PullUpNegation(),
    PushDownNegation(),
    PullUpExists(),
    PushDownExists(),
    PullUpExcept(),
    ExchangeExists(),
)
"""Rules whose outcome may be dearer or cheaper."""
TIDY: tuple[Rule, ...] = (MergeMaps(), IdentityMap())
"""Rules for what pruning leaves behind."""
