"""Prices: for each kind of operator that runs, what it takes, by the rows that come and go.

The weights are what the operators take on the machine of docs/contributors/benchmarks.md; only how
they compare with each other matters for the choice of a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from penstock.algebra.patterns import Pattern
from penstock.operators import source_specs as sources
from penstock.operators.aggregate import aggregate_specs as aggregates
from penstock.operators.join import join_specs as joins
from penstock.operators.output import output_specs as output
from penstock.operators.set import set_specs as sets
from penstock.operators.set.counted import Target
from penstock.operators.window import window_specs as windows
from penstock.planner.conditions import conjuncts
from penstock.planner.cost.condition_cost import condition_cost
from penstock.planner.cost.costs import Cost
from penstock.planner.cost.flow_rules import EstimateContext, residual_share
from penstock.planner.physical.multi_join_spec import MultiJoinSpec

if TYPE_CHECKING:
    from penstock.operators.flow import Flow
    from penstock.operators.spec import Spec

FILTER, MAP, PASS = 14.0, 7.0, 5.0
WINDOW, COUNT_WINDOW = 5.0, 60.0
JOIN, PAIR, COMPARED = 90.0, 30.0, 10.0
"""Of a join: for a row, for a result, for each pair that is asked for more than equal keys."""
ANTI_JOIN, DISTINCT, COUNTED = 200.0, 80.0, 130.0
GROUP, CALL, RESULT = 60.0, 60.0, 25.0
SENT = 140.0
END = {Pattern.MON: 0.0, Pattern.WKS: 5.0, Pattern.WK: 25.0, Pattern.STR: 25.0}
"""The time it takes to find that a row has ended, by the pattern of its input."""
FOUND = 110.0
"""The time it takes to be ready to find a withdrawn row, for each row of a strict input."""
LEAST_SHARE = 1e-6
"""Of pairs that are compared, for each result."""
INSERT, TABLE, GATHER = 35.0, 15.0, 2.0
"""Of a join of many: for a row that comes, for each hash table, for each input of a result."""


def price_of(at: EstimateContext, out: Flow) -> Cost:
    """The cost of an operator: its time by its rule, its state by what it declares.

    State in no order is `loose`: under the direct strategy all of it is looked through.
    """
    found = Cost(RULES[type(at.spec)](at, out))
    for one in at.spec.structures():
        rows = one.rows(at.inputs, out)
        loose = rows if one.name != "fifo" else 0.0
        found += Cost(0.0, rows, rows * one.width, loose)
    return found


Rule = Callable[[EstimateContext, "Flow"], float]
"""Nanoseconds in a step of time, by what comes and what is sent."""


def _each(weight: float) -> Rule:
    """So much for each row that comes."""
    return lambda at, _out: sum(one.sent for one in at.inputs) * weight


def _made(weight: float) -> Rule:
    """So much for each row that is sent."""
    return lambda _at, out: out.sent * weight


def _handled(at: EstimateContext, port: int, each: float) -> float:
    """The rows of an input that are kept until they end or are withdrawn."""
    pattern = at.patterns[port]
    found = FOUND if pattern is Pattern.STR else 0.0
    return at.inputs[port].sent * (each + END[pattern] + found)


def _filter(at: EstimateContext, _out: Flow) -> float:
    return at.first.sent * FILTER * len(conjuncts(at.spec.predicate))


def _number(at: EstimateContext, _out: Flow) -> float:
    """A number is found again when its row is withdrawn."""
    return _handled(at, 0, PASS) if at.spec.structures() else at.first.sent * PASS


def _sent(at: EstimateContext, _out: Flow) -> float:
    """A result that is counted before it is sent out."""
    return _handled(at, 0, SENT)


def _counted(at: EstimateContext, out: Flow) -> float:
    if at.spec.counting.target is Target.DISTINCT:
        return at.first.sent * (COUNTED + FOUND)
    each = sum(_handled(at, port, DISTINCT) for port in range(len(at.inputs)))
    return each + out.sent * COUNTED


def _join(at: EstimateContext, out: Flow) -> float:
    spec, (left, right) = at.spec, at.inputs
    sides = _handled(at, 0, JOIN) + _handled(at, 1, JOIN)
    compared = asking = 0.0
    if not spec.left.keys:
        compared = left.sent * right.live + right.sent * left.live
    elif spec.residual is not None:
        compared = out.sent / max(residual_share(at), LEAST_SHARE)
    if spec.residual is not None:
        asking = condition_cost(spec.residual)
    return sides + out.sent * PAIR + compared * max(COMPARED, asking)


def _outer_join(at: EstimateContext, out: Flow) -> float:
    return _handled(at, 0, JOIN) + _handled(at, 1, JOIN) + out.sent * PAIR


def _anti_join(at: EstimateContext, out: Flow) -> float:
    sides = _handled(at, 0, ANTI_JOIN) + _handled(at, 1, RESULT)
    return sides + out.sent * RESULT


def _read(at: EstimateContext, out: Flow) -> float:
    return at.first.sent * JOIN + _handled(at, 1, JOIN) + out.sent * PAIR


def _multi_join(at: EstimateContext, out: Flow) -> float:
    spec = at.spec
    sides = (_handled(at, port, INSERT + count * TABLE) for port, count in enumerate(spec.tables))
    results = out.sent * GATHER * len(spec.sides)
    return sum(sides, results + float(spec.model.total(spec.orders)))


def _aggregate(at: EstimateContext, out: Flow) -> float:
    each = GROUP + CALL * len(at.spec.calls)
    return _handled(at, 0, 2 * each) + out.sent * RESULT


_passed = _each(PASS)

RULES: Mapping[type[Spec], Rule] = {
    sources.StreamSpec: _passed,
    sources.ExchangeSpec: _passed,
    sources.ChangesSpec: _passed,
    sources.UnionSpec: _passed,
    sources.FilterSpec: _filter,
    sources.MapSpec: _each(MAP),
    sets.RelationSpec: _made(COUNTED),
    sets.DistinctSpec: _each(DISTINCT + END[Pattern.WK]),
    sets.CountedSpec: _counted,
    sets.ChangedSpec: _sent,
    windows.TimeWindowSpec: _made(WINDOW),
    windows.HoppingWindowSpec: _made(WINDOW),
    windows.RowsWindowSpec: _made(COUNT_WINDOW),
    windows.ByValueSpec: _passed,
    windows.NumberSpec: _number,
    windows.AttachedSpec: _each(COUNTED),
    windows.EndsToColumnSpec: _passed,
    windows.EndsFromColumnSpec: _passed,
    windows.DropEndsSpec: _passed,
    joins.JoinSpec: _join,
    joins.OuterJoinSpec: _outer_join,
    joins.AntiJoinSpec: _anti_join,
    joins.ReadOnArrivalSpec: _read,
    MultiJoinSpec: _multi_join,
    aggregates.AggregateSpec: _aggregate,
    aggregates.CombineSpec: _passed,
    output.AnnouncedEndsSpec: _made(COUNT_WINDOW),
    output.CutSpec: _passed,
    output.FinalSpec: _sent,
    output.FirstRowsSpec: _sent,
    output.WholeResultSpec: _sent,
    output.RestoredResultSpec: _sent,
    output.NextInstantSpec: _passed,
    output.BoundariesSpec: _made(END[Pattern.WK]),
    output.TimeSlidesSpec: _passed,
    output.RowSlidesSpec: _passed,
}
"""The time that each operator takes."""
