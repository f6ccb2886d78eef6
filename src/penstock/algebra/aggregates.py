"""Facts that an aggregate owns: its value over nothing, whether copies matter, its partial form.

A partial form is what parts of a group are put together to, so that an aggregate over what was put
together is that over all rows. Aggregates without one, whose values are exact, need every value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.algebra.expressions import AggregateCall, Case, Literal
from penstock.algebra.types import BIGINT, DOUBLE, Type
from penstock.errors import InternalError

_WORD = 18
"""Decimals of so many digits fit into 64 bits."""
_SUM = 19
"""Sums in 64 bits have no more digits."""

Partials = Callable[[AggregateCall], list[AggregateCall]]


@dataclass(frozen=True)
class AggregateFacts:
    """The facts of an aggregate that others need.

    Args:
        over_nothing: The value over no rows, where there is a row for them at all.
        ignores_copies: Whether copies of a row make no difference.
        partials: The calls whose values are put together; None: there is no partial form.
        total: The aggregate that puts them together.
        ranks_values: Whether it keeps a counter for each value, by which it counts each once if
            it is told to.
    """

    over_nothing: int | None = None
    ignores_copies: bool = False
    partials: Partials | None = None
    total: str = ""
    ranks_values: bool = False


def facts_of(function: str) -> AggregateFacts:
    """The facts of an aggregate, by its canonical name."""
    if function not in AGGREGATE_FACTS:
        msg = f"nothing is known of the aggregate {function!r}"
        raise InternalError(msg)
    return AGGREGATE_FACTS[function]


def partials_of(call: AggregateCall) -> list[AggregateCall] | None:
    """The calls that make up the partial form of a call; None: it has none."""
    partials = facts_of(call.function).partials
    if call.distinct or partials is None:
        return None
    return partials(call) or None


def _itself(call: AggregateCall) -> list[AggregateCall]:
    return [call]


def _ones(call: AggregateCall) -> list[AggregateCall]:
    one, none = Literal(1, BIGINT), Literal(0, BIGINT)
    return [AggregateCall("sum", (Case(((call.args[0], one),), none),), False, BIGINT)]


def _sum(call: AggregateCall) -> list[AggregateCall]:
    """The sum in 64 bits; nothing, if these may not hold it."""
    of = call.args[0].type
    if not of.is_decimal:
        return [AggregateCall("sum", call.args, False, of if of == DOUBLE else BIGINT)]
    if of.precision > _WORD:
        return []
    return [AggregateCall("sum", call.args, False, Type("DECIMAL", _SUM, of.scale))]


def _sum_and_count(call: AggregateCall) -> list[AggregateCall]:
    sums = _sum(call)
    return [*sums, AggregateCall("count", call.args, False, BIGINT)] if sums else []


AGGREGATE_FACTS = {
    "count": AggregateFacts(over_nothing=0, partials=_itself, total="sum"),
    "count_if": AggregateFacts(over_nothing=0, partials=_ones, total="sum"),
    "sum": AggregateFacts(partials=_sum, total="sum"),
    "avg": AggregateFacts(partials=_sum_and_count, total="avg"),
    "min": AggregateFacts(ignores_copies=True, partials=_itself, total="min"),
    "max": AggregateFacts(ignores_copies=True, partials=_itself, total="max"),
    "bool_and": AggregateFacts(ignores_copies=True, partials=_itself, total="bool_and"),
    "bool_or": AggregateFacts(ignores_copies=True, partials=_itself, total="bool_or"),
    "var_samp": AggregateFacts(),
    "var_pop": AggregateFacts(),
    "stddev_samp": AggregateFacts(),
    "stddev_pop": AggregateFacts(),
    "median": AggregateFacts(ranks_values=True),
    "quantile": AggregateFacts(ranks_values=True),
}
"""Every aggregate by its canonical name."""
