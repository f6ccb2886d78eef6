"""Which accumulator computes an aggregate call."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra.patterns import Pattern
from penstock.algebra.types import DOUBLE
from penstock.operators.aggregate.accumulators.counting import Count, Truth
from penstock.operators.aggregate.accumulators.distinct_values import Distinct
from penstock.operators.aggregate.accumulators.exact_sums import ExactSum
from penstock.operators.aggregate.accumulators.float_sums import FloatSum, Variance
from penstock.operators.aggregate.accumulators.ordered import Ordered
from penstock.operators.aggregate.accumulators.staircase import Staircase

if TYPE_CHECKING:
    from penstock.algebra.expressions import AggregateCall
    from penstock.operators.aggregate.accumulators.accumulator import Accumulator

SAME_IF_DISTINCT = ("min", "max", "bool_and", "bool_or")
RANKED = ("median", "quantile")
"""Have their counters per value themselves, and count each once if told to."""


def accumulator_for(call: AggregateCall, input_pattern: Pattern) -> Accumulator:
    """A new, empty accumulator for a call over an input of a pattern."""
    if not call.distinct or call.function in RANKED:
        return _plain(call, input_pattern)
    plain = replace(call, distinct=False)
    if call.function in SAME_IF_DISTINCT:
        return _plain(plain, input_pattern)
    # Told of every new value, COUNT need not know it.
    inner = replace(plain, args=()) if call.function == "count" else plain
    return Distinct(call, _plain(inner, input_pattern))


def _plain(call: AggregateCall, input_pattern: Pattern) -> Accumulator:
    match call.function:
        case "count" | "count_if":
            return Count(call)
        case "bool_and" | "bool_or":
            return Truth(call)
        case "sum" | "avg":
            return FloatSum(call) if call.args[0].type == DOUBLE else ExactSum(call)
        case "min" | "max" if input_pattern is not Pattern.STR:
            return Staircase(call)
        case "min" | "max" | "median" | "quantile":
            return Ordered(call)
        case _:
            return Variance(call)
