"""Estimates of rows that come, stay and go on each edge of a plan, per step of time.

Values of columns are thought to be independent and equally frequent. That is seldom true; the
order in which plans come by it often is.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.expressions import TRUE, columns_of, conjunction
from penstock.algebra.patterns import Pattern, pattern_as_run, pattern_of
from penstock.algebra.plan import different_nodes
from penstock.algebra.windows import Rows
from penstock.planner.conditions import conjuncts, join_condition
from penstock.planner.cost.flows import (
    Flow,
    arrived,
    bags,
    grouped,
    joined,
    mapped,
    matched,
    padded,
    present,
    united,
    unmatched,
)
from penstock.planner.cost.selectivity import selectivity
from penstock.planner.physical.lower_joins import condition_of
from penstock.planner.physical.multiway import Multiway
from penstock.planner.physical.physical_only import ArrivalRead, OuterJoin
from penstock.planner.statistics.statistics import RELATION_ROWS, Statistics, endless_span
from penstock.planner.statistics.tracing import (
    chosen_group,
    existence,
    made_of,
    predicate_key,
    residual_over,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Binary, Plan
    from penstock.algebra.time import TimeUnit
    from penstock.planner.cost.selectivity import Measured


class Estimates:
    """The flows of all edges of a plan, by its operators.

    With `announced`, windows withdraw each row at its end: the negative strategy. `unit` is that
    of time, if the plan is part of another; relations alone do not tell.
    """

    def __init__(
        self,
        plan: Plan,
        statistics: Statistics,
        *,
        announced: bool = False,
        unit: TimeUnit | None = None,
    ) -> None:
        self._statistics = statistics
        self._announced = announced
        self._unit = unit or plan.unit
        self._flows: dict[int, Flow] = {}
        self._residuals: dict[int, float] = {}
        for node in different_nodes(plan):
            self._flows[id(node)] = self._flow(node)

    def of(self, plan: Plan) -> Flow:
        """The flow out of an operator."""
        return self._flows[id(plan)]

    def residual(self, plan: Binary) -> float:
        """The share of the pairs with equal keys in a join that satisfy what else it asks for."""
        return self._residuals[id(plan)]

    def pairs(self, plan: Binary) -> Flow:
        """The pairs of rows of an operator's inputs for which its condition is TRUE."""
        left, right = (self.of(child) for child in plan.children)
        return joined(left, right, self._pairs(plan, (left, right)))

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
                return mapped(plan, inputs[0])
            case op.Alias():
                pairs = list(zip(plan.schema.names, plan.child.schema.names, strict=True))
                values, even = inputs[0].different, inputs[0].even
                return replace(
                    inputs[0],
                    different={n: values.get(o, 1.0) for n, o in pairs},
                    even={n: even[o] for n, o in pairs if o in even},
                )
            case op.Product() | op.Join():
                return joined(inputs[0], inputs[1], self._pairs(plan, inputs))
            case op.SemiJoin():
                some = matched(inputs[0], inputs[1], self._pairs(plan, inputs))
                return self._as_measured(plan, some, inputs[0])
            case op.AntiJoin():
                some = unmatched(inputs[0], inputs[1], self._pairs(plan, inputs))
                return self._as_measured(plan, some, inputs[0])
            case OuterJoin():
                return padded(plan, inputs[0], inputs[1], self._pairs(plan.pairs, inputs))
            case ArrivalRead():
                return arrived(plan, inputs[0], inputs[1], self._pairs(plan.reading, inputs))
            case op.Distinct():
                return self._as_measured(plan, self._distinct(plan, inputs[0]), inputs[0])
            case op.UnionAll():
                return united(inputs)
            case op.BagOperation():
                return bags(plan, *inputs)
            case op.Aggregate() | op.Combine():
                return self._as_measured(plan, grouped(plan, inputs[0]), inputs[0])
            case Multiway():
                return self._within(plan.tree).of(plan.tree)
            case op.ScalarProduct() | op.GroupJoin():
                left, right = inputs
                changes = left.rate + (right.rate if isinstance(plan, op.ScalarProduct) else 0.0)
                return Flow(changes, changes - left.rate, left.live, left.different, left.even)
            case st.RelationToStream() | st.Internal():
                return replace(
                    inputs[0], withdrawn=0.0, live=inputs[0].rate * endless_span(self._unit)
                )
            case op.Final():
                return replace(inputs[0], withdrawn=0.0)
            case op.FirstRows():
                return _first(plan, inputs[0])
            case op.Sort() if plan.limit is not None:
                return replace(inputs[0], live=min(inputs[0].live, float(plan.limit)))
        return inputs[0]

    def _within(self, plan: Plan) -> Estimates:
        """The flows of what an operator stands for."""
        return Estimates(plan, self._statistics, announced=self._announced, unit=self._unit)

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
        """The measured selectivity of conditions over the inputs of an operator, if any."""
        known = self._statistics.selectivities
        if not known:
            return None
        below = plan.children[0] if len(plan.children) == 1 else plan

        def share(condition: Expression) -> float | None:
            key = predicate_key(condition, below)
            return None if key is None else known.get(key)

        return share

    def _as_measured(self, plan: Plan, assumed: Flow, rows: Flow) -> Flow:
        """The rows that an operator sends for each row that comes, if that was measured.

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
            return Flow(rate, 0.0, rate * endless_span(plan.unit), known, even)
        if isinstance(plan, st.Exchanged) and plan.unit is not None:
            # Of what other operators make of streams, as much is assumed as of streams.
            return Flow(self._statistics.rate(plan.name, plan.unit), 0.0, RELATION_ROWS, known)
        return Flow(RELATION_ROWS / endless_span(self._unit), 0.0, RELATION_ROWS, known)

    def _window(self, plan: st.Window, rows: Flow) -> Flow:
        if isinstance(plan.spec, Rows):
            live = plan.spec.count * present(rows.values(plan.spec.partition_by), rows.live)
            return replace(rows, live=live, withdrawn=rows.rate)
        stay = plan.spec.mean_stay
        rate = rows.rate * plan.spec.copies
        live = rows.live if stay is None else rate * stay
        ends = pattern_of(plan) is not Pattern.MON
        withdrawn = rate if self._announced and ends else 0.0
        different = dict(rows.different) | dict.fromkeys(plan.spec.added, max(plan.spec.copies, 1))
        return replace(rows, rate=rate, live=live, withdrawn=withdrawn, different=different)

    def _distinct(self, plan: op.Distinct, rows: Flow) -> Flow:
        """A value comes with its first row and goes with its last, where rows are counted.

        Where their ends are known, a value is sent with the end of one row, and when that has
        come, with the end of the youngest: about once in the time for which rows live.
        """
        values = rows.values(plan.schema.names)
        there = present(values, rows.live)
        if pattern_as_run(plan.child, announced=self._announced) is Pattern.STR:
            new = 1 - there / values if values else 0.0
            return Flow(rows.rate * new, rows.withdrawn * new, there, rows.different)
        return Flow(rows.rate * min(there / max(rows.live, 1e-9), 1.0), 0.0, there, rows.different)


def _first(plan: op.FirstRows, rows: Flow) -> Flow:
    """Rows that come to the first places of their groups, each of which pushes out another."""
    groups = 1.0
    if plan.partition_by:
        read = frozenset[str]().union(*map(columns_of, plan.partition_by))
        groups = present(rows.values(sorted(read)), rows.live)
    most = math.inf if plan.limit is None else groups * plan.limit
    live = min(rows.live, most)
    share = live / max(rows.live, 1e-9)
    each = share if plan.number is None else min(share * (plan.limit or 1), plan.limit or 1)
    rate = rows.rate * each
    return replace(rows, rate=rate, withdrawn=rate + rows.withdrawn * each, live=live)
