"""Filters on their way down, through operators with one input and through set operations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import columns_of, conjunction, substituted
from penstock.algebra.plan import expressions_of
from penstock.algebra.streams import Window
from penstock.algebra.windows import Rows
from penstock.compute.evaluate import can_fail
from penstock.planner.conditions import conjuncts
from penstock.planner.rules.expressions import by_name, divided, renamed
from penstock.planner.rules.outer_joins import outer_join_in
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan, Unary


class FilterRule(Rule):
    """A rule for a filter over something else."""

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """What a filter becomes."""
        return self.filtered(plan, place) if isinstance(plan, op.Filter) else None

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """What the filter becomes; None where the rule has no use."""
        raise NotImplementedError


def swapped(plan: op.Filter, over: Unary) -> Plan:
    """The filter below the operator that it stood on, whose columns are those of its input."""
    return replace(over, child=op.Filter(over.child, plan.predicate))


class MergeFilters(FilterRule):
    """What the upper one asks must not fail: it would be asked where the lower one is NULL."""

    name = "merge-filters"
    says = "a filter over a filter is one filter by both conditions"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """One filter."""
        lower = plan.child
        if not isinstance(lower, op.Filter) or can_fail(plan.predicate):
            return None
        parts = [*conjuncts(lower.predicate), *conjuncts(plan.predicate)]
        return op.Filter(lower.child, conjunction(parts))


class DuplicateConditions(FilterRule):
    """Filters are idempotent."""

    name = "duplicate-conditions"
    says = "a condition that stands twice in a filter is asked once"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """Each condition once."""
        parts = conjuncts(plan.predicate)
        once = list(dict.fromkeys(parts))
        return op.Filter(plan.child, conjunction(once)) if len(once) < len(parts) else None


class FilterBelowMap(FilterRule):
    """Not if a column may fail: then it would fail for fewer rows."""

    name = "filter-below-map"
    says = "a filter goes below a projection, by what the columns are computed from"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The projection of the filtered rows."""
        over = plan.child
        if not isinstance(over, op.Map) or any(can_fail(one.expression) for one in over.columns):
            return None
        predicate = substituted(plan.predicate, by_name(over.columns))
        return op.Map(op.Filter(over.child, predicate), over.columns)


class FilterBelowWindow(FilterRule):
    """Not below ROWS, which counts the rows it gets, nor where RSTREAM asks when rows come."""

    name = "filter-below-window"
    says = "a filter goes below a window over time"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The window over the filtered stream."""
        over = plan.child
        if not isinstance(over, Window) or isinstance(over.spec, Rows) or place.needs_instants:
            return None
        # Some windows drop rows, of which nothing has been asked before.
        return None if can_fail(plan.predicate) else swapped(plan, over)


class FilterBelowUnion(FilterRule):
    """An outer join is put together by a union as well, and better stays in one piece."""

    name = "filter-below-union"
    says = "the filter of a union is the union of the filtered inputs"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The union of filters."""
        over = plan.child
        if not isinstance(over, op.UnionAll) or outer_join_in(over) is not None:
            return None
        return op.UnionAll(tuple(_filtered(plan, over, one) for one in over.inputs))


class FilterBelowDistinct(FilterRule):
    """All copies of a row pass, or none."""

    name = "filter-below-distinct"
    says = "a filter goes below DISTINCT"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """DISTINCT of the filtered rows."""
        over = plan.child
        return swapped(plan, over) if isinstance(over, op.Distinct) else None


class FilterBelowSetOperation(FilterRule):
    """All copies of a row pass, or none, on both sides."""

    name = "filter-below-set-operation"
    says = "the filter of a set operation is the operation on filtered inputs"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The operation on filtered inputs."""
        over = plan.child
        if not isinstance(over, op.BagOperation) or can_fail(plan.predicate):
            return None
        return over.rebuild(tuple(_filtered(plan, over, one) for one in over.children))


def _filtered(plan: op.Filter, over: Plan, child: Plan) -> Plan:
    """The filter over an input whose columns have the same places as those of what is over it."""
    return op.Filter(child, renamed(plan.predicate, over.schema, child.schema))


class FilterBelowGroup(FilterRule):
    """Both choose rows; neither changes them."""

    name = "filter-below-group"
    says = "a filter goes below the choice of one of several streams"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The chosen stream of the filtered rows."""
        over = plan.child
        if not isinstance(over, op.Group) or can_fail(plan.predicate) or can_fail(over.selector):
            return None
        return swapped(plan, over)


class FilterBelowAggregate(FilterRule):
    """HAVING on a key is WHERE: a group passes with all of its rows, or with none."""

    name = "filter-below-aggregate"
    says = "a condition on GROUP BY's keys is asked of the rows instead of the groups"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The groups of the filtered rows, filtered by what is left."""
        over = plan.child
        if not isinstance(over, op.Aggregate) or any(map(can_fail, expressions_of(over))):
            return None
        if can_fail(plan.predicate):
            return None
        keys = by_name(over.keys)
        down, rest = divided(
            conjuncts(plan.predicate),
            lambda one: bool(columns_of(one)) and columns_of(one) <= keys.keys(),
        )
        if not down:
            return None
        rows = op.Filter(over.child, substituted(conjunction(down), keys))
        groups = replace(over, child=rows)
        return op.Filter(groups, conjunction(rest)) if rest else groups


class FilterBelowCut(FilterRule):
    """Pieces of an element are the same row."""

    name = "filter-below-cut"
    says = "a filter goes below coalesce and split"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The pieces of the filtered rows."""
        over = plan.child
        return swapped(plan, over) if isinstance(over, op.Coalesce | op.Split) else None
