"""Aggregates in two phases: each lane puts its rows together, one lane all that these send."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import (
    AggregateCall,
    Call,
    Case,
    Cast,
    Column,
    Expression,
    Literal,
)
from penstock.algebra.patterns import Pattern, pattern_of
from penstock.algebra.plan import Named
from penstock.algebra.types import BIGINT, DOUBLE, INT, Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.plan import Plan

_WORD = Type("DECIMAL", 19, 0)
"""Holds any BIGINT."""
_TOTAL = Type("DECIMAL", 38, 0)
"""Holds the sum of as many of them as there can be."""


@dataclass(frozen=True)
class Phases:
    """The first phase, and the second over what the first ones of all lanes sent."""

    first: op.Combine
    second: Callable[[Plan], Plan]


def in_phases(plan: Plan) -> Phases | None:
    """The two phases of an aggregate; None if it cannot be computed exactly like that.

    What is withdrawn before its time could not be taken out of what it was put together with. And
    a sum of doubles is the exact one, rounded once.
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
        calls = {
            f"{place}.{number}": call
            for place, (_, call) in enumerate(plan.aggregates)
            for number, call in enumerate(_totals(call, place))
        }
        whole = op.Aggregate(sent, keys, tuple(calls.items()), plan.row_over_nothing)
        shown = (Named(name, _shown(call, n)) for n, (name, call) in enumerate(plan.aggregates))
        return op.Map(whole, (*keys, *shown))

    return Phases(first, second)


def _has_phases(call: AggregateCall) -> bool:
    if call.distinct:
        return False
    if call.function in ("sum", "avg"):
        return call.args[0].type in (INT, BIGINT)
    return call.function in ("count", "count_if", "min", "max", "bool_and", "bool_or")


def _partials(call: AggregateCall) -> list[AggregateCall]:
    """What is sent of the rows that were put together."""
    if call.function == "count_if":
        one, none = Literal(1, BIGINT), Literal(0, BIGINT)
        return [AggregateCall("sum", (Case(((call.args[0], one),), none),), False, BIGINT)]
    if call.function != "avg":
        return [call]
    of = [AggregateCall("sum", call.args, False, BIGINT)]
    return [*of, AggregateCall("count", call.args, False, BIGINT)]


def _totals(call: AggregateCall, place: int) -> list[AggregateCall]:
    """What is made of that."""
    sent = [Column(f"{place}.{n}", one.of) for n, one in enumerate(_partials(call))]
    match call.function:
        case "count" | "count_if":
            return [AggregateCall("sum", (sent[0],), False, BIGINT)]
        case "avg":
            wide = Cast(sent[0], _WORD)
            return [
                AggregateCall("sum", (wide,), False, _TOTAL),
                AggregateCall("sum", (sent[1],), False, BIGINT),
            ]
    return [AggregateCall(call.function, (sent[0],), False, call.of)]


def _shown(call: AggregateCall, place: int) -> Expression:
    """The value of the whole call."""
    found = [Column(f"{place}.{n}", one.of) for n, one in enumerate(_totals(call, place))]
    match call.function:
        case "count" | "count_if":
            # Over nothing there is no sum, and a count all the same.
            return Call("coalesce", (found[0], Literal(0, BIGINT)), BIGINT)
        case "avg":
            rows = Call("nullif", (found[1], Literal(0, BIGINT)), BIGINT)
            return Call("/", (Cast(found[0], DOUBLE), Cast(rows, DOUBLE)), DOUBLE)
    return found[0]
