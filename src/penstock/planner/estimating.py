"""How many rows come, stay and go on each edge of a plan, per step of time.

Values of columns are thought to be independent and equally frequent. That is seldom true; the
order in which plans come by it often is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.expressions import TRUE, Column, conjunction
from penstock.algebra.patterns import Pattern, pattern_of
from penstock.algebra.plan import different_nodes
from penstock.algebra.windows import Fixed, Now, Range, Rows
from penstock.planner.conditions import conjuncts, join_condition
from penstock.planner.lower_joins import condition_of
from penstock.planner.multiway import Multiway
from penstock.planner.selectivity import selectivity
from penstock.planner.statistics import DIFFERENT_VALUES, RELATION_ROWS, Statistics, forever
from penstock.planner.tracing import (
    chosen_group,
    existence,
    made_of,
    predicate_key,
    residual_over,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Binary, Plan
    from penstock.planner.selectivity import Measured


@dataclass(frozen=True)
class Flow:
    """What an edge carries.

    Args:
        rate: Rows that begin in a step of time.
        withdrawn: How many of them are withdrawn before the end they were sent with.
        live: Rows that are valid at an instant.
        different: How many values each column has among them, at most.
        even: Of columns in which some values prevail, how many equally frequent ones would meet
            as often.
    """

    rate: float
    withdrawn: float
    live: float
    different: Mapping[str, float] = field(default_factory=dict)
    even: Mapping[str, float] = field(default_factory=dict)

    def share(self, of: float) -> Flow:
        """A share of the rows."""
        return replace(
            self, rate=self.rate * of, withdrawn=self.withdrawn * of, live=self.live * of
        )

    def values(self, columns: Sequence[str]) -> float:
        """How many different rows of these columns there may be."""
        return _product(self.different.get(name, DIFFERENT_VALUES) for name in columns)

    def meeting(self, columns: Sequence[str]) -> float:
        """How many there would be, were all as frequent as the one that a row is of."""
        different = {**self.different, **self.even}
        return _product(different.get(name, DIFFERENT_VALUES) for name in columns)


def _product(counts: Iterable[float]) -> float:
    found = 1.0
    for count in counts:
        found = min(found * count, 1e15)
    return found


def present(values: float, rows: float) -> float:
    """How many of so many values so many rows have."""
    return values * -math.expm1(-rows / values) if values > 0 else 0.0


class Estimates:
    """The flows of all edges of a plan, by its operators.

    With `announced`, windows withdraw each row at its end: the negative strategy.
    """

    def __init__(self, plan: Plan, statistics: Statistics, *, announced: bool = False) -> None:
        self._statistics = statistics
        self._announced = announced
        self._flows: dict[int, Flow] = {}
        self._residuals: dict[int, float] = {}
        for node in different_nodes(plan):
            self._flows[id(node)] = self._flow(node)

    def of(self, plan: Plan) -> Flow:
        """What comes out of an operator."""
        return self._flows[id(plan)]

    def residual(self, plan: Binary) -> float:
        """The share of the pairs with equal keys in a join that satisfy what else it asks for."""
        return self._residuals[id(plan)]

    def measured_share(self, name: str | None) -> float | None:
        """The share of rows or pairs that satisfy a condition of that name, if it was measured."""
        return None if name is None else self._statistics.selectivities.get(name)

    def _flow(self, plan: Plan) -> Flow:
        inputs = [self._flows[id(child)] for child in plan.children]
        match plan:
            case st.Source():
                return self._source(plan)
            case st.Window():
                return self._window(plan, inputs[0])
            case op.Filter():
                share = selectivity(plan.predicate, inputs[0].different, self._measured(plan))
                return inputs[0].share(share)
            case op.Group():
                known = self._measured(plan)
                found = None if known is None else known(chosen_group(plan))
                return inputs[0].share(1 / plan.parts if found is None else found)
            case op.Map():
                return _mapped(plan, inputs[0])
            case op.Alias():
                pairs = list(zip(plan.schema.names, plan.child.schema.names, strict=True))
                values, even = inputs[0].different, inputs[0].even
                return replace(
                    inputs[0],
                    different={n: values.get(o, 1.0) for n, o in pairs},
                    even={n: even[o] for n, o in pairs if o in even},
                )
            case op.Product() | op.Join():
                return _joined(inputs[0], inputs[1], self._pairs(plan, inputs))
            case op.SemiJoin() | op.AntiJoin():
                passing = _existing(plan, inputs[0], inputs[1], self._pairs(plan, inputs))
                return self._as_measured(plan, passing, inputs[0])
            case op.Distinct():
                return self._as_measured(plan, _distinct(plan, inputs[0]), inputs[0])
            case op.UnionAll():
                return _united(inputs)
            case op.BagOperation():
                return _bags(plan, *inputs)
            case op.Aggregate() | op.Combine():
                return self._as_measured(plan, _grouped(plan, inputs[0]), inputs[0])
            case Multiway():
                return Estimates(plan.tree, self._statistics, announced=self._announced).of(
                    plan.tree
                )
            case op.ScalarProduct() | op.GroupJoin():
                left, right = inputs
                changes = left.rate + (right.rate if isinstance(plan, op.ScalarProduct) else 0.0)
                return Flow(changes, changes - left.rate, left.live, left.different, left.even)
            case st.RelationToStream() | st.Internal():
                return replace(inputs[0], withdrawn=0.0, live=inputs[0].rate * forever(plan.unit))
        return inputs[0]

    def _pairs(self, plan: Binary, inputs: Sequence[Flow]) -> float:
        """The share of pairs of rows of an operator's inputs for which its condition is TRUE."""
        condition = getattr(plan, "condition", TRUE)
        different = {name: count for one in inputs for name, count in one.different.items()}
        # Rows that meet have values as frequent as these are.
        different |= {name: count for one in inputs for name, count in one.even.items()}
        asked = join_condition(condition_of(plan), len(plan.left.schema))
        beyond = residual_over(asked, plan)
        rest = [] if beyond is None else conjuncts(beyond)
        keys = conjunction([one for one in conjuncts(condition) if one not in rest])
        known = self._measured(plan)
        # The residual was measured as a whole, for pairs whose keys are equal.
        self._residuals[id(plan)] = selectivity(conjunction(rest), different, known)
        return selectivity(keys, different, known) * self._residuals[id(plan)]

    def _measured(self, plan: Plan) -> Measured | None:
        """What was measured of conditions over the inputs of an operator, if anything was."""
        known = self._statistics.selectivities
        if not known:
            return None
        below = plan.children[0] if len(plan.children) == 1 else plan

        def share(condition: Expression) -> float | None:
            key = predicate_key(condition, below)
            return None if key is None else known.get(key)

        return share

    def _as_measured(self, plan: Plan, assumed: Flow, rows: Flow) -> Flow:
        """What an operator sends for each row that comes, if that was measured.

        Of a semi-join or an anti-join, for each left row, wherever it stood then.
        """
        known = self._statistics.outputs
        key = (existence(plan) or made_of(plan)) if known else None
        if key is None or key not in known:
            return assumed
        came = rows.rate + rows.withdrawn
        sent, withdrawn = known[key]
        share = self.measured_share(key)
        live = assumed.live if share is None else rows.live * share
        return replace(assumed, rate=came * sent, withdrawn=came * withdrawn, live=live)

    def _source(self, plan: st.Source) -> Flow:
        known = {
            one.name: self._statistics.different(plan.name, one.name, one.type)
            for one in plan.schema
        }
        if isinstance(plan, st.Stream):
            rate = self._statistics.rate(plan.name, plan.time_unit)
            measured = self._statistics.even
            even = {c: measured[plan.name, c] for c in known if (plan.name, c) in measured}
            return Flow(rate, 0.0, rate * forever(plan.unit), known, even)
        if isinstance(plan, st.Exchanged):
            return Flow(1.0, 0.0, RELATION_ROWS, known)
        return Flow(RELATION_ROWS / forever(plan.unit), 0.0, RELATION_ROWS, known)

    def _window(self, plan: st.Window, rows: Flow) -> Flow:
        live = rows.live
        match plan.spec:
            case Range(length):
                live = rows.rate * length
            case Fixed(length):
                live = rows.rate * (length + 1) / 2
            case Now():
                live = rows.rate
            case Rows(count, _, partition_by):
                live = count * present(rows.values(partition_by), rows.live)
                return replace(rows, live=live, withdrawn=rows.rate)
        ends = pattern_of(plan) is not Pattern.MON
        return replace(rows, live=live, withdrawn=rows.rate if self._announced and ends else 0.0)


