"""What a plan costs: nanoseconds of one core per step of time, and bytes of state.

The weights are what the operators take on the machine of docs/benchmarks.md; only how they compare
with each other matters for the choice of a plan.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.expressions import columns_of
from penstock.algebra.patterns import Pattern, pattern_of
from penstock.algebra.plan import different_nodes
from penstock.algebra.types import STRING
from penstock.algebra.windows import Rows
from penstock.operators.join_choosing import INDEX, LOOK
from penstock.planner.asking import asking_cost
from penstock.planner.conditions import conjuncts, join_condition
from penstock.planner.estimating import Estimates
from penstock.planner.lower_joins import condition_of
from penstock.planner.multiway import (
    GATHER,
    INSERT,
    TABLE,
    TABLE_BYTES,
    Multiway,
    model_of,
    share_of,
    tables_of,
)
from penstock.planner.statistics import Statistics

if TYPE_CHECKING:
    from penstock.algebra.plan import Binary, Plan
    from penstock.algebra.types import Schema
    from penstock.planner.agreements import Agreed
    from penstock.planner.building import Choices
    from penstock.planner.estimating import Flow
    from penstock.planner.flattening import Flat
    from penstock.planner.join_model import JoinModel

FILTER, MAP, PASS = 14.0, 7.0, 5.0
WINDOW, COUNT_WINDOW = 5.0, 60.0
JOIN, PAIR, COMPARED = 70.0, 45.0, 1.5
"""Of a join: for a row, for a result, for each pair that is asked for more than equal keys."""
EXISTS = 200.0
DISTINCT, COUNTED = 80.0, 130.0
GROUP, CALL, RESULT = 60.0, 60.0, 25.0
SENT = 140.0
END = {Pattern.MON: 0.0, Pattern.WKS: 5.0, Pattern.WK: 25.0, Pattern.STR: 25.0}
"""What it takes to find that a row has ended, by the pattern of its input."""
FOUND = INDEX
"""What it takes to be ready to find a row that is withdrawn, for each row of a strict input."""
LOOKED_THROUGH = 0.05
"""For each row of state and row that comes, if ends are found by looking through all."""
LEAST_SHARE = 1e-6
"""Of pairs that are compared, for each result."""
ROW_BYTES, TEXT_BYTES = 32.0, 24.0


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
        self._nodes = different_nodes(plan)

    @property
    def total(self) -> Cost:
        """Of all operators."""
        return sum(map(self.of, self._nodes), Cost(0.0))

    def pattern(self, plan: Plan) -> Pattern:
        """The pattern of an edge, under the strategy."""
        found = pattern_of(plan)
        is_announced = self._choices.strategy == "negative" and found is not Pattern.MON
        return Pattern.STR if is_announced else found

    def of(self, plan: Plan) -> Cost:
        """Of one operator."""
        out = self.estimates.of(plan)
        inputs = [self.estimates.of(child) for child in plan.children]
        match plan:
            case op.Filter() | op.Group():
                parts = len(conjuncts(plan.predicate)) if isinstance(plan, op.Filter) else 1
                return Cost(_rows(inputs[0]) * FILTER * parts)
            case op.Map():
                return Cost(_rows(inputs[0]) * MAP)
            case st.Window():
                return self._window(plan, out)
            case op.Product() | op.Join():
                return self._join(plan, out)
            case Multiway():
                return self.of_many(plan, self._model(plan))
            case op.SemiJoin() | op.AntiJoin() | op.GroupJoin() | op.ScalarProduct():
                return self._exists(plan, out)
            case op.Distinct():
                return self._distinct(plan, out)
            case op.BagOperation():
                kept = sum((self._kept(child, DISTINCT) for child in plan.children), Cost(0.0))
                return kept + Cost(_rows(out) * COUNTED)
            case op.Aggregate():
                return self._aggregate(plan, out)
            case st.RelationToStream():
                return self._kept(plan.child, SENT)
        return Cost(sum(map(_rows, inputs)) * PASS)

    def _window(self, plan: st.Window, out: Flow) -> Cost:
        if isinstance(plan.spec, Rows):
            return Cost(_rows(out) * COUNT_WINDOW, out.live, out.live * _width(plan.schema))
        return Cost(_rows(out) * WINDOW)

    def is_indexed(self, plan: Plan, port: int) -> bool:
        """Whether withdrawn rows of a strict input are found by an index; or by looking."""
        return self._choices.strategy != "auto" or self._looking(plan, port) > FOUND

    def _looking(self, plan: Plan, port: int) -> float:
        """What it takes to look for withdrawn rows, for each row of an input."""
        if not isinstance(plan, op.Product | op.Join | op.SemiJoin | op.AntiJoin):
            return math.inf
        child = plan.children[port]
        flow = self.estimates.of(child)
        asked = join_condition(condition_of(plan), len(plan.left.schema))
        keys = (asked.left, asked.right)[port]
        columns = {str(place): name for place, name in enumerate(child.schema.names)}
        values = flow.meeting([columns[one] for key in keys for one in columns_of(key)])
        chain = max(flow.live / max(values, 1.0), 1.0)
        return LOOK * chain * flow.withdrawn / max(_rows(flow), 1e-9)

    def _kept(self, child: Plan, each: float, above: tuple[Plan, int] | None = None) -> Cost:
        """An input whose rows are kept until they end or are withdrawn."""
        flow = self.estimates.of(child)
        pattern = self.pattern(child)
        each += END[pattern]
        if pattern is Pattern.STR:
            indexed = above is None or self.is_indexed(*above)
            each += FOUND if indexed or above is None else self._looking(*above)
        if self._choices.strategy == "direct" and pattern in (Pattern.WK, Pattern.STR):
            each += flow.live * LOOKED_THROUGH
        return Cost(_rows(flow) * each, flow.live, flow.live * _width(child.schema))

    def _join(self, plan: Binary, out: Flow) -> Cost:
        left, right = (self.estimates.of(child) for child in plan.children)
        asked = join_condition(condition_of(plan), len(plan.left.schema))
        compared = 0.0
        if not asked.left:
            compared = _rows(left) * right.live + _rows(right) * left.live
        elif asked.residual is not None:
            compared = _rows(out) / max(self.estimates.residual(plan), LEAST_SHARE)
        sides = self._kept(plan.left, JOIN, (plan, 0)) + self._kept(plan.right, JOIN, (plan, 1))
        asking = 0.0 if asked.residual is None else asking_cost(asked.residual)
        return sides + Cost(_rows(out) * PAIR + compared * max(COMPARED, asking))

    def model(self, flat: Flat, agreed: Agreed) -> JoinModel:
        """What is expected of a join of many inputs."""
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
            total += kept + Cost(0.0, 0.0, kept.rows * tables * TABLE_BYTES)
        return total

    def _exists(self, plan: Binary, out: Flow) -> Cost:
        sides = self._kept(plan.left, EXISTS, (plan, 0)) + self._kept(plan.right, DISTINCT)
        return sides + Cost(_rows(out) * RESULT)

    def _distinct(self, plan: op.Distinct, out: Flow) -> Cost:
        """Where nothing is withdrawn, each value keeps itself and its youngest copy."""
        rows = self.estimates.of(plan.child)
        width = _width(plan.schema)
        if self.pattern(plan.child) is Pattern.STR:
            return Cost(_rows(rows) * (COUNTED + FOUND), rows.live, rows.live * width)
        return Cost(rows.rate * (DISTINCT + END[Pattern.WK]), 2 * out.live, 2 * out.live * width)

    def _aggregate(self, plan: op.Aggregate, out: Flow) -> Cost:
        each = GROUP + CALL * len(plan.aggregates)
        return self._kept(plan.child, 2 * each) + Cost(_rows(out) * RESULT, out.live)


def _rows(flow: Flow) -> float:
    """Rows on an edge in a step of time, those that withdraw included."""
    return flow.rate + flow.withdrawn


def _width(schema: Schema) -> float:
    """Bytes of a row that is kept, its ends and places in indexes included."""
    return ROW_BYTES + sum(TEXT_BYTES if one.type == STRING else 8.0 for one in schema)
