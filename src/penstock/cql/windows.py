"""Parsing windows: `[RANGE 10 SECONDS SLIDE 2 SECONDS INTERNAL]` and the rest of the family."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, NoReturn

from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType

from penstock.algebra.time import MICROS_PER, unit_name
from penstock.cql.syntax import Length, Moment, Name, WindowClause, WindowSyntax
from penstock.errors import CqlSyntaxError, Span, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

WINDOW_KINDS = (
    "RANGE", "ROWS", "PARTITION", "TUMBLE", "HOP", "FIXED", "NOW", "UNBOUNDED", "SINCE", "BETWEEN",
)  # fmt: skip
WINDOW_HINT = (
    "Windows: [RANGE 10 SECONDS], [RANGE 10 SECONDS SLIDE 2 SECONDS], [ROWS 5], "
    "[PARTITION BY k ROWS 5], [TUMBLE 1 HOUR], [HOP 1 HOUR BY 5 MINUTES], [FIXED 1 MINUTE], [NOW], "
    "[UNBOUNDED], [SINCE t], [BETWEEN t AND t]."
)
END = "the end of the statement"
NOT_UNITS = ("SLIDE", "BY", "OFFSET", "INTERNAL", "OUTPUT", "EMIT")
"""Words that may follow a length without a unit."""
WORD_TOKENS_EXCLUDED = (TokenType.NUMBER, TokenType.STRING)


def token_span(token: Token) -> Span:
    """The place of a token."""
    return Span(token.start, token.end + 1)


class WindowParser(Parser):
    """The part of the parser that reads windows, lengths of time and instants."""

    def fail(
        self,
        message: str,
        *,
        known: Sequence[str] = (),
        hint: str | None = None,
        token: Token | None = None,
    ) -> NoReturn:
        """Stop with a syntax error at a token (the current one unless given)."""
        at = token or self._curr
        near = did_you_mean(at.text, known, otherwise=hint) if at else hint
        place = at or self._prev
        raise CqlSyntaxError(message, hint=near, at=token_span(place) if place else None)

    def found(self) -> str:
        """The current token for a message."""
        return f'"{self._curr.text}"' if self._curr else END

    def _at_window(self) -> bool:
        return bool(self._curr) and self._curr.token_type == TokenType.L_BRACKET

    def _parse_window_clause_in_brackets(self) -> WindowClause:
        """A window, from `[` to `]`; there is no going back once the bracket is open."""
        first = self._curr
        self._advance()
        syntax = self._parse_window_body(first)
        if not self._match(TokenType.R_BRACKET):
            known = ("SLIDE", "BY", "OFFSET", "INTERNAL", "AND")
            self.fail(f"expected ] at the end of the window, found {self.found()}", known=known)
        if self._match_text_seq("INTERNAL"):
            syntax = replace(syntax, internal=True)
        return WindowClause(syntax=syntax)

    def _parse_window_body(self, first: Token) -> WindowSyntax:
        partition_by = self._parse_partition_columns()
        if partition_by and not self._match_text_seq("ROWS", advance=False):
            self.fail(f"expected ROWS after PARTITION BY, found {self.found()}", known=("ROWS",))
        kind_token = self._curr
        kind = self._word()
        if kind not in WINDOW_KINDS:
            self.fail(f"{self.found()} is not a window", known=WINDOW_KINDS, hint=WINDOW_HINT)
        self._advance()
        length = slide = offset = None
        moments: tuple[Moment, ...] = ()
        if kind == "RANGE" and self._word() in ("UNBOUNDED", "NOW"):
            kind = self._word()
            self._advance()
        elif kind in ("RANGE", "FIXED"):
            length = self._parse_length(kind)
        elif kind in ("TUMBLE", "HOP"):
            length = self._parse_length(kind)
            slide = self._parse_window_step(kind)
            offset = self._parse_window_offset()
        elif kind == "ROWS":
            length = self._parse_count("ROWS")
        elif kind == "SINCE":
            moments = (self._parse_moment(),)
        elif kind == "BETWEEN":
            moments = self._parse_moments_between()
        if kind in ("RANGE", "ROWS") and self._match_text_seq("SLIDE"):
            slide = self._parse_length("SLIDE") if kind == "RANGE" else self._parse_count("SLIDE")
        internal = self._match_text_seq("INTERNAL")
        end = self._curr or self._prev or kind_token
        span = Span(first.start, end.end + 1)
        return WindowSyntax(kind, span, length, slide, moments, partition_by, internal, offset)

    def _parse_window_step(self, kind: str) -> Length | None:
        """`BY 5 MINUTES` of HOP."""
        if kind == "TUMBLE":
            return None
        if not self._match_text_seq("BY"):
            hint = "For example HOP 1 HOUR BY 5 MINUTES."
            self.fail(f"expected BY after HOP and its length, found {self.found()}", hint=hint)
        return self._parse_length("BY")

    def _parse_window_offset(self) -> Length | None:
        return self._parse_length("OFFSET") if self._match_text_seq("OFFSET") else None

    def _word(self) -> str:
        if not self._curr or self._curr.token_type in WORD_TOKENS_EXCLUDED:
            return ""
        return self._curr.text.upper()

    def _parse_partition_columns(self) -> tuple[Name, ...]:
        """PARTITION BY a, b; sqlglot reads the two words as one token."""
        if not self._match(TokenType.PARTITION_BY) and not self._match_text_seq("PARTITION", "BY"):
            return ()
        names = [self._parse_column_name()]
        while self._match(TokenType.COMMA):
            names.append(self._parse_column_name())
        return tuple(names)

    def _parse_column_name(self) -> Name:
        """A column of the one stream a window is on, without an alias in front of it."""
        name = self._parse_name("a column")
        if self._match(TokenType.DOT, advance=False):
            hint = f'Leave "{name.text}." out.'
            self.fail("a window partitions by columns of its own stream", hint=hint)
        return name

    def _parse_name(self, what: str) -> Name:
        """An identifier, kept with its place."""
        token = self._curr
        identifier = self._parse_id_var(any_token=False)
        if identifier is None or token is None:
            is_word = bool(token) and token.text.isidentifier()
            hint = "Write it in backquotes if it is a name." if is_word else None
            self.fail(f"expected {what}, found {self.found()}", hint=hint)
        return Name(identifier.name, Span(token.start, self._prev.end + 1))

    def _parse_count(self, word: str) -> Length:
        token = self._curr
        if not token or token.token_type != TokenType.NUMBER or not token.text.isdigit():
            self.fail(f"{word} takes a whole number of rows, not {self.found()}")
        self._advance()
        return Length(((Decimal(token.text), None),), token_span(token))

    def _parse_length(self, word: str) -> Length:
        """`10`, `1.5 SECONDS`, `1 MINUTE 30 SECONDS`, `INTERVAL '10' SECONDS`."""
        self._match(TokenType.INTERVAL)
        first = self._curr
        parts: list[tuple[Decimal, str | None]] = []
        while self._curr and self._is_number_token():
            parts.append(self._parse_length_part())
        if not parts:
            hint = f"For example {word} 10 SECONDS."
            self.fail(f"{word} takes a length of time, not {self.found()}", hint=hint)
        return Length(tuple(parts), Span(first.start, self._prev.end + 1))

    def _is_number_token(self) -> bool:
        if self._curr.token_type == TokenType.NUMBER:
            return True
        text = self._curr.text.strip()
        return self._curr.token_type == TokenType.STRING and bool(text) and text[0].isdigit()

    def _parse_length_part(self) -> tuple[Decimal, str | None]:
        token = self._curr
        number, _, unit = token.text.strip().partition(" ")
        try:
            count = Decimal(number)
        except ArithmeticError:
            self.fail(f'"{token.text}" is not a length of time')
        self._advance()
        if unit:
            return count, self._unit(unit, token)
        word = self._word()
        is_word = self._curr.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
        if word in NOT_UNITS or not (is_word or unit_name(word)):
            return count, None
        self._advance()
        return count, self._unit(word, self._prev)

    def _unit(self, word: str, token: Token) -> str:
        name = unit_name(word)
        if name is None:
            units = [f"{unit}S" for unit in MICROS_PER]
            hint = f"Units: {', '.join(units)}."
            known = (*units, "SLIDE", "INTERNAL")
            self.fail(f'"{word}" is not a unit of time', known=known, hint=hint, token=token)
        return name

    def _parse_moment(self) -> Moment:
        first = self._curr
        dated = self._match(TokenType.TIMESTAMP)
        negative = self._match(TokenType.DASH)
        token = self._curr
        if not dated and self._match(TokenType.NUMBER) and token.text.isdigit():
            value: int | str = -int(token.text) if negative else int(token.text)
        elif not negative and self._match(TokenType.STRING):
            value = token.text
        else:
            hint = "Write a number, or TIMESTAMP '2024-01-31 12:00:00'."
            self.fail(f"expected an instant, found {self.found()}", hint=hint, token=token)
        return Moment(value, Span(first.start, self._prev.end + 1))

    def _parse_moments_between(self) -> tuple[Moment, ...]:
        start = self._parse_moment()
        if not self._match(TokenType.AND):
            self.fail(f"expected AND between the two instants, found {self.found()}")
        return start, self._parse_moment()
