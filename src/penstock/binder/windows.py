"""Windows as written to window specifications, in the time unit of the stream."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from penstock.algebra.patterns import Pattern, pattern_of
from penstock.algebra.plan import walk
from penstock.algebra.streams import Relation, Stream, Window, is_stream
from penstock.algebra.time import INFINITY, UNEVEN_UNITS, TimeUnit, micros_of
from penstock.algebra.values import parse_timestamp
from penstock.algebra.windows import (
    Between,
    Fixed,
    Hopping,
    Now,
    Range,
    Rows,
    Since,
    Unbounded,
    WindowSpec,
)
from penstock.binder.nrr import is_nrr
from penstock.errors import PenstockError, Refused, UnknownName, did_you_mean

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.cql.syntax import Length, Moment, Name, WindowSyntax


ALL_TIME = 2**64
"""Steps from the first instant to beyond the last."""


def bind_window(syntax: WindowSyntax, source: Plan, what: str) -> Window:
    """The window over a stream, in its time unit.

    Raises:
        Refused: The source is not a stream, or the window has no meaning on it.
    """
    _require_stream(source, what, syntax)
    unit = source.unit or TimeUnit.TICK
    try:
        _require_time(syntax, source)
        spec = _spec(syntax, source, unit)
        _require_free_names(spec, source, what)
        return Window(source, spec)
    except PenstockError as error:
        error.at = error.at or syntax.span
        raise


def _require_stream(source: Plan, what: str, syntax: WindowSyntax) -> None:
    if isinstance(source, Relation):
        msg = f"{what} has no window: a relation is already what holds now"
        raise Refused(msg, hint="Leave the brackets out.", at=syntax.span)
    if is_nrr(source):
        msg = f"{what} has no window: it is read when a stream's row arrives"
        raise Refused(msg, hint="Leave the brackets out.", at=syntax.span)
    if not is_stream(source) and pattern_of(source) is not Pattern.MON:
        msg = f"{what} is not a stream: its rows come and go, so a window over them has no meaning"
        hint = "Write ISTREAM(...) around the query to get the stream of its new rows."
        raise Refused(msg, hint=hint, at=syntax.span)


def _require_time(syntax: WindowSyntax, source: Plan) -> None:
    """A function that names a time column names that of the event time.

    Raises:
        Refused: It names another.
    """
    time = next((one.time_column for one in walk(source) if isinstance(one, Stream)), None)
    if syntax.time is not None and time is not None and syntax.time.text.lower() != time.lower():
        msg = f'the window goes by "{syntax.time.text}", which is not the event time'
        hint = f'Write "{time}", or declare WATERMARK FOR {syntax.time.text}.'
        raise Refused(msg, hint=hint, at=syntax.time.span)


def _require_free_names(spec: WindowSpec, source: Plan, what: str) -> None:
    """The columns that a window adds have names of their own.

    Raises:
        Refused: The stream has a column of such a name.
    """
    taken = [one for one in spec.added if one in map(str.lower, source.schema.names)]
    if taken:
        msg = f"{what} has a column {taken[0]}, which the window adds"
        raise Refused(msg, hint=f"Call it another name: (SELECT {taken[0]} AS other ...).")


def _spec(syntax: WindowSyntax, source: Plan, unit: TimeUnit) -> WindowSpec:
    match syntax.kind:
        case "NOW":
            return Now()
        case "UNBOUNDED":
            return Unbounded()
        case "SINCE":
            return Since(instant_in(syntax.moments[0], unit, last=False))
        case "BETWEEN":
            first, last = syntax.moments
            return Between(instant_in(first, unit, last=False), instant_in(last, unit, last=True))
    assert syntax.length is not None
    if syntax.kind == "ROWS":
        slide = _count(syntax.slide) if syntax.slide else None
        keys = tuple(_column(name, source) for name in syntax.partition_by)
        return Rows(_count(syntax.length), slide, keys)
    if syntax.kind == "FIXED":
        return Fixed(length_in(syntax.length, unit))
    if syntax.kind in ("TUMBLE", "HOP"):
        if syntax.internal:
            msg = f"{syntax.kind} windows are not INTERNAL: their results stay as they are"
            raise Refused(msg, hint="Leave INTERNAL out.")
        length = length_in(syntax.length, unit)
        step = length_in(syntax.slide, unit) if syntax.slide else length
        offset = length_in(syntax.offset, unit) if syntax.offset else 0
        return Hopping(length, step, offset % step if step > 0 else 0)
    return _range(syntax.length, syntax.slide, unit)


def _range(written: Length, slide: Length | None, unit: TimeUnit) -> WindowSpec:
    """A RANGE, exact also for the first rows of all time: instants have 64 bits, and so has it."""
    length = _steps(written, unit)
    if length >= ALL_TIME and slide is None:
        return Unbounded()
    step = _steps(slide, unit) if slide else None
    for what, steps, at in (("RANGE", length, written), ("SLIDE", step or 1, slide)):
        if steps > INFINITY and at is not None:
            msg = f"the {what} is longer than {INFINITY} steps of time"
            raise Refused(msg, hint="Write [UNBOUNDED] to keep all rows.", at=at.span)
    return Range(length, step)


def _count(length: Length) -> int:
    return min(int(length.parts[0][0]), INFINITY)


def length_in(length: Length, unit: TimeUnit) -> int:
    """A written length in steps of a time unit, at most as many as there are instants.

    Raises:
        Refused: Months and years, a unit on ticks, or a length that is not a whole number of steps.
    """
    return min(_steps(length, unit), INFINITY)


def _steps(length: Length, unit: TimeUnit) -> int:
    steps = Decimal(0)
    for count, written in length.parts:
        if written in UNEVEN_UNITS:
            msg = f"a {written} has no fixed length"
            raise Refused(msg, hint="Write DAYS, for example 30 DAYS.", at=length.span)
        if written is None:
            steps += _plain_steps(count, length, unit)
        elif unit.micros is None:
            msg = f"the event time counts ticks, which have no length in {written}S"
            hint = (
                "Write a plain number, or declare the unit: OPTIONS (time_unit 's')"
                " (or 'ms', 'us')."
            )
            raise Refused(msg, hint=hint, at=length.span)
        else:
            steps += micros_of(count, written) / unit.micros
    if steps != steps.to_integral_value():
        msg = f"the length is not a whole number of the stream's time unit ({unit.value})"
        hint = "Declare a finer one: OPTIONS (time_unit 'us')."
        raise Refused(msg, hint=hint, at=length.span)
    return int(steps)


def _plain_steps(count: Decimal, length: Length, unit: TimeUnit) -> Decimal:
    if unit is TimeUnit.TIMESTAMP:
        msg = "a length of time needs its unit here"
        raise Refused(msg, hint=f"For example {count} SECONDS.", at=length.span)
    return count


def instant_in(moment: Moment, unit: TimeUnit, *, last: bool = True) -> int:
    """A moment in steps of the unit: the first step at or after it, or the last at or before.

    Raises:
        Refused: It is written otherwise than the unit asks for, or is no date and time.
    """
    if isinstance(moment.value, int):
        if unit is TimeUnit.TIMESTAMP:
            hint = "Write TIMESTAMP '2024-01-31 12:00:00'."
            msg = "the event time is a TIMESTAMP"
            raise Refused(msg, hint=hint, at=moment.span)
        return moment.value
    if unit.micros is None:
        msg = "the event time counts ticks, not dates"
        raise Refused(msg, hint="Write a plain number.", at=moment.span)
    try:
        micros = parse_timestamp(moment.value)
        return micros // unit.micros if last else -(-micros // unit.micros)
    except ValueError:
        msg = f'"{moment.value}" is not a date and time'
        raise Refused(msg, hint="For example '2024-01-31 12:00:00'.", at=moment.span) from None


def _column(name: Name, source: Plan) -> str:
    for known in source.schema.names:
        if known.lower() == name.text.lower():
            return known
    names = list(source.schema.names)
    hint = did_you_mean(name.text, names, otherwise=f"The columns are {', '.join(names)}.")
    msg = f'the window partitions by "{name.text}", which is not a column'
    raise UnknownName(msg, hint=hint, at=name.span)
