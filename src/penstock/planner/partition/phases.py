"""Aggregates in two phases: each lane puts its rows together, one lane all that these send."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import AggregateCall, Call, Case, Column, Expression, Literal
from penstock.algebra.patterns import Pattern, pattern_of
from penstock.algebra.plan import Named
from penstock.algebra.types import BIGINT, DOUBLE, Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.plan import Plan

_WORD = 18
"""Decimals of so many digits fit into 64 bits."""
_SUM = 19
"""Sums in 64 bits have no more digits."""


@dataclass(frozen=True)
class Phases:
    """The first phase, and the second over what the first ones of all lanes sent."""

    first: op.Combine
    second: Callable[[Plan], Plan]


def in_phases(plan: Plan) -> Phases | None:
    """The two phases of an aggregate; None if it cannot be computed exactly like that.

    What is withdrawn before its time could not be taken out of what it was put together with. And
    ranks and variances, which are exact, need every value.
    """
    if not isinstance(plan, op.Aggregate) or pattern_of(plan.child) is Pattern.STR:
        return None
    if not all(_has_phases(call) for _, call in plan.aggregates):
        return None
    partials = {
        f"{place}.{number}": call
        for place, (_, call) in enumerate(plan.aggregates)
        for number, call in enumerate(_partials(call))
    }
    first = op.Combine(plan.child, plan.keys, tuple(partials.items()))

    def second(sent: Plan) -> Plan:
        keys = tuple(Named(one.name, Column(one.name, one.expression.type)) for one in plan.keys)
        calls = [(_total_name(n), _total(call, n)) for n, (_, call) in enumerate(plan.aggregates)]
        whole = op.Aggregate(sent, keys, tuple(calls), plan.row_over_nothing)
        shown = (Named(name, _shown(call, n)) for n, (name, call) in enumerate(plan.aggregates))
        return op.Map(whole, (*keys, *shown))

    return Phases(first, second)


def _has_phases(call: AggregateCall) -> bool:
    if call.distinct:
        return False
    if call.function in ("sum", "avg"):
        of = call.args[0].type
        return not of.is_decimal or of.precision <= _WORD
    return call.function in ("count", "count_if", "min", "max", "bool_and", "bool_or")


def _partials(call: AggregateCall) -> list[AggregateCall]:
    """What is sent of the rows that were put together."""
    match call.function:
        case "count_if":
            one, none = Literal(1, BIGINT), Literal(0, BIGINT)
            return [AggregateCall("sum", (Case(((call.args[0], one),), none),), False, BIGINT)]
        case "sum":
            return [_sum(call)]
        case "avg":
            return [_sum(call), AggregateCall("count", call.args, False, BIGINT)]
    return [call]


def _sum(call: AggregateCall) -> AggregateCall:
    of = call.args[0].type
    if of.is_decimal:
        return AggregateCall("sum", call.args, False, Type("DECIMAL", _SUM, of.scale))
    return AggregateCall("sum", call.args, False, of if of == DOUBLE else BIGINT)


def _total(call: AggregateCall, place: int) -> AggregateCall:
    """What is made of that."""
    sent = tuple(Column(f"{place}.{n}", one.of) for n, one in enumerate(_partials(call)))
    function = "sum" if call.function in ("count", "count_if") else call.function
    return AggregateCall(function, sent, False, call.of)


def _total_name(place: int) -> str:
    return f"total {place}"


def _shown(call: AggregateCall, place: int) -> Expression:
    """The value of the whole call."""
    found = Column(_total_name(place), call.of)
    if call.function in ("count", "count_if"):
        # Over nothing there is no sum, and a count all the same.
        return Call("coalesce", (found, Literal(0, BIGINT)), BIGINT)
    return found
