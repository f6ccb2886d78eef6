"""Windows [start, end) in GROUP BY: Spark's window(ts, '1 hour'), and older Flink's TUMBLE and HOP.

They become a window in brackets, `[TUMBLE 1 HOUR]` or `[HOP 1 HOUR BY 5 MINUTES]`, with its columns
`window_start` and `window_end` in the place of the call.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NoReturn

from sqlglot import exp

from penstock.algebra.time import unit_name
from penstock.cql.syntax import Length, Name, WindowClause, WindowSyntax, span_of
from penstock.errors import CqlSyntaxError

CALLS = {
    "WINDOW": "window(ts, '1 hour')",
    "TUMBLE": "TUMBLE(ts, INTERVAL '1' HOUR)",
    "HOP": "HOP(ts, INTERVAL '5' MINUTE, INTERVAL '1' HOUR)",
}
"""Calls that are such windows, with an example of each."""
_ENDS = {"start": "window_start", "end": "window_end"}
"""The parts of Spark's window column, and the columns that the window adds."""
_END_CALLS = {
    f"{kind}_{end.upper()}": (kind, column)
    for kind in ("TUMBLE", "HOP")
    for end, column in _ENDS.items()
}
"""Flink's functions of the ends of a window, and the columns that they stand for."""


def with_grouping_window(select: exp.Expr) -> exp.Expr:
    """A SELECT with a window in GROUP BY, as one over a stream that has this window.

    Raises:
        CqlSyntaxError: FROM does not have just one stream, or the arguments are not as they must.
    """
    group = select.args.get("group") if isinstance(select, exp.Select) else None
    calls = [one for one in group.expressions if _kind(one) in CALLS] if group else []
    if group is None or not calls:
        return select
    call = calls[0]
    source = select.args["from_"].this if select.args.get("from_") else None
    if source is None or select.args.get("joins") or source.args.get("window"):
        groups = "groups the rows of one stream without a window in brackets"
        _refuse(f"{_written(call)}(...) {groups}", call)
    source.set("window", WindowClause(syntax=_of_call(call)))
    keys = [one for one in group.expressions if one is not call]
    group.set("expressions", [*map(_column, _ENDS.values(), [call] * 2), *keys])
    for one in list(select.find_all(exp.Anonymous)):
        _replace_end(one, call)
    for column in list(select.find_all(exp.Column)):
        _name_end(column)
    return select


def _kind(node: exp.Expr) -> str:
    return node.name.upper() if isinstance(node, exp.Anonymous) else ""


def _written(call: exp.Expr) -> str:
    """The name of a window function, as it is mostly written."""
    return "window" if _kind(call) == "WINDOW" else _kind(call)


def _replace_end(end: exp.Anonymous, call: exp.Expr) -> None:
    """The column that TUMBLE_START(...) or its kin stands for, in its place."""
    if _kind(end) not in _END_CALLS:
        return
    kind, name = _END_CALLS[_kind(end)]
    arguments = [one.sql() for one in call.expressions]
    if kind != _kind(call) or [one.sql() for one in end.expressions] != arguments:
        _refuse(f"{_kind(end)} takes what GROUP BY {_kind(call)} takes, and no other window", end)
    column = _column(name, end)
    if isinstance(end.parent, exp.Select):
        # The result has a column of the name that people know.
        end.replace(exp.alias_(column, _kind(end).lower(), copy=False))
    else:
        end.replace(column)


def _name_end(column: exp.Column) -> None:
    """The column that window.start or window.end stands for, in its place."""
    if column.table.lower() == "window" and column.name.lower() in _ENDS:
        column.replace(_column(_ENDS[column.name.lower()], column))
    elif column.name.lower() == "window" and not column.table:
        _refuse("a window is no column", column, "Write window.start and window.end.")


def _column(name: str, place: exp.Expr) -> exp.Column:
    identifier = exp.to_identifier(name)
    span = span_of(place)
    if span is not None:
        identifier.meta.update(start=span.start, end=span.end - 1)
    return exp.Column(this=identifier)


def _of_call(call: exp.Expr) -> WindowSyntax:
    """The event time and lengths: Spark and TUMBLE have the length first, HOP its step.

    Spark may have a step and an offset behind the length.
    """
    kind = _kind(call)
    time, *others = call.expressions or [call]
    least, most = {"WINDOW": (1, 3), "TUMBLE": (1, 1), "HOP": (2, 2)}[kind]
    if not isinstance(time, exp.Column) or not least <= len(others) <= most:
        before = ", a step" if kind == "HOP" else ""
        _refuse(f"{_written(call)} takes the event time{before} and a length", call, CALLS[kind])
    lengths = [_length(one, call) for one in others]
    if kind == "HOP":
        lengths.reverse()
    length, *rest = lengths
    step = rest[0] if rest else None
    offset = rest[1] if len(rest) > 1 else None
    at = span_of(call)
    assert at is not None
    name = Name(time.name, span_of(time) or at)
    return WindowSyntax(
        "TUMBLE" if step is None else "HOP", at, length, step, offset=offset, time=name
    )


def _length(node: exp.Expr, call: exp.Expr) -> Length:
    """A length written as '1 hour 30 minutes', as INTERVAL '1' HOUR, or as a number."""
    at = span_of(node) or span_of(call)
    assert at is not None
    if isinstance(node, exp.Interval) and isinstance(node.this, exp.Literal):
        text = f"{node.this.name} {node.text('unit')}".strip()
    elif isinstance(node, exp.Literal) and node.is_string:
        text = node.name
    elif isinstance(node, exp.Literal):
        return Length(((Decimal(node.name), None),), at)
    else:
        lengths = "INTERVAL '1' HOUR" if _kind(call) != "WINDOW" else "'1 hour'"
        _refuse(f"{_written(call)} takes lengths such as {lengths}", node)
    words = text.split()
    units = [unit_name(one) for one in words[1::2]]
    if not words or len(words) % 2 or None in units or not all(map(_is_number, words[::2])):
        _refuse(f"'{text}' is not a length of time", node, "For example '1 hour'.")
    return Length(tuple(zip(map(Decimal, words[::2]), units, strict=True)), at)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def _refuse(message: str, node: exp.Expr, hint: str | None = None) -> NoReturn:
    raise CqlSyntaxError(message, hint=hint, at=span_of(node))
