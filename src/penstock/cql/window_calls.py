"""Windows [start, end) as Flink writes them in FROM: TABLE(TUMBLE(...)) and TABLE(HOP(...)).

They become a window in brackets, `[TUMBLE 1 HOUR]` or `[HOP 1 HOUR BY 5 MINUTES]`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import TokenType

from penstock.cql.combining import CombiningParser
from penstock.cql.syntax import Length, Name, WindowClause, WindowSyntax
from penstock.errors import Span

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.tokenizer_core import Token

FUNCTIONS = ("TUMBLE", "HOP")
OTHERS = ("SESSION", "CUMULATE")
"""Window functions of other systems that nothing here stands for."""
FOREIGN = (*OTHERS, "TUMBLING", "HOPPING")
"""The same, and words of ksqlDB's windows."""
INSTEAD = "Windows [start, end) are [TUMBLE 1 HOUR] and [HOP 1 HOUR BY 5 MINUTES]."


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
