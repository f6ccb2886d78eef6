"""Projections: fewer of them, and below windows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from penstock.algebra import operators as op
from penstock.algebra.expressions import Column, substituted
from penstock.algebra.plan import Named
from penstock.algebra.streams import RelationToStream, Stream, Window
from penstock.algebra.windows import Rows, WindowSpec
from penstock.compute.evaluate import can_fail
from penstock.planner.rules.expressions import by_name
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan


WORTH_SEEING = (
    op.Product, op.Join, op.SemiJoin, op.AntiJoin, op.UnionAll, op.Distinct, op.Difference,
    op.StrictDifference,
)  # fmt: skip
"""Operators that rules want to see below a join."""


class RenameIsMap(Rule):
    """So that renaming is no other thing to rules than choosing columns."""

    name = "rename-is-map"
    says = "a renaming is a projection"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The projection to the same columns, under new names."""
        if not isinstance(plan, op.Alias):
            return None
        pairs = zip(plan.schema, plan.child.schema, strict=True)
        return op.Map(
            plan.child, tuple(Named(new.name, Column(old.name, old.type)) for new, old in pairs)
        )


def is_plain(plan: Plan) -> TypeGuard[op.Map]:
    """Whether a plan is a projection that computes nothing: columns dropped, moved, renamed."""
    return isinstance(plan, op.Map) and all(
        isinstance(one.expression, Column) for one in plan.columns
    )


class MapAboveJoin(Rule):
    """Joins come to lie upon joins, which other rules want to see.

    What the projection drops comes up with it; columns that nobody reads are pruned in the end.
    """

    name = "map-above-join"
    says = "columns are chosen, moved and renamed after a join instead of before"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The projection of the join."""
        if not isinstance(plan, op.Join | op.Product | op.SemiJoin | op.AntiJoin):
            return None
        inputs = [_below(one) for one in plan.children]
        if all(old is new for old, new in zip(plan.children, inputs, strict=True)):
            return None
        if not are_apart(*inputs):
            return None
        known = {**_shown(plan.left), **_shown(plan.right)}
        lower = plan.rebuild((inputs[0], inputs[1])) if isinstance(plan, op.Product) else None
        if lower is None:
            assert not isinstance(plan, op.Product)
            condition = substituted(plan.condition, known)
            lower = replace(plan, left=inputs[0], right=inputs[1], condition=condition)
        return op.Map(lower, tuple(Named(one.name, known[one.name]) for one in plan.schema))


def _below(plan: Plan) -> Plan:
    """What a plain projection hides, if there is something to see; leaves keep their names."""
    return plan.child if is_plain(plan) and isinstance(plan.child, WORTH_SEEING) else plan


def _shown(plan: Plan) -> dict[str, Expression]:
    """The columns of an input, as expressions over what is below it."""
    if is_plain(plan) and _below(plan) is not plan:
        return by_name(plan.columns)
    return {one.name: Column(one.name, one.type) for one in plan.schema}


def are_apart(left: Plan, right: Plan) -> bool:
    """Whether no column of one has the name of a column of the other."""
    return not set(left.schema.names) & set(right.schema.names)


class MapIntoAggregate(Rule):
    """Not if a column may fail: it would fail as often as aggregates use it, or not at all."""

    name = "map-into-aggregate"
    says = "keys and aggregates are computed from what a projection below computes them from"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The aggregate over what is projected."""
        if not isinstance(plan, op.Aggregate) or not isinstance(plan.child, op.Map):
            return None
        lower = plan.child
        if any(can_fail(one.expression) for one in lower.columns):
            return None
        known = by_name(lower.columns)
        keys = tuple(Named(one.name, substituted(one.expression, known)) for one in plan.keys)
        calls = tuple(
            (name, replace(call, args=tuple(substituted(arg, known) for arg in call.args)))
            for name, call in plan.aggregates
        )
        return replace(plan, child=lower.child, keys=keys, aggregates=calls)


class MergeMaps(Rule):
    """Not if a lower column may fail: it would fail as often as it is used above."""

    name = "merge-maps"
    says = "a projection of a projection is one projection"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """One projection."""
        if not isinstance(plan, op.Map) or not isinstance(plan.child, op.Map):
            return None
        lower = plan.child
        if any(can_fail(one.expression) for one in lower.columns):
            return None
        known = by_name(lower.columns)
        columns = [Named(one.name, substituted(one.expression, known)) for one in plan.columns]
        return op.Map(lower.child, tuple(columns))


class IdentityMap(Rule):
    """A projection to the same columns under the same names."""

    name = "identity-map"
    says = "a projection that changes nothing is left out"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """What is projected."""
        if not isinstance(plan, op.Map):
            return None
        same = tuple(Named(one.name, Column(one.name, one.type)) for one in plan.child.schema)
        return plan.child if plan.columns == same else None


class MapBelowWindow(Rule):
    """Below ROWS only if the partition columns stay, and rows have a place of their own.

    Rows of a view that only grows are ordered by their values, so a projection would order them
    anew. Elements stay the same, each with its interval, so it is nothing to INTERNAL either.
    """

    name = "map-below-window"
    says = "a projection goes below a window, which then keeps smaller rows"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The window over the projected stream."""
        if not isinstance(plan, op.Map) or not isinstance(plan.child, Window):
            return None
        # Some windows drop rows, for which nothing has been computed before.
        if any(can_fail(one.expression) for one in plan.columns):
            return None
        window = plan.child
        spec: WindowSpec | None = window.spec
        if isinstance(spec, Rows):
            spec = _partitioned_alike(spec, plan) if has_own_places(window.child) else None
        if spec is None:
            return None
        return Window(op.Map(window.child, plan.columns), spec)


def has_own_places(plan: Plan) -> bool:
    """Whether rows of one instant are ordered by where they stood in their source.

    What a query sends has an order of its own, by value, which projections of it keep.
    """
    match plan:
        case Stream() | RelationToStream():
            return True
        case op.Filter() | op.Map() | op.Alias() | op.Group():
            return has_own_places(plan.child)
    return False


def _partitioned_alike(spec: Rows, plan: op.Map) -> Rows | None:
    """The window over projected rows; None if a partition column is not among them."""
    names: dict[str, str] = {}
    for one in plan.columns:
        if isinstance(one.expression, Column):
            names.setdefault(one.expression.name, one.name)
    if not names.keys() >= set(spec.partition_by):
        return None
    return replace(spec, partition_by=tuple(names[name] for name in spec.partition_by))


class GroupBelowWindow(Rule):
    """As for filters: not below ROWS, nor where RSTREAM asks when rows come."""

    name = "group-below-window"
    says = "the choice of one of several streams goes below a window over time"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The window over the chosen stream."""
        if not isinstance(plan, op.Group) or not isinstance(plan.child, Window):
            return None
        window = plan.child
        if isinstance(window.spec, Rows) or place.needs_instants or can_fail(plan.selector):
            return None
        return Window(replace(plan, child=window.child), window.spec)
