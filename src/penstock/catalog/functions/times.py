"""Functions of dates and timestamps. Everything is UTC."""

from __future__ import annotations

from penstock.algebra.expressions import Call, Expression, Literal
from penstock.algebra.types import BIGINT, DATE, INT, STRING, TIMESTAMP, Type
from penstock.catalog.functions.casts import resolve_cast
from penstock.catalog.functions.kinds import (
    DAY,
    INT32,
    INT64,
    MOMENT,
    NUMBER,
    Args,
    Arity,
    Function,
    function,
    take,
    take_all,
)
from penstock.catalog.functions.time_patterns import LETTERS, parts_of
from penstock.catalog.functions.widening import coerce
from penstock.errors import TypeMismatch, did_you_mean

UNITS = {
    "year": ("yyyy", "yy"),
    "quarter": (),
    "month": ("mm", "mon"),
    "week": (),
    "day": ("dd",),
    "hour": (),
    "minute": (),
    "second": (),
    "millisecond": (),
    "microsecond": (),
}
"""The units that DATE_TRUNC cuts to, with Spark's other spellings."""

_UNIT_OF = {alias: unit for unit, aliases in UNITS.items() for alias in (unit, *aliases)}


UNITS_OF_DAYS = ("year", "quarter", "month", "week")
"""The units that TRUNC cuts to."""


def _date_trunc(called: str, args: Args) -> Expression:
    unit, moment = args
    known = _unit(called, unit, tuple(UNITS))
    return Call("date_trunc", (known, take(called, MOMENT, moment)), TIMESTAMP)


def _trunc(called: str, args: Args) -> Expression:
    day, unit = args
    known = _unit(called, unit, UNITS_OF_DAYS)
    return Call("trunc", (take(called, DAY, day), known), DATE)


def _unit(called: str, unit: Expression, units: tuple[str, ...]) -> Expression:
    """The quoted unit, under its first spelling."""
    everything = f"The units are {', '.join(units)}."
    if not (isinstance(unit, Literal) and isinstance(unit.value, str)):
        msg = f"{called} takes a quoted unit, not {unit}"
        raise TypeMismatch(msg, hint=everything)
    known = _UNIT_OF.get(unit.value.lower())
    if known not in units:
        msg = f"{called} has no unit {unit}"
        raise TypeMismatch(msg, hint=did_you_mean(unit.value, units, otherwise=everything))
    return Literal(known, STRING)


def _date_format(called: str, args: Args) -> Expression:
    moment, pattern = args
    hint = f"The letters are {', '.join(LETTERS)}; other letters stand in single quotes."
    if not (isinstance(pattern, Literal) and isinstance(pattern.value, str)):
        msg = f"{called} takes a quoted pattern, not {pattern}"
        raise TypeMismatch(msg, hint=hint)
    try:
        parts_of(pattern.value)
    except ValueError as fault:
        msg = f"{called} cannot read the pattern {pattern}: {fault}"
        raise TypeMismatch(msg, hint=hint) from fault
    return Call("date_format", (take(called, MOMENT, moment), pattern), STRING)


def _conversion(to: Type) -> Function:
    """TO_DATE and TO_TIMESTAMP: a cast of a text or the other type of time."""

    def resolve(called: str, args: Args) -> Expression:
        if args[0].type == STRING:
            return resolve_cast(args[0], to)
        return take(called, DAY if to == DATE else MOMENT, args[0])

    summary = f"A text, DATE or TIMESTAMP as a {to}; NULL where the text is none."
    return Function(f"to_{to.name.lower()}", Arity(1, 1), summary, resolve)


def _timestamp_seconds(called: str, args: Args) -> Expression:
    number = take_all(called, (NUMBER,), args)[0]
    exact = coerce(number, BIGINT) if number.type == INT else number
    return Call("timestamp_seconds", (exact,), TIMESTAMP)


DATE_PARTS = {
    "year": ("The year.", ()),
    "quarter": ("The quarter of the year, 1 to 4.", ()),
    "month": ("The month, 1 to 12.", ()),
    "day": ("The day of the month.", ("dayofmonth",)),
    "dayofweek": ("The day of the week, Sunday 1 to Saturday 7.", ()),
    "weekday": ("The day of the week, Monday 0 to Sunday 6.", ()),
    "dayofyear": ("The day of the year.", ()),
    "weekofyear": ("The ISO week of the year.", ("week",)),
}

TIME_PARTS = {
    "hour": "The hour of the day.",
    "minute": "The minute of the hour.",
    "second": "The second of the minute.",
}

CLOCKS = {
    "seconds": "seconds",
    "millis": "milliseconds",
    "micros": "microseconds",
}

TIMES = (
    *(
        function(name, (DAY,), INT, summary, aliases=aliases)
        for name, (summary, aliases) in DATE_PARTS.items()
    ),
    *(function(name, (MOMENT,), INT, summary) for name, summary in TIME_PARTS.items()),
    Function(
        "date_trunc", Arity(2, 2), "A TIMESTAMP cut to a unit: DATE_TRUNC('hour', t).", _date_trunc
    ),
    Function(
        "trunc", Arity(2, 2), "A DATE cut to a year, quarter, month or week: TRUNC(d, 'month').",
        _trunc,
    ),
    Function(
        "date_format", Arity(2, 2),
        f"As text, in English, by a constant pattern of Spark's letters {' '.join(LETTERS)}.",
        _date_format,
    ),
    function("date_add", (DAY, INT32), DATE, "The DATE so many days later.", aliases=("dateadd",)),
    function("date_sub", (DAY, INT32), DATE, "The DATE so many days earlier."),
    function(
        "datediff", (DAY, DAY), INT, "DATEDIFF(end, start): the days from start to end.",
        aliases=("date_diff",),
    ),
    function(
        "add_months", (DAY, INT32), DATE,
        "The DATE so many months later, at most the last day of its month.",
    ),
    function("last_day", (DAY,), DATE, "The last day of the month."),
    function("make_date", (INT32, INT32, INT32), DATE, "The DATE; NULL if there is no such day."),
    _conversion(DATE),
    _conversion(TIMESTAMP),
    *(
        function(f"unix_{name}", (MOMENT,), BIGINT, f"The {unit} since 1970, rounded down.")
        for name, unit in CLOCKS.items()
    ),
    Function(
        "timestamp_seconds", Arity(1, 1), "The TIMESTAMP so many seconds after 1970 began.",
        _timestamp_seconds,
    ),
    *(
        function(f"timestamp_{name}", (INT64,), TIMESTAMP, f"So many {unit} after 1970 began.")
        for name, unit in list(CLOCKS.items())[1:]
    ),
)  # fmt: skip
