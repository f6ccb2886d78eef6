"""Parsing questions: AS OF behind a query, and RETAIN behind a stream, which they are asked of."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import TokenType

from penstock.cql.queries import QueryParser
from penstock.cql.syntax import Moment, RetainSyntax, StartSyntax
from penstock.errors import Span

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.tokenizer_core import Token

SIZES = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
"""Units of sizes, in bytes."""
_RETAIN_HINT = "Write RETAIN 1 HOUR, RETAIN 500 MB, both with a comma, RETAIN UNBOUNDED or NONE."
_INSTANTS = (TokenType.NUMBER, TokenType.STRING, TokenType.TIMESTAMP, TokenType.DASH)
"""The beginning of an instant."""
_AS_OF_TOKENS = 5
"""AS OF and an instant have at most so many words: AS OF TIMESTAMP - 5."""


class QuestionParser(QueryParser):
    """A query that is asked once, and how long its streams keep their rows."""

    def parse_question(self) -> tuple[exp.Expr, Moment | None]:
        """A whole query, and the instant behind it that it asks about, if there is one."""
        place = self._as_of()
        if place is None:
            return self.parse_query(), None
        # Behind a table, AS OF would begin an alias.
        whole = self._tokens
        self._keep(whole[:place])
        query = self.parse_query()
        self._keep(whole)
        if self._index != place:
            return query, None
        self._advance(2)
        return query, self._parse_moment()

    def parse_start(self) -> StartSyntax | None:
        """`START NOW`, `START AT 100`, `START AT TIMESTAMP '2024-01-31 12:00:00'`."""
        first = self._curr
        if not self._match_text_seq("START"):
            return None
        if self._match_text_seq("NOW"):
            return StartSyntax(Span(first.start, self._prev.end + 1))
        if not self._match_text_seq("AT"):
            hint = "Without START a query sees all rows that its streams retain."
            self.fail(f"expected NOW or AT, found {self.found()}", known=("NOW", "AT"), hint=hint)
        at = self._parse_moment()
        return StartSyntax(Span(first.start, self._prev.end + 1), at)

    def refuse_as_of(self) -> None:
        """A continuous query answers for every instant."""
        place = self._as_of()
        if place is not None:
            hint = "Leave it out; or ask once, without CREATE: SELECT ... AS OF instant."
            msg = "a continuous query has no AS OF: it answers for every instant"
            self.fail(msg, hint=hint, token=self._tokens[place])

    def _as_of(self) -> int | None:
        """The place of AS OF at the end of the statement."""
        tokens = self._tokens
        for place in range(len(tokens) - 3, max(len(tokens) - _AS_OF_TOKENS, self._index) - 1, -1):
            as_, of, instant = tokens[place : place + 3]
            # What is called "of" is followed by no instant.
            if as_.token_type == TokenType.ALIAS and of.text.upper() == "OF":
                return place if instant.token_type in _INSTANTS else None
        return None

    def _keep(self, tokens: list[Token]) -> None:
        """Go on with other words from the same place."""
        self._tokens, self._tokens_size = tokens, len(tokens)
        self._advance(0)

    def _parse_retain(self, kind: str) -> RetainSyntax | None:
        """`RETAIN 1 HOUR`, `RETAIN 500 MB`, `RETAIN 1 HOUR, 500 MB`, `RETAIN UNBOUNDED`, `NONE`."""
        first = self._curr
        if not self._match_text_seq("RETAIN"):
            return None
        if kind == "RELATION":
            hint = "Leave RETAIN out: a relation remembers its changes as long as streams retain."
            self.fail("RETAIN belongs to a stream", hint=hint, token=first)
        made = RetainSyntax(Span(first.start, first.end + 1))
        if self._match_text_seq("NONE"):
            return replace(made, span=Span(first.start, self._prev.end + 1))
        while True:
            made = self._retain_part(made)
            if not self._match(TokenType.COMMA):
                return replace(made, span=Span(first.start, self._prev.end + 1))

    def _retain_part(self, made: RetainSyntax) -> RetainSyntax:
        """A length or a size, each once."""
        if self._match_text_seq("UNBOUNDED"):
            if made.is_all or made.length:
                self.fail("RETAIN has two lengths", hint=_RETAIN_HINT, token=self._prev)
            return replace(made, is_all=True)
        size = self._size()
        if size is not None:
            if made.most_bytes is not None:
                self.fail("RETAIN has two sizes", hint=_RETAIN_HINT, token=self._prev)
            return replace(made, most_bytes=size)
        if not self._curr or not (self._is_number_token() or self._word() == "INTERVAL"):
            self.fail(
                f"RETAIN takes a length of time or a size, not {self.found()}",
                known=("UNBOUNDED", "NONE"),
                hint=_RETAIN_HINT,
            )
        if made.is_all or made.length:
            self.fail("RETAIN has two lengths", hint=_RETAIN_HINT)
        return replace(made, length=self._parse_length("RETAIN"))

    def _size(self) -> int | None:
        """`500 MB`, if that comes next."""
        if not self._curr or self._curr.token_type != TokenType.NUMBER or not self._next:
            return None
        unit = SIZES.get(self._next.text.upper())
        if unit is None:
            return None
        number = Decimal(self._curr.text)
        self._advance(2)
        return int(number * unit)
