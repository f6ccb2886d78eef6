"""Rule prune-columns: columns that nothing above reads are dropped early."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.algebra import streams as st
from penstock.algebra.expressions import columns_of
from penstock.algebra.plan import Named, different_nodes, expressions_of
from penstock.algebra.windows import Rows
from penstock.compute.evaluate import can_fail
from penstock.planner.rewriting import parts_first, parts_of
from penstock.planner.rules.maps.plain_maps import has_own_places
from penstock.planner.rules.outer_joins.outer_join_form import outer_join_in
from penstock.planner.rules.rule import TogetherRule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from penstock.algebra.expressions import AggregateCall, Expression
    from penstock.algebra.plan import Plan
from penstock.planner.rules.maps.exact_columns import exactly

Names = frozenset[str]
PASS_ON = (
    op.Filter, op.Map, op.Alias, op.Group, op.Coalesce, op.Split, op.Aggregate, st.Window,
)  # fmt: skip
"""Operators that may be given more columns than they asked for."""


class PruneColumns(TogetherRule):
    """Rows are equal, or ordered, by all of their columns: below DISTINCT and its like all stay.

    A subplan that several places need keeps what any of them reads, so that it stays one.
    """

    name = "prune-columns"
    says = "columns that nothing above reads are dropped early"

    def rewritten(self, plans: Sequence[Plan]) -> list[Plan]:
        """The plans over fewer columns."""
        return _Pruning(plans).pruned


class _Pruning:
    """Asks each operator, those above first, what it needs; then builds all anew from below."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._needed: dict[int, Names] = {}
        self._whole = {id(node) for plan in plans for node in _whole_nodes(plan)}
        for plan in plans:
            self._need(plan, frozenset(plan.schema.names))
        order = parts_first(plans)
        for node in reversed(order):
            for child, names in zip(parts_of(node)[0], self._asked(node), strict=True):
                self._need(child, names)
        self._made: dict[int, Plan] = {}
        for node in order:
            self._made[id(node)] = self._built(node)
        self.pruned = [exactly(self._made[id(plan)], plan.schema.names) for plan in plans]

    def _need(self, plan: Plan, names: Names) -> None:
        own = frozenset(plan.schema.names) & names
        # Rows without columns are rows, but not everybody can count them.
        own = own or frozenset(plan.schema.names[:1])
        self._needed[id(plan)] = self._needed.get(id(plan), frozenset()) | own

    def _asked(self, plan: Plan) -> list[Names]:
        """The columns that an operator reads of each of its inputs, or passes on."""
        inputs, _ = parts_of(plan)
        needed = self._needed[id(plan)]
        read = _read(expressions_of(plan))
        if id(plan) in self._whole:
            return [frozenset(one.schema.names) for one in inputs]
        match plan:
            case op.Alias():
                pairs = zip(plan.schema.names, plan.child.schema.names, strict=True)
                return [frozenset(old for new, old in pairs if new in needed)]
            case op.Map():
                return [_read(one.expression for one in _columns(plan, needed))]
            case op.Aggregate():
                return [_read(expressions_of(replace(plan, aggregates=_calls(plan, needed))))]
            case op.OnArrival():
                return [needed | _read(expressions_of(plan.reading))]
            case op.UnionAll():
                return _asked_by_union(plan, needed)
            case op.ScalarProduct():
                return [needed, frozenset(plan.right.schema.names)]
            case st.Window() if isinstance(plan.spec, Rows):
                whole = frozenset(plan.child.schema.names)
                own = needed | frozenset(plan.spec.partition_by)
                return [own if has_own_places(plan.child) else whole]
            case op.Filter() | op.Group() | op.Coalesce() | op.Split() | st.Window():
                return [needed | read]
            case op.Product() | op.Join() | op.SemiJoin() | op.AntiJoin() | op.GroupJoin():
                return [needed | read] * 2
        return [frozenset(one.schema.names) for one in inputs]

    def _built(self, plan: Plan) -> Plan:
        """The operator over its inputs as they have become."""
        needed = self._needed[id(plan)]
        inputs, rebuild = parts_of(plan)
        made = tuple(
            self._input(plan, one, names)
            for one, names in zip(inputs, self._asked(plan), strict=True)
        )
        match plan:
            case st.Source():
                return exactly(plan, needed)
            case op.Map():
                return op.Map(made[0], _columns(plan, needed))
            case op.Aggregate():
                return replace(plan, child=made[0], aggregates=_calls(plan, needed))
            case orders.FirstRows() if plan.number is not None and plan.number not in needed:
                return replace(plan, child=made[0], number=None)
        same = all(old is new for old, new in zip(inputs, made, strict=True))
        return plan if same else rebuild(made)

    def _input(self, plan: Plan, child: Plan, names: Names) -> Plan:
        """An input as an operator gets it; one that keeps rows gets no column that others asked."""
        made = self._made[id(child)]
        if isinstance(plan, PASS_ON) and not _counts(plan):
            return made
        return exactly(made, names if names & set(made.schema.names) else made.schema.names[:1])


def _whole_nodes(plan: Plan) -> Iterator[Plan]:
    """The plans below INTERNAL: their elements are told apart by all that they have."""
    for node in different_nodes(plan):
        if isinstance(node, st.Internal):
            yield from different_nodes(node)


def _counts(plan: Plan) -> bool:
    return isinstance(plan, st.Window) and plan.spec.counts_rows


def _read(expressions: Iterable[Expression]) -> Names:
    return frozenset(name for one in expressions for name in columns_of(one))


def _columns(plan: op.Map, needed: Names) -> tuple[Named, ...]:
    """The columns of a projection that are needed; what may fail is computed, and counted."""
    return tuple(one for one in plan.columns if one.name in needed or can_fail(one.expression))


def _calls(plan: op.Aggregate, needed: Names) -> tuple[tuple[str, AggregateCall], ...]:
    """The aggregates that are needed, or may fail."""
    kept = tuple(
        (name, call)
        for name, call in plan.aggregates
        if name in needed or any(map(can_fail, call.args))
    )
    return kept if kept or plan.keys else plan.aggregates[:1]


def _asked_by_union(plan: op.UnionAll, needed: Names) -> list[Names]:
    """Of all inputs the same places; of the sides of an outer join what its condition reads too."""
    outer = outer_join_in(plan)
    if outer is not None:
        return [needed | columns_of(outer.condition)] * 2
    places = [n for n, name in enumerate(plan.schema.names) if name in needed]
    return [frozenset(one.schema.names[n] for n in places) for one in plan.inputs]
