"""sqlglot's parser without the words that it reads and forgets.

Other dialects allow words that say nothing, or that sqlglot has no place for. Here a word that is
read has a meaning, is one that SQL lets one leave out, or is an error.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any, NoReturn

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import TokenType

from penstock.cql.understood import BY_KEY, BY_NUMBER
from penstock.cql.windows import WindowParser

if TYPE_CHECKING:
    from collections.abc import Callable

TYPE_NAMES = ("BOOLEAN", "INT", "BIGINT", "DOUBLE", "DECIMAL", "STRING", "DATE", "TIMESTAMP")
LIMIT_WORDS = ("PERCENT", "%", "ROW", "ROWS", "ONLY", "WITH", "WITH TIES")
"""Words that other systems take behind the number of LIMIT."""
DIRECTIONS = ("ASC", "DESC", "NULLS", "FIRST", "LAST")
CAST_WORDS = ("FORMAT", "DEFAULT", "COLLATE")
"""Words that other systems take inside CAST, each with something behind it."""


class StrictParser(WindowParser):
    """A parser that refuses, at the word, what sqlglot's would let pass."""

    def _refuse_word(self, where: str, hint: str | None = None) -> NoReturn:
        self.fail(f"{self.found()} {where} is not part of the language here", hint=hint)

    def _require_name_after_as(self) -> None:
        if self._prev and self._prev.token_type == TokenType.ALIAS:
            self.fail(f"expected a name after AS, found {self.found()}")

    def _parse_csv(self, parse_method: Any, sep: TokenType = TokenType.COMMA) -> list[Any]:
        """A list whose commas stand between things: sqlglot overlooks one too many."""
        items = [parse_method()]
        if items[0] is None and self._curr and self._curr.token_type == sep:
            self.fail(f"expected something before the comma, found {self.found()}")
        while self._match(sep):
            items.append(parse_method())
            if items[-1] is None:
                self.fail(f"expected something after the comma, found {self.found()}")
        return [item for item in items if item is not None]

    def _parse_alias(self, this: exp.Expr | None, explicit: bool = False) -> exp.Expr | None:
        """As sqlglot's; AS has a name behind it."""
        aliased = super()._parse_alias(this, explicit)
        self._require_name_after_as()
        return aliased

    def _parse_value(self, values: bool = True) -> exp.Tuple | None:
        """The list of DISTINCT ON, in parentheses."""
        if not self._match(TokenType.L_PAREN, advance=False):
            self.fail(f"expected ( after DISTINCT ON, found {self.found()}")
        if self._next.token_type == TokenType.R_PAREN:
            self.fail("DISTINCT ON has no columns")
        return super()._parse_value(values)

    def _parse_group(self, skip_group_by_token: bool = False) -> exp.Group | None:
        """As sqlglot's, which reads GROUP BY DISTINCT as GROUP BY."""
        at_group = self._match(TokenType.GROUP_BY, advance=False)
        if at_group and self._next.token_type == TokenType.DISTINCT:
            self._advance()
            self._refuse_word("behind GROUP BY")
        return super()._parse_group(skip_group_by_token)

    def _parse_ordered(
        self, parse_method: Callable[[], exp.Expr | None] | None = None
    ) -> exp.Ordered | None:
        """As sqlglot's, which takes two directions and keeps one."""
        first = self._index
        ordered = super()._parse_ordered(parse_method)
        tokens = reversed(self._tokens[first : self._index])
        words = [token.text.upper() for token in tokens]
        end = list(takewhile(DIRECTIONS.__contains__, words))
        if {"ASC", "DESC"} <= set(end):
            self.fail("ASC and DESC do not go together", token=self._prev)
        if end.count("NULLS") > 1:
            self.fail("NULLS FIRST and NULLS LAST do not go together", token=self._prev)
        return ordered

    def _parse_limit(
        self, this: exp.Expr | None = None, top: bool = False, skip_limit_token: bool = False
    ) -> exp.Expr | None:
        """LIMIT; TOP is a name like any other."""
        return this if top else super()._parse_limit(this, top, skip_limit_token)

    def _parse_limit_options(self) -> None:
        """LIMIT takes a number of rows and nothing else."""
        if self._word() in LIMIT_WORDS:
            self._refuse_word("behind LIMIT", BY_NUMBER)

    def _parse_limit_by(self) -> None:
        """LIMIT n BY key, which a window can say."""
        if self._word() == "BY":
            self._refuse_word("behind LIMIT", BY_KEY)

    def _parse_star_op(self, *keywords: str) -> None:
        """Words behind a star, of which there is none here."""
        if self._word() in keywords:
            self._refuse_word("behind *", "Name the columns.")

    def _parse_position(self, haystack_first: bool = False) -> Any:
        """POSITION(a IN b), or a call like any other."""
        args = self._parse_csv(self._parse_bitwise)
        if len(args) == 1 and self._match(TokenType.IN):
            return self.expression(exp.StrPosition(this=self._parse_bitwise(), substr=args[0]))
        return self.expression(exp.Anonymous(this="POSITION", expressions=args))

    def _parse_types(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        """A type by one of sqlglot's names for types; any other word is none."""
        is_type = bool(self._curr) and self._curr.token_type in self.TYPE_TOKENS
        return super()._parse_types(*args, **kwargs) if is_type else None

    def _parse_cast(self, *args: Any, **kwargs: Any) -> exp.Expr:
        """As sqlglot's; a misspelt type is told."""
        index = self._index
        try:
            cast = super()._parse_cast(*args, **kwargs)
        except ParseError:
            self._retreat(index)
            if self._skip_to_type() and self._curr.token_type == TokenType.VAR:
                hint = f"Types: {', '.join(TYPE_NAMES)}."
                self.fail(f"there is no type {self.found()}", known=TYPE_NAMES, hint=hint)
            raise
        if self._prev.text.upper() in CAST_WORDS:
            self.fail(f"expected something after {self._prev.text}, found {self.found()}")
        return cast

    def _skip_to_type(self) -> bool:
        """Move behind the AS of a CAST whose parenthesis is open; False if it has none."""
        depth = 0
        while self._curr and depth >= 0:
            if depth == 0 and self._match(TokenType.ALIAS):
                return bool(self._curr)
            depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(self._curr.token_type, 0)
            self._advance()
        return False

    def _parse_join(self, *args: Any, **kwargs: Any) -> exp.Join | None:
        """As sqlglot's, which reads a missing condition as a cross join, and a comma as nothing."""
        if self._match(TokenType.COMMA):
            return exp.Join(this=self._parse_table())
        join = super()._parse_join(*args, **kwargs)
        if join is not None and self._prev.token_type == TokenType.ON:
            self.fail(f"expected a condition after ON, found {self.found()}")
        return join
