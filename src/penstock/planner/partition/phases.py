"""Aggregates in two phases: each lane puts its rows together, one lane all that these send."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.aggregates import facts_of, partials_of
from penstock.algebra.expressions import AggregateCall, Call, Column, Expression, Literal
from penstock.algebra.patterns import Pattern, pattern_of
from penstock.algebra.plan import Named

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.plan import Plan


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
    parts = [partials_of(call) for _, call in plan.aggregates]
    if None in parts:
        return None
    partials = {
        f"{place}.{number}": call
        for place, calls in enumerate(parts)
        for number, call in enumerate(calls or ())
    }
    first = op.Combine(plan.child, plan.keys, tuple(partials.items()))

    def second(sent: Plan) -> Plan:
        keys = tuple(Named(one.name, Column(one.name, one.expression.type)) for one in plan.keys)
        calls = [(_total_name(n), _total(call, n)) for n, (_, call) in enumerate(plan.aggregates)]
        whole = op.Aggregate(sent, keys, tuple(calls), plan.row_over_nothing)
        shown = (Named(name, _shown(call, n)) for n, (name, call) in enumerate(plan.aggregates))
        return op.Map(whole, (*keys, *shown))

    return Phases(first, second)


def _total(call: AggregateCall, place: int) -> AggregateCall:
    """The call that puts its partial forms together."""
    parts = partials_of(call) or ()
    sent = tuple(Column(f"{place}.{n}", one.of) for n, one in enumerate(parts))
    return AggregateCall(facts_of(call.function).total, sent, False, call.of)


def _total_name(place: int) -> str:
    return f"total {place}"


def _shown(call: AggregateCall, place: int) -> Expression:
    """The value of the whole call."""
    found = Column(_total_name(place), call.of)
    over_nothing = facts_of(call.function).over_nothing
    if over_nothing is None:
        return found
    # Over nothing there is no sum, and a count all the same.
    return Call("coalesce", (found, Literal(over_nothing, call.of)), call.of)