def _mapped(plan: op.Map, rows: Flow) -> Flow:
    known = {one.name: _values(one.expression, rows) for one in plan.columns}
    even = {
        one.name: rows.even[one.expression.name]
        for one in plan.columns
        if isinstance(one.expression, Column) and one.expression.name in rows.even
    }
    return replace(rows, different=known, even=even)


def _values(expression: Expression, rows: Flow) -> float:
    if isinstance(expression, Column):
        return rows.different.get(expression.name, DIFFERENT_VALUES)
    found = [_values(child, rows) for child in expression.children]
    return max(found, default=1.0)


def _joined(left: Flow, right: Flow, share: float) -> Flow:
    return Flow(
        (left.rate * right.live + right.rate * left.live) * share,
        (left.withdrawn * right.live + right.withdrawn * left.live) * share,
        left.live * right.live * share,
        {**left.different, **right.different},
        {**left.even, **right.even},
    )


def _existing(plan: op.SemiJoin | op.AntiJoin, left: Flow, right: Flow, share: float) -> Flow:
    """Left rows with a match, or without; a first match lets a row in, or throws it out."""
    alone = math.exp(-min(share * right.live, 700.0))
    matched = left.live * share * right.rate * alone
    if isinstance(plan, op.SemiJoin):
        kept = 1 - alone
        rate = left.rate * kept + matched
        return replace(left, rate=rate, withdrawn=left.withdrawn * kept, live=left.live * kept)
    # What a match throws out comes back when the last match has gone.
    rate = left.rate * alone + matched
    withdrawn = left.withdrawn * alone + matched
    return replace(left, rate=rate, withdrawn=withdrawn, live=left.live * alone)


