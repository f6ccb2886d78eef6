"""Each relational operator by its definition: snapshots of the inputs to snapshot of the result.

Tags (which input elements a row combines) pass through wherever the result row is still the
combination of input rows; where rows merge (DISTINCT, aggregates, set operations) they end.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.algebra.failures import Failures
from penstock.algebra.values import row_key, sort_key
from penstock.reference.aggregate_values import aggregate
from penstock.reference.expressions import evaluate
from penstock.reference.timeline import Bag, Row, Snapshot, Tagged, bag_of, in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from penstock.algebra.expressions import AggregateCall, Expression, Value
    from penstock.algebra.plan import Plan
    from penstock.algebra.types import Schema


class Definitions:
    """The relational operators over snapshots; failed expressions are counted as they happen."""

    def __init__(self, failures: Failures) -> None:
        self.failures = failures
        self._failed: set[Hashable] = set()

    def apply(self, plan: Plan, inputs: Sequence[Snapshot]) -> Snapshot:
        """The operator at the root of `plan` on one snapshot of each of its inputs."""
        return DEFINITIONS[type(plan)](self, plan, inputs)

    def _value(self, expression: Expression, schema: Schema, one: Tagged) -> Value:
        attempt = Failures()
        value = evaluate(expression, dict(zip(schema.names, one.row, strict=True)), attempt)
        self._count(attempt, (id(expression), one))
        return value

    def _count(self, attempt: Failures, what: Hashable) -> None:
        """Count what failed once, however many instants it is valid at."""
        if attempt.count and what not in self._failed:
            self._failed.add(what)
            self.failures.by_function.update(attempt.by_function)

    def _holds(self, condition: Expression, schema: Schema, one: Tagged) -> bool:
        return self._value(condition, schema, one) is True

    def _matches(
        self, condition: Expression, schema: Schema, left: Tagged, right: Snapshot
    ) -> list[Tagged]:
        return [
            one
            for one in right
            if self._holds(condition, schema, Tagged(left.row + one.row, left.tag + one.tag))
        ]

    def _filter(self, plan: op.Filter, inputs: Sequence[Snapshot]) -> Snapshot:
        schema = plan.child.schema
        return [one for one in inputs[0] if self._holds(plan.predicate, schema, one)]

    def _map(self, plan: op.Map, inputs: Sequence[Snapshot]) -> Snapshot:
        schema = plan.child.schema
        return [
            Tagged(tuple(self._value(c.expression, schema, one) for c in plan.columns), one.tag)
            for one in inputs[0]
        ]

    def _unchanged(self, plan: Plan, inputs: Sequence[Snapshot]) -> Snapshot:
        return inputs[0]

    def _group(self, plan: op.Group, inputs: Sequence[Snapshot]) -> Snapshot:
        schema = plan.child.schema
        return [one for one in inputs[0] if self._value(plan.selector, schema, one) == plan.index]

    def _product(self, plan: op.Product, inputs: Sequence[Snapshot]) -> Snapshot:
        left, right = inputs
        return [Tagged(a.row + b.row, a.tag + b.tag) for a in left for b in right]

    def _join(self, plan: op.Join, inputs: Sequence[Snapshot]) -> Snapshot:
        left, right = inputs
        return [
            Tagged(a.row + b.row, a.tag + b.tag)
            for a in left
            for b in self._matches(plan.condition, plan.schema, a, right)
        ]

    def _semi_join(self, plan: op.SemiJoin, inputs: Sequence[Snapshot]) -> Snapshot:
        left, right = inputs
        schema = plan.left.schema + plan.right.schema
        return [a for a in left if self._matches(plan.condition, schema, a, right)]

    def _anti_join(self, plan: op.AntiJoin, inputs: Sequence[Snapshot]) -> Snapshot:
        left, right = inputs
        schema = plan.left.schema + plan.right.schema
        return [a for a in left if not self._matches(plan.condition, schema, a, right)]

    def _union_all(self, plan: op.UnionAll, inputs: Sequence[Snapshot]) -> Snapshot:
        return [
            Tagged(one.row, (number, *one.tag))
            for number, snapshot in enumerate(inputs)
            for one in snapshot
        ]

    def _distinct(self, plan: op.Distinct, inputs: Sequence[Snapshot]) -> Snapshot:
        return [Tagged(row) for row in bag_of(inputs[0])]

    def _difference(self, plan: op.Difference, inputs: Sequence[Snapshot]) -> Snapshot:
        left, right = map(bag_of, inputs)
        return _untagged(left - right)

    def _intersection(self, plan: op.Intersection, inputs: Sequence[Snapshot]) -> Snapshot:
        left, right = map(bag_of, inputs)
        return _untagged(left & right)

    def _max_union(self, plan: op.MaxUnion, inputs: Sequence[Snapshot]) -> Snapshot:
        left, right = map(bag_of, inputs)
        return _untagged(left | right)

    def _strict_difference(self, plan: op.StrictDifference, inputs: Sequence[Snapshot]) -> Snapshot:
        left, right = map(bag_of, inputs)
        return _untagged(Counter({row: n for row, n in left.items() if row not in right}))

    def _aggregate(self, plan: op.Aggregate, inputs: Sequence[Snapshot]) -> Snapshot:
        schema = plan.child.schema
        groups: dict[Row, list[Tagged]] = {}
        if not plan.keys and plan.row_over_nothing:
            groups[()] = []
        for one in inputs[0]:
            key = tuple(self._value(k.expression, schema, one) for k in plan.keys)
            groups.setdefault(key, []).append(one)
        calls = [call for _, call in plan.aggregates]
        return [
            Tagged(key + tuple(self._total(call, schema, rows) for call in calls))
            for key, rows in groups.items()
        ]

    def _scalar_product(self, plan: op.ScalarProduct, inputs: Sequence[Snapshot]) -> Snapshot:
        left, right = inputs
        scalar = right[0].row if right else (None,)
        return [Tagged(one.row + scalar, one.tag) for one in left]

    def _group_join(self, plan: op.GroupJoin, inputs: Sequence[Snapshot]) -> Snapshot:
        left, right = inputs
        schema = plan.left.schema + plan.right.schema
        result = []
        for a in left:
            rows = self._matches(plan.condition, schema, a, right)
            calls = [call for _, call in plan.aggregates]
            values = tuple(self._total(call, plan.right.schema, rows) for call in calls)
            if not rows and not plan.row_over_nothing:
                values = (None,) * len(calls)
            result.append(Tagged(a.row + values, a.tag))
        return result

    def _sort(self, plan: orders.Sort | orders.FirstRows, inputs: Sequence[Snapshot]) -> Snapshot:
        rows = sorted(inputs[0], key=lambda one: row_key(one.row))
        for key in reversed(plan.keys):
            rows = self._sorted_by(key, plan.child.schema, rows)
        end = None if plan.limit is None else plan.offset + plan.limit
        return rows[plan.offset : end]

    def _first_rows(self, plan: orders.FirstRows, inputs: Sequence[Snapshot]) -> Snapshot:
        schema = plan.child.schema
        groups: dict[Row, list[Tagged]] = {}
        for one in inputs[0]:
            group = tuple(self._value(key, schema, one) for key in plan.partition_by)
            groups.setdefault(group, []).append(one)
        found = []
        for rows in groups.values():
            first = enumerate(self._sort(plan, [rows]), start=plan.offset + 1)
            found += [Tagged((*one.row, place), one.tag) for place, one in first]
        return found if plan.number else [Tagged(one.row[:-1], one.tag) for one in found]

    def _sorted_by(self, key: orders.OrderTerm, schema: Schema, rows: Snapshot) -> Snapshot:
        """Stable, so that sorting by the last key first gives the order of all keys."""
        valued = [(self._value(key.expression, schema, one), one) for one in rows]
        nulls = [one for value, one in valued if value is None]
        others = [pair for pair in valued if pair[0] is not None]
        others.sort(key=lambda pair: sort_key(pair[0]), reverse=key.descending)
        ordered = [one for _, one in others]
        return nulls + ordered if key.nulls_first else ordered + nulls

    def _total(self, call: AggregateCall, schema: Schema, rows: Sequence[Tagged]) -> Value:
        arguments = tuple(tuple(self._value(arg, schema, one) for arg in call.args) for one in rows)
        attempt = Failures()
        value = aggregate(call, arguments, attempt)
        self._count(attempt, (id(call), arguments))
        return value


def _untagged(bag: Bag) -> Snapshot:
    return [Tagged(row) for row in in_order(bag)]


DEFINITIONS: dict[type[Plan], Callable[..., Snapshot]] = {
    op.Filter: Definitions._filter,
    op.Map: Definitions._map,
    op.Alias: Definitions._unchanged,
    op.Coalesce: Definitions._unchanged,
    op.Split: Definitions._unchanged,
    op.Final: Definitions._unchanged,
    op.Group: Definitions._group,
    op.Product: Definitions._product,
    op.Join: Definitions._join,
    op.SemiJoin: Definitions._semi_join,
    op.AntiJoin: Definitions._anti_join,
    op.UnionAll: Definitions._union_all,
    op.Distinct: Definitions._distinct,
    op.Difference: Definitions._difference,
    op.Intersection: Definitions._intersection,
    op.MaxUnion: Definitions._max_union,
    op.StrictDifference: Definitions._strict_difference,
    op.Aggregate: Definitions._aggregate,
    op.ScalarProduct: Definitions._scalar_product,
    op.GroupJoin: Definitions._group_join,
    orders.Sort: Definitions._sort,
    orders.FirstRows: Definitions._first_rows,
}
"""The definition of each operator; a test checks that none is missing."""
