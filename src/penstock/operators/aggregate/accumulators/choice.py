"""The choice of the accumulator that computes an aggregate call."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra.aggregates import facts_of
from penstock.algebra.patterns import Pattern
from penstock.algebra.types import DOUBLE
from penstock.operators.aggregate.accumulators.counting import Count, Truth
from penstock.operators.aggregate.accumulators.distinct_values import DistinctAccumulator
from penstock.operators.aggregate.accumulators.exact_sums import ExactSum
from penstock.operators.aggregate.accumulators.float_sums import FloatSum, Variance
from penstock.operators.aggregate.accumulators.ordered import OrderedAccumulator
from penstock.operators.aggregate.accumulators.staircase import Staircase

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.expressions import AggregateCall
    from penstock.operators.aggregate.accumulators.accumulator import Accumulator


def accumulator_for(call: AggregateCall, input_pattern: Pattern) -> Accumulator:
    """A new, empty accumulator for a call over an input of a pattern."""
    if not call.distinct or facts_of(call.function).ranks_values:
        return _plain(call, input_pattern)
    plain = replace(call, distinct=False)
    if facts_of(call.function).ignores_copies:
        return _plain(plain, input_pattern)
    # Told of every new value, COUNT need not know it.
    inner = replace(plain, args=()) if call.function == "count" else plain
    return DistinctAccumulator(call, _plain(inner, input_pattern))


def _plain(call: AggregateCall, input_pattern: Pattern) -> Accumulator:
    return ACCUMULATORS[call.function](call, input_pattern)


def _counted(call: AggregateCall, _: Pattern) -> Accumulator:
    return Count(call)


def _asked(call: AggregateCall, _: Pattern) -> Accumulator:
    return Truth(call)


def _summed(call: AggregateCall, _: Pattern) -> Accumulator:
    return FloatSum(call) if call.args[0].type == DOUBLE else ExactSum(call)


def _extreme(call: AggregateCall, input_pattern: Pattern) -> Accumulator:
    return OrderedAccumulator(call) if input_pattern is Pattern.STR else Staircase(call)


def _ranked(call: AggregateCall, _: Pattern) -> Accumulator:
    return OrderedAccumulator(call)


def _spread(call: AggregateCall, _: Pattern) -> Accumulator:
    return Variance(call)


ACCUMULATORS: dict[str, Callable[[AggregateCall, Pattern], Accumulator]] = {
    "count": _counted,
    "count_if": _counted,
    "bool_and": _asked,
    "bool_or": _asked,
    "sum": _summed,
    "avg": _summed,
    "min": _extreme,
    "max": _extreme,
    "median": _ranked,
    "quantile": _ranked,
    "var_samp": _spread,
    "var_pop": _spread,
    "stddev_samp": _spread,
    "stddev_pop": _spread,
}
"""Every aggregate by its canonical name, without DISTINCT."""
