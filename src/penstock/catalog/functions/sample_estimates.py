"""Estimates of counts and sums from a sample whose rows say for how many rows they stand.

Each is a SUM over the rows of the sample, so everything that computes sums computes estimates. If
rows were kept independently, one in w, then the sums have the right mean, and the standard error
is the root of the mean square of their errors, estimated from the same sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra.expressions import Literal
from penstock.algebra.types import DOUBLE
from penstock.catalog.functions.aggregate_types import AGGREGATES
from penstock.catalog.functions.arithmetic import ARITHMETIC
from penstock.catalog.functions.kinds import NUMBER, Args, Arity, take
from penstock.catalog.functions.widening import coerce
from penstock.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.expressions import AggregateCall, Expression

(_SUM,) = [one for one in AGGREGATES if one.name == "sum"]
_BY_SIGN = {one.name: one for one in ARITHMETIC}


@dataclass(frozen=True)
class SampleEstimate:
    """An estimate from a sample.

    Args:
        name: Its name.
        arity: The last argument is the weight.
        summary: What a reference page says of it.
        summed: What is summed, of its arguments.
        is_root: Whether the root of the sum is the result.
    """

    name: str
    arity: Arity
    summary: str
    summed: Callable[[Args], Expression]
    is_root: bool = False

    def resolve(self, args: Args, *, distinct: bool) -> AggregateCall:
        """The sum that it is, or the root of which it is.

        Raises:
            TypeMismatch: The arguments are too few, too many or no numbers.
            Refused: DISTINCT, which a sample says nothing of.
        """
        called = self.name.upper()
        if distinct:
            msg = f"{called} has no meaning with DISTINCT: a sample does not tell what it left out"
            raise Refused(msg, hint="Leave DISTINCT out.")
        self.arity.check(called, len(args))
        numbers = tuple(take(called, NUMBER, one) for one in args)
        return _SUM.resolve("SUM", (self.summed(numbers),), distinct=False)


def _product(factors: Args) -> Expression:
    first, *others = factors
    for one in others:
        first = _BY_SIGN["*"].resolve("*", (first, one))
    return first


def _squared_error(args: Args) -> Expression:
    """Of a sum w (w - 1) x x, of a count w (w - 1)."""
    numbers = [coerce(one, DOUBLE) for one in args]
    weight = numbers[-1]
    less = _BY_SIGN["-"].resolve("-", (weight, Literal(1.0, DOUBLE)))
    return _product((weight, less, *(2 * numbers[:-1])))


ESTIMATES = {
    one.name: one
    for one in (
        SampleEstimate(
            "estimated_count",
            Arity(1, 1),
            "ESTIMATED_COUNT(w): about how many rows there were, of rows that stand for w each.",
            _product,
        ),
        SampleEstimate(
            "estimated_sum",
            Arity(2, 2),
            "ESTIMATED_SUM(x, w): the sum of x over all rows, about, of rows that stand for w.",
            _product,
        ),
        SampleEstimate(
            "count_standard_error",
            Arity(1, 1),
            "COUNT_STANDARD_ERROR(w): by how much ESTIMATED_COUNT(w) is off, typically.",
            _squared_error,
            is_root=True,
        ),
        SampleEstimate(
            "sum_standard_error",
            Arity(2, 2),
            "SUM_STANDARD_ERROR(x, w): by how much ESTIMATED_SUM(x, w) is off, typically.",
            _squared_error,
            is_root=True,
        ),
    )
}
"""Every estimate by its name."""