def _distinct(plan: op.Distinct, rows: Flow) -> Flow:
    values = rows.values(plan.schema.names)
    there = present(values, rows.live)
    new = 1 - there / values if values else 0.0
    return Flow(rows.rate * new, rows.withdrawn * new, there, rows.different)


def _united(inputs: Sequence[Flow]) -> Flow:
    return Flow(
        sum(one.rate for one in inputs),
        sum(one.withdrawn for one in inputs),
        sum(one.live for one in inputs),
        inputs[0].different,
    )


def _bags(plan: op.BagOperation, left: Flow, right: Flow) -> Flow:
    """Of set operations the left rows are counted, and each right row as one that changes them."""
    if isinstance(plan, op.MaxUnion):
        return _united([left, right])
    if isinstance(plan, op.Intersection):
        return left.share(0.5)
    return replace(left, rate=left.rate + right.rate, withdrawn=left.withdrawn + right.rate)


def _grouped(plan: op.Aggregate | op.Combine, rows: Flow) -> Flow:
    """Each row that comes or goes changes the row of its group."""
    keys = {one.name: _values(one.expression, rows) for one in plan.keys}
    values = 1.0
    for count in keys.values():
        values = min(values * count, 1e15)
    groups = present(values, rows.live) if keys else 1.0
    changes = 2 * rows.rate
    calls = {name: max(groups, 1.0) for name, _ in plan.aggregates}
    return Flow(changes, changes, groups, {**keys, **calls})
