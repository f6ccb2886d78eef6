"""The cost of a plan: nanoseconds of one core per step of time, and bytes of state.

The weights are what the operators take on the machine of docs/contributors/benchmarks.md; only how
they compare with each other matters for the choice of a plan.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.patterns import Pattern
from penstock.algebra.plan import different_nodes
from penstock.planner.conditions import conjuncts, join_condition
from penstock.planner.cost.condition_cost import condition_cost
from penstock.planner.cost.estimating import Estimates
from penstock.planner.cost.state_estimate import FOUND, StateEstimate, width_of
from penstock.planner.physical.lower_joins import condition_of
from penstock.planner.physical.multiway import (
    GATHER,
    INSERT,
    TABLE,
    TABLE_BYTES,
    Multiway,
    model_of,
    share_of,
    tables_of,
)
from penstock.planner.physical.physical_only import ArrivalRead, OuterJoin
from penstock.planner.statistics.statistics import Statistics

if TYPE_CHECKING:
    from penstock.algebra.plan import Binary, Plan
    from penstock.planner.cost.flows import Flow
    from penstock.planner.cost.join_model import JoinModel
    from penstock.planner.flattening import Flat
    from penstock.planner.physical.agreements import Agreed
    from penstock.planner.physical.building import Choices

FILTER, MAP, PASS = 14.0, 7.0, 5.0
WINDOW, COUNT_WINDOW = 5.0, 60.0
JOIN, PAIR, COMPARED = 90.0, 30.0, 10.0
"""Of a join: for a row, for a result, for each pair that is asked for more than equal keys."""
EXISTS = 200.0
DISTINCT, COUNTED = 80.0, 130.0
GROUP, CALL, RESULT = 60.0, 60.0, 25.0
SENT = 140.0
END = {Pattern.MON: 0.0, Pattern.WKS: 5.0, Pattern.WK: 25.0, Pattern.STR: 25.0}
"""The time it takes to find that a row has ended, by the pattern of its input."""
LOOKED_THROUGH, BATCH = 7.0, 10_000.0
"""For each row of state and batch of so many rows, if ends are found by looking through all."""
LEAST_SHARE = 1e-6
"""Of pairs that are compared, for each result."""
LITTLE = 1e6
"""Bytes of state which nobody minds: whether it is twelve rows or one decides nothing."""


@dataclass(frozen=True)
class Cost:
    """Of an operator, or of a plan.

    Args:
        time: Nanoseconds of one core in a step of time.
        rows: Rows of state.
        size: Bytes of state.
    """

    time: float
    rows: float = 0.0
    size: float = 0.0

    @property
    def weighed(self) -> float:
        """By what plans are compared: a plan that is twice as fast may take 16 times the memory."""
        return self.time * math.sqrt(math.sqrt(max(self.size, LITTLE)))

    def __add__(self, other: Cost) -> Cost:
        """Of both."""
        return Cost(self.time + other.time, self.rows + other.rows, self.size + other.size)


class Costs:
    """The costs of the operators of a plan under a strategy."""

    def __init__(self, plan: Plan, choices: Choices, statistics: Statistics | None = None) -> None:
        self._choices = choices
        self._statistics = statistics
        announced = choices.strategy == "negative"
        self.estimates = Estimates(plan, statistics or Statistics(), announced=announced)
        self.state = StateEstimate(plan, choices, self.estimates)
        self._nodes = different_nodes(plan)
        streams = [one for one in self._nodes if isinstance(one, st.Stream)]
        self._batches = sum(self.estimates.of(one).rate for one in streams) / BATCH

    @property
    def total(self) -> Cost:
        """Of all operators."""
        return sum(map(self.of, self._nodes), Cost(0.0))

    def pattern(self, plan: Plan) -> Pattern:
        """The pattern of an edge, under the strategy."""
        return self.state.pattern(plan)

    def of(self, plan: Plan) -> Cost:
        """Of one operator."""
        out = self.estimates.of(plan)
        if isinstance(plan, Multiway):
            return self.of_many(plan, self._model(plan))
        kept = self.state.of(plan)
        rows, size = sum(one.rows for one in kept), sum(one.size for one in kept)
        loose = sum(one.rows for one in kept if one.structure != "fifo")
        return Cost(self._time(plan, out) + self._looked_through(loose), rows, size)

    def _time(self, plan: Plan, out: Flow) -> float:
        inputs = [self.estimates.of(child) for child in plan.children]
        match plan:
            case st.Relation():
                return _rows(out) * COUNTED
            case op.Filter() | op.Group():
                parts = len(conjuncts(plan.predicate)) if isinstance(plan, op.Filter) else 1
                return _rows(inputs[0]) * FILTER * parts
            case op.Map():
                return _rows(inputs[0]) * MAP
            case st.Window():
                remembers = self.pattern(plan) is Pattern.STR
                return _rows(out) * (COUNT_WINDOW if remembers else WINDOW)
            case op.Product() | op.Join() | OuterJoin():
                return self._join(plan, out)
            case ArrivalRead():
                read = self._handled(plan.reading.right, JOIN)
                return _rows(inputs[0]) * JOIN + read + _rows(out) * PAIR
            case op.SemiJoin() | op.AntiJoin() | op.GroupJoin() | op.ScalarProduct():
                return self._exists(plan, out)
            case op.Distinct():
                strict = self.pattern(plan.child) is Pattern.STR
                each = COUNTED + FOUND if strict else DISTINCT + END[Pattern.WK]
                return _rows(inputs[0]) * each
            case op.BagOperation():
                each = sum(self._handled(child, DISTINCT) for child in plan.children)
                return each + _rows(out) * COUNTED
            case op.Aggregate():
                return self._aggregate(plan, out)
            case (
                op.Sort() | op.FirstRows() | op.Final() | st.RelationToStream() | st.Internal()
            ) if self.state.of(plan):
                return self._handled(plan.children[0], SENT)
        return sum(map(_rows, inputs)) * PASS

    def _handled(self, child: Plan, each: float, above: tuple[Plan, int] | None = None) -> float:
        """The rows of an input that are kept until they end or are withdrawn."""
        pattern = self.pattern(child)
        each += END[pattern]
        if pattern is Pattern.STR:
            indexed = above is None or self.state.is_indexed(*above)
            each += FOUND if indexed or above is None else self.state.search_time(*above)
        return _rows(self.estimates.of(child)) * each

    def _kept(self, child: Plan, each: float) -> Cost:
        """The same, with what they take of memory."""
        live = self.estimates.of(child).live
        loose = live if self.pattern(child) in (Pattern.WK, Pattern.STR) else 0.0
        time = self._handled(child, each) + self._looked_through(loose)
        return Cost(time, live, live * width_of(child.schema))

    def _looked_through(self, rows: float) -> float:
        """The time it takes to find which of so many rows have ended, if they are in no order."""
        is_direct = self._choices.strategy == "direct"
        return rows * LOOKED_THROUGH * self._batches if is_direct else 0.0

    def _join(self, plan: Binary, out: Flow) -> float:
        left, right = (self.estimates.of(child) for child in plan.children)
        asked = join_condition(condition_of(plan), len(plan.left.schema))
        compared = 0.0
        if not asked.left:
            compared = _rows(left) * right.live + _rows(right) * left.live
        elif asked.residual is not None:
            compared = _rows(out) / max(self.estimates.residual(plan), LEAST_SHARE)
        sides = sum(
            self._handled(child, JOIN, (plan, port)) for port, child in enumerate(plan.children)
        )
        asking = 0.0 if asked.residual is None else condition_cost(asked.residual)
        return sides + _rows(out) * PAIR + compared * max(COMPARED, asking)

    def model(self, flat: Flat, agreed: Agreed) -> JoinModel:
        """The model of a join of many inputs."""
        shares = [share_of(one, flat, self.estimates) for one in agreed.conditions]
        return model_of(flat, agreed, self.estimates, shares)

    def _model(self, plan: Multiway) -> JoinModel:
        return Costs(plan.tree, self._choices, self._statistics).model(plan.flat, plan.agreed)

    def of_many(self, plan: Multiway, model: JoinModel) -> Cost:
        """Of a join of many inputs in one operator, which keeps its inputs and nothing else."""
        # What is asked at last is asked of all combinations.
        asked = FILTER * len(plan.agreed.above)
        results = model.results() * (GATHER * len(plan.inputs) + asked)
        total = Cost(model.total(plan.orders) + results)
        for one, tables in zip(plan.inputs, tables_of(plan.agreed, plan.orders), strict=True):
            kept = self._kept(one, INSERT + tables * TABLE)
            total += kept + Cost(0.0, 0.0, kept.rows * max(tables - 1, 0) * TABLE_BYTES)
        return total

    def _exists(self, plan: Binary, out: Flow) -> float:
        left = self._handled(plan.left, EXISTS, (plan, 0))
        return left + self._handled(plan.right, DISTINCT) + _rows(out) * RESULT

    def _aggregate(self, plan: op.Aggregate, out: Flow) -> float:
        each = GROUP + CALL * len(plan.aggregates)
        return self._handled(plan.child, 2 * each) + _rows(out) * RESULT


def _rows(flow: Flow) -> float:
    """Rows on an edge in a step of time, those that withdraw included."""
    return flow.rate + flow.withdrawn
