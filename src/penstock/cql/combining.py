"""Parsing what combines and re-cuts queries: set operations, COALESCE and SPLIT INTERVALS."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import TokenType

from penstock.cql.strictness import StrictParser
from penstock.cql.syntax import IntervalsClause, StrictExcept, UnionMax
from penstock.cql.understood import BY_POSITION

OPERATIONS: dict[TokenType, type[exp.SetOperation]] = {
    TokenType.UNION: exp.Union,
    TokenType.EXCEPT: exp.Except,
    TokenType.INTERSECT: exp.Intersect,
}
BAG_WORDS: dict[tuple[TokenType, str], type[exp.SetOperation]] = {
    (TokenType.UNION, "MAX"): UnionMax,
    (TokenType.EXCEPT, "STRICT"): StrictExcept,
}
"""Words behind a set operation that name an operator of bags which SQL does not have."""

INTERVALS_WORDS = ("COALESCE", "SPLIT")


class CombiningParser(StrictParser):
    """UNION [ALL | MAX], EXCEPT [ALL | STRICT], INTERSECT [ALL], and clauses about intervals."""

    SET_OP_MODIFIERS: ClassVar = Parser.SET_OP_MODIFIERS | {
        "intervals",
        "output",
        "final",
        "changes",
    }

    def parse_set_operation(
        self, this: exp.Expr | None, consume_pipe: bool = False, intersect_only: bool = False
    ) -> exp.SetOperation | None:
        """One set operation; its branches meet by the positions of their columns."""
        token = self._curr
        wanted = (TokenType.INTERSECT,) if intersect_only else tuple(OPERATIONS)
        if not token or token.token_type not in wanted:
            return None
        self._advance()
        operation = BAG_WORDS.get((token.token_type, self._word()))
        if operation is not None:
            self._advance()
            return operation(this=this, expression=self._parse_branch())
        distinct = self._match(TokenType.DISTINCT) or not self._match(TokenType.ALL)
        return OPERATIONS[token.token_type](
            this=this, expression=self._parse_branch(), distinct=distinct
        )

    def _parse_branch(self) -> exp.Expr:
        if self._word() in ("BY", "CORRESPONDING", "STRICT"):
            self._refuse_word("behind a set operation", BY_POSITION)
        branch = self._parse_select(nested=True, parse_set_operation=False)
        if branch is None:
            hint = "After UNION may stand ALL or MAX, after EXCEPT ALL or STRICT."
            self.fail(f"expected a query, found {self.found()}", hint=hint)
        return branch

    def _at_intervals(self) -> bool:
        """COALESCE INTERVALS or SPLIT INTERVALS begins here."""
        is_word = self._word() in INTERVALS_WORDS
        return is_word and bool(self._next) and self._next.text.upper() == "INTERVALS"

    def _parse_intervals(self) -> IntervalsClause:
        """COALESCE INTERVALS, or SPLIT INTERVALS and a length of time."""
        first = self._curr
        word = self._word()
        self._advance(2)
        length = self._parse_length("SPLIT INTERVALS") if word == "SPLIT" else None
        clause = IntervalsClause(length=length)
        clause.meta.update(start=first.start, end=self._prev.end)
        if self._at_intervals():
            hint = "Write a subquery for each of them."
            self.fail("a query cuts its intervals once", hint=hint)
        return clause
