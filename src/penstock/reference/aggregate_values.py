"""The meaning of every aggregate: exact arithmetic over the rows of a group, rounded once."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from penstock.algebra.aggregates import facts_of
from penstock.algebra.values import canonical, sort_key
from penstock.reference.failure import Exact, Failure, fit, to_float

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.algebra.expressions import AggregateCall, Value
    from penstock.algebra.failures import Failures

Rows = list[tuple[Any, ...]]


def aggregate(
    call: AggregateCall, rows: Sequence[tuple[Value, ...]], failures: Failures | None = None
) -> Value:
    """The aggregate over the argument values of each row of a group (COUNT(*): empty tuples).

    Rows with a NULL argument are ignored; DISTINCT sees each row of arguments once.
    """
    known = [tuple(map(canonical, row)) for row in rows if None not in row]
    if call.distinct:
        known = list(dict.fromkeys(known))
    if not known and facts_of(call.function).over_nothing is None:
        return None
    try:
        return fit(MEANING[call.function](known), call.of)
    except Failure:
        if failures is not None:
            failures.add(call.function)
        return None


def _firsts(rows: Rows) -> list[Any]:
    return [row[0] for row in rows]


def _sum(rows: Rows) -> Exact:
    """Exact for exact types; of doubles the exact sum rounded once, or as IEEE has infinities."""
    values = _firsts(rows)
    special = _special_sum(values)
    return sum(map(Fraction, values), Fraction(0)) if special is None else special


def _special_sum(values: list[Any]) -> float | None:
    """The sum if NaN or an infinity decides it."""
    special = [x for x in values if isinstance(x, float) and not math.isfinite(x)]
    return sum(special) if special else None


def _mean(rows: Rows) -> Exact:
    total = _sum(rows)
    return total / len(rows) if isinstance(total, Fraction) else total


def _variance(rows: Rows, *, freedom: int) -> Fraction | float | None:
    """The mean square distance from the mean, over n - freedom."""
    values = _firsts(rows)
    if len(values) <= freedom:
        return None
    if _special_sum(values) is not None:
        return math.nan
    exact = [Fraction(x) for x in values]
    mean = sum(exact, Fraction(0)) / len(exact)
    return sum(((x - mean) ** 2 for x in exact), Fraction(0)) / (len(exact) - freedom)


def _deviation(rows: Rows, *, freedom: int) -> float | None:
    variance = _variance(rows, freedom=freedom)
    if variance is None:
        return None
    return math.sqrt(to_float(variance) if isinstance(variance, Fraction) else variance)


def _quantile(values: list[Any], fraction: Fraction) -> float:
    """At rank (n - 1) * fraction from the least, between the two nearest ranks."""
    ordered = sorted(values, key=sort_key)
    rank = (len(ordered) - 1) * fraction
    below, beyond = divmod(rank, 1)
    low = ordered[below]
    if beyond == 0:
        return low if isinstance(low, float) else to_float(Fraction(low))
    high = ordered[below + 1]
    if any(isinstance(x, float) and not math.isfinite(x) for x in (low, high)):
        return float(low) + float(high)
    return to_float(Fraction(low) + (Fraction(high) - Fraction(low)) * beyond)


MEANING: dict[str, Callable[[Rows], Exact]] = {
    "count": len,
    "sum": _sum,
    "avg": _mean,
    "min": lambda rows: min(_firsts(rows), key=sort_key),
    "max": lambda rows: max(_firsts(rows), key=sort_key),
    "var_samp": lambda rows: _variance(rows, freedom=1),
    "var_pop": lambda rows: _variance(rows, freedom=0),
    "stddev_samp": lambda rows: _deviation(rows, freedom=1),
    "stddev_pop": lambda rows: _deviation(rows, freedom=0),
    "median": lambda rows: _quantile(_firsts(rows), Fraction(1, 2)),
    # The fraction is read as the decimal that was written, 0.1 as one tenth.
    "quantile": lambda rows: _quantile(_firsts(rows), Fraction(repr(rows[0][1]))),
    "count_if": lambda rows: sum(_firsts(rows)),
    "bool_and": lambda rows: all(_firsts(rows)),
    "bool_or": lambda rows: any(_firsts(rows)),
}
"""Every aggregate by its canonical name, over rows without NULLs."""
