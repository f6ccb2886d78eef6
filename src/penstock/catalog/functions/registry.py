"""The one list of functions, and how a name and arguments become a typed call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.catalog.functions.aggregate_types import AGGREGATES as _AGGREGATES
from penstock.catalog.functions.arithmetic import ARITHMETIC
from penstock.catalog.functions.bits import BITS
from penstock.catalog.functions.logic import CHOICES, LOGIC
from penstock.catalog.functions.numbers import NUMBERS
from penstock.catalog.functions.sample_estimates import ESTIMATES
from penstock.catalog.functions.strings import STRINGS
from penstock.catalog.functions.times import TIMES
from penstock.catalog.functions.window_functions import (
    WINDOW_CALLS,
    WINDOW_INSTEAD,
    is_window_function,
    refused_as,
)
from penstock.errors import Refused, UnknownName, did_you_mean

if TYPE_CHECKING:
    from penstock.algebra.expressions import AggregateCall, Expression
    from penstock.catalog.functions.aggregate_types import AggregateType
    from penstock.catalog.functions.kinds import Function

THEMES: dict[str, tuple[Function, ...]] = {
    "Arithmetic": ARITHMETIC,
    "Bits": BITS,
    "Comparison and logic": LOGIC,
    "Choice": CHOICES,
    "Numbers": NUMBERS,
    "Text": STRINGS,
    "Time": TIMES,
}
"""The scalar functions as a reference page shows them."""

FUNCTIONS: dict[str, Function] = {
    function.name: function for theme in THEMES.values() for function in theme
}
"""Every scalar function and operator by its canonical name."""

AGGREGATES: dict[str, AggregateType] = {aggregate.name: aggregate for aggregate in _AGGREGATES}
"""Every aggregate by its canonical name."""

NOT_DETERMINISTIC = frozenset({
    "rand", "random", "randn", "uuid", "now", "getdate", "curdate", "current_date",
    "current_time", "current_timestamp", "localtimestamp", "sysdate", "unix_timestamp",
    "monotonically_increasing_id",
})  # fmt: skip
"""Functions that other systems have and whose answer is not a function of the rows."""

NOT_OF_TIME = frozenset({"rand", "random", "randn", "uuid", "monotonically_increasing_id"})
"""Those of them that are no clocks."""

ORDER_DEPENDENT = frozenset({
    "any_value", "arbitrary", "first", "first_value", "last", "last_value",
})  # fmt: skip
"""Aggregates that other systems have and whose answer depends on an order no one promised."""

_BY_NAME = {
    spelling: function
    for function in FUNCTIONS.values()
    for spelling in (function.name, *function.aliases)
}
_AGGREGATE_BY_NAME = {
    spelling: aggregate
    for aggregate in AGGREGATES.values()
    for spelling in (aggregate.name, *aggregate.aliases)
}


def is_scalar(name: str) -> bool:
    """A scalar function or operator has this name or alias."""
    return name.lower() in _BY_NAME


def is_aggregate(name: str) -> bool:
    """An aggregate has this name or alias, or an estimate."""
    return name.lower() in _AGGREGATE_BY_NAME or name.lower() in ESTIMATES


def function_names() -> list[str]:
    """Every name that can be called, aliases included, operators not, in order."""
    spellings = (*_BY_NAME, *_AGGREGATE_BY_NAME, *ESTIMATES)
    return sorted(name for name in spellings if name.isidentifier() and name not in _OPERATORS)


_OPERATORS = frozenset({"and", "or", "not", "in", "like", "div", "negate"})


def resolve_call(
    name: str, args: tuple[Expression, ...], *, integer_division: bool = False
) -> Expression:
    """The typed call of a scalar function or operator, with the implicit casts written out.

    `integer_division` makes `/` of two integers DIV.

    Raises:
        UnknownName: No function has the name.
        TypeMismatch: The arguments are too few, too many or of the wrong type.
        Refused: The function's answer would not be determined by the rows.
    """
    function = _BY_NAME.get(name.lower())
    if function is None:
        raise _unknown(name)
    if integer_division and function.name == "/" and all(arg.type.is_integer for arg in args):
        function = FUNCTIONS["div"]
    called = "-" if name == "negate" else name.upper()
    function.arity.check(called, len(args))
    return function.resolve(called, args)


def resolve_aggregate(
    name: str, args: tuple[Expression, ...], *, distinct: bool = False
) -> AggregateCall:
    """The typed call of an aggregate. COUNT(*) has no arguments. An estimate is a sum.

    Raises:
        UnknownName: No aggregate has the name.
        TypeMismatch: The arguments are too few, too many or of the wrong type.
        Refused: The aggregate's answer would not be determined by the rows.
    """
    aggregate = _AGGREGATE_BY_NAME.get(name.lower())
    if name.lower() in ESTIMATES:
        return ESTIMATES[name.lower()].resolve(args, distinct=distinct)
    if aggregate is None:
        raise _unknown(name)
    return aggregate.resolve(name.upper(), args, distinct=distinct)


def _unknown(name: str) -> UnknownName | Refused:
    if name.lower() in NOT_DETERMINISTIC:
        is_clock = name.lower() not in NOT_OF_TIME
        msg = f"{name.upper()} is refused: the answer would depend on when it is computed"
        return Refused(msg, hint="Use the event time column of the stream." if is_clock else None)
    if name.lower() in ORDER_DEPENDENT:
        msg = f"{name.upper()} is refused: the answer would depend on the order of the rows"
        return Refused(msg, hint="Use MIN or MAX.")
    if is_aggregate(name):
        return Refused(f"{name.upper()} is an aggregate and has no meaning for a single row")
    if is_scalar(name):
        return UnknownName(f"{name.upper()} is not an aggregate")
    if is_window_function(name):
        msg, hint = refused_as(name)
        return Refused(msg, hint=hint)
    msg = f"there is no function {name.upper()}"
    if name.lower() in WINDOW_CALLS:
        return UnknownName(msg, hint=WINDOW_INSTEAD)
    return UnknownName(msg, hint=did_you_mean(name, map(str.upper, function_names())))
