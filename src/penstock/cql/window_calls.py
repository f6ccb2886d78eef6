"""Windows [start, end) as other systems write them: TUMBLE(...) and HOP(...) in FROM, window(...).

All of them become a window in brackets, `[TUMBLE 1 HOUR]` or `[HOP 1 HOUR BY 5 MINUTES]`.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, NoReturn

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from penstock.algebra.time import unit_name
from penstock.cql.combining import CombiningParser
from penstock.cql.syntax import Length, Name, WindowClause, WindowSyntax, span_of
from penstock.errors import CqlSyntaxError, Span

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token

FUNCTIONS = ("TUMBLE", "HOP")
OTHERS = ("SESSION", "CUMULATE")
"""Window functions of other systems that nothing here stands for."""
INSTEAD = "Windows [start, end) are [TUMBLE 1 HOUR] and [HOP 1 HOUR BY 5 MINUTES]."
ENDS = {"start": "window_start", "end": "window_end"}
"""The parts of Spark's window column, and the columns that the window adds."""


class WindowFunctionParser(CombiningParser):
    """TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' HOUR) and its kin."""

    def _at_window_function(self) -> bool:
        """A window function begins here, or TABLE( and then one."""
        if self._word() == "TABLE" and self._next and self._next.token_type == TokenType.L_PAREN:
            return True
        known = self._word() in (*FUNCTIONS, *OTHERS)
        return known and bool(self._next) and self._next.token_type == TokenType.L_PAREN

    def _parse_window_function(self) -> exp.Expr:
        """The input of the function, with its window."""
        if self._match(TokenType.TABLE):
            self._advance()
            if self._word() not in (*FUNCTIONS, *OTHERS):
                self.fail(f"expected TUMBLE or HOP, found {self.found()}", known=FUNCTIONS)
            source = self._parse_window_function()
            self._expect(TokenType.R_PAREN, ") at the end of TABLE(...)")
            return source
        first, kind = self._curr, self._word()
        if kind in OTHERS:
            self.fail(f"{kind} windows are not part of the language here", hint=INSTEAD)
        self._advance(2)
        source = self._parse_function_source()
        self._expect(TokenType.COMMA, "a comma and the event time, as in DESCRIPTOR(ts)")
        time = self._parse_descriptor()
        self._expect(TokenType.COMMA, "a comma and a length of time")
        lengths = [self._parse_length(kind)]
        while self._match(TokenType.COMMA):
            lengths.append(self._parse_length(kind))
        self._expect(TokenType.R_PAREN, f") at the end of {kind}(...)")
        syntax = self._of_function(kind, lengths, Span(first.start, self._prev.end + 1), first)
        source.set("window", WindowClause(syntax=replace(syntax, time=time)))
        return source

    def _parse_function_source(self) -> exp.Expr:
        """A stream, a view or a query in parentheses, with or without TABLE."""
        self._match(TokenType.TABLE)
        source = self._parse_table_source(schema=False)
        assert source is not None
        return source

    def _parse_table_source(self, schema: bool) -> exp.Expr | None:
        raise NotImplementedError

    def _parse_descriptor(self) -> Name:
        """DESCRIPTOR(ts), or the column alone."""
        enclosed = self._match_text_seq("DESCRIPTOR")
        if enclosed:
            self._expect(TokenType.L_PAREN, "( after DESCRIPTOR")
        name = self._parse_name("the column of the event time")
        if enclosed:
            self._expect(TokenType.R_PAREN, ") after the column")
        return name

    def _expect(self, token: TokenType, what: str) -> None:
        if not self._match(token):
            self.fail(f"expected {what}, found {self.found()}")

    def _of_function(
        self, kind: str, lengths: list[Length], span: Span, first: Token
    ) -> WindowSyntax:
        """TUMBLE takes its length; HOP its step and then its length; both an offset behind."""
        own = 1 if kind == "TUMBLE" else 2
        if not own <= len(lengths) <= own + 1:
            takes = "a length" if kind == "TUMBLE" else "a step and a length"
            self.fail(f"{kind} takes {takes}, and an offset if there is one", token=first)
        slide = None if kind == "TUMBLE" else lengths[0]
        offset = lengths[own] if len(lengths) > own else None
        return WindowSyntax(kind, span, lengths[own - 1], slide, offset=offset)


def with_spark_window(select: exp.Expr) -> exp.Expr:
    """A SELECT with Spark's window(ts, '1 hour') in GROUP BY, as one over such a window.

    Raises:
        CqlSyntaxError: FROM does not have just one stream, or the arguments are not as they must.
    """
    group = select.args.get("group") if isinstance(select, exp.Select) else None
    calls = [one for one in group.expressions if _is_window_call(one)] if group else []
    if group is None or not calls:
        return select
    call = calls[0]
    source = select.args["from_"].this if select.args.get("from_") else None
    if source is None or select.args.get("joins") or source.args.get("window"):
        _refuse("window(...) groups the rows of one stream without a window in brackets", call)
    source.set("window", WindowClause(syntax=_of_call(call)))
    keys = [one for one in group.expressions if one is not call]
    group.set("expressions", [*map(_column, ENDS.values(), [call] * 2), *keys])
    for column in list(select.find_all(exp.Column)):
        _name_end(column)
    return select


def _is_window_call(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.upper() == "WINDOW"


def _name_end(column: exp.Column) -> None:
    """The column that window.start or window.end stands for, in its place."""
    if column.table.lower() == "window" and column.name.lower() in ENDS:
        column.replace(_column(ENDS[column.name.lower()], column))
    elif column.name.lower() == "window" and not column.table:
        _refuse("a window is no column", column, "Write window.start and window.end.")


def _column(name: str, place: exp.Expr) -> exp.Column:
    identifier = exp.to_identifier(name)
    span = span_of(place)
    if span is not None:
        identifier.meta.update(start=span.start, end=span.end - 1)
    return exp.Column(this=identifier)


def _of_call(call: exp.Anonymous) -> WindowSyntax:
    """Spark's arguments: the event time, a length, and if they are there a step and an offset."""
    time, *others = call.expressions or [call]
    if not isinstance(time, exp.Column) or not 1 <= len(others) <= 3:
        _refuse("window takes the event time and a length", call, "window(ts, '1 hour')")
    length, *rest = map(_length, others)
    step = rest[0] if rest else None
    offset = rest[1] if len(rest) > 1 else None
    at = span_of(call)
    assert at is not None
    name = Name(time.name, span_of(time) or at)
    kind = "TUMBLE" if step is None else "HOP"
    return WindowSyntax(kind, at, length, step, offset=offset, time=name)


def _length(node: exp.Expr) -> Length:
    """A length written as '1 hour 30 minutes', or as a number."""
    at = span_of(node)
    if not isinstance(node, exp.Literal) or at is None:
        _refuse("window takes lengths such as '1 hour'", node)
    if not node.is_string:
        return Length(((Decimal(node.name), None),), at)
    words = node.name.split()
    units = [unit_name(one) for one in words[1::2]]
    if not words or len(words) % 2 or None in units or not all(map(_is_number, words[::2])):
        _refuse(f"'{node.name}' is not a length of time", node, "For example '1 hour'.")
    return Length(tuple(zip(map(Decimal, words[::2]), units, strict=True)), at)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def _refuse(message: str, node: exp.Expr, hint: str | None = None) -> NoReturn:
    raise CqlSyntaxError(message, hint=hint, at=span_of(node))
