"""The CQL dialect: text to statements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, cast

from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer as SqlTokenizer

from penstock.cql.statements import StatementParser
from penstock.cql.syntax import Parsed, Statement, WindowClause, WindowSyntax
from penstock.cql.understood import refuse_what_would_be_dropped
from penstock.cql.windows import END, token_span
from penstock.errors import CqlSyntaxError, PenstockError, SourceText, Span

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlglot import exp


NO_KEYWORDS = ("|>", "WINDOW")
"""Words that begin nothing here; `window` is a function, and a name."""


class Cql(Dialect):
    """SQL in Spark's habit: names in backquotes, strings in single or double quotes."""

    class Tokenizer(SqlTokenizer):
        """Spark's quotes; no statement is passed through unread."""

        IDENTIFIERS: ClassVar = ["`"]
        QUOTES: ClassVar = ["'", '"']
        COMMENTS: ClassVar = ["--", ("/*", "*/")]
        COMMANDS: ClassVar[set[TokenType]] = set()
        KEYWORDS: ClassVar = {
            word: token for word, token in SqlTokenizer.KEYWORDS.items() if word not in NO_KEYWORDS
        } | {"DIV": TokenType.DIV}

    class Parser(StatementParser):
        """The parser of statements and queries, remembering how far it came."""

        furthest: tuple[str, Token] | None = None

        def raise_error(self, message: str, token: Token | None = None) -> None:
            """Note the error that lies furthest in the text: the one the user wants to see.

            sqlglot tries alternatives and reports the last that failed, often far too early.
            """
            at = token or self._curr or self._prev
            if at and (self.furthest is None or at.start >= self.furthest[1].start):
                self.furthest = (_plain(message, self.found(), at.text), at)
            raise ParseError(message)


INTERNAL_FAULTS = (
    ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError,
)  # fmt: skip
"""Errors of sqlglot on texts its authors did not think of; to the user they are syntax errors."""


def parse_script(text: str, name: str | None = None) -> list[Statement]:
    """The statements of a script.

    Raises:
        CqlSyntaxError: The text is not CQL; the error says where and what was expected.
    """
    source = SourceText(text, name)
    try:
        return _parse(text)
    except RecursionError:
        msg = "the statement is nested too deeply"
        raise CqlSyntaxError(msg, hint="Use views.", source=source) from None
    except PenstockError as error:
        raise error.locate(source) from None


def parse_expression(text: str) -> exp.Expr:
    """An expression on its own, as the Python builder takes them.

    Raises:
        CqlSyntaxError: The text is not one expression.
        NotSupported: A part of it has no meaning here.
    """
    expression = _parse_one(text, lambda parser: parser._parse_expression())
    try:
        refuse_what_would_be_dropped(expression)
    except PenstockError as error:
        raise error.locate(SourceText(text)) from None
    return expression


def parse_window(text: str) -> WindowSyntax:
    """A window on its own, without brackets: `RANGE 10 SECONDS`.

    Raises:
        CqlSyntaxError: The text is not a window.
    """
    parsed = _parse_one(f"[{text}]", lambda parser: parser._parse_window_clause_in_brackets())
    assert isinstance(parsed, WindowClause)
    return parsed.syntax


def _parse_one(text: str, method: Callable[[Cql.Parser], exp.Expr | None]) -> exp.Expr:
    try:
        nodes = _run(text, method)
    except PenstockError as error:
        raise error.locate(SourceText(text)) from None
    if len(nodes) != 1 or nodes[0] is None:
        msg = "nothing to read"
        raise CqlSyntaxError(msg, source=SourceText(text))
    return nodes[0]


def _parse(text: str) -> list[Statement]:
    nodes = _run(text, lambda parser: parser._parse_statement())
    return [node.statement for node in nodes if isinstance(node, Parsed)]


def _run(text: str, method: Callable[[Cql.Parser], exp.Expr | None]) -> list[exp.Expr | None]:
    dialect = Cql()
    try:
        tokens = dialect.tokenize(text)
    except TokenError as error:
        raise _unreadable(text, error) from None
    parser = dialect.parser(error_level=ErrorLevel.IMMEDIATE)
    assert isinstance(parser, Cql.Parser)
    try:
        return parser._parse(lambda one: method(cast("Cql.Parser", one)), tokens, text)
    except (ParseError, *INTERNAL_FAULTS) as error:
        raise _syntax_error(parser, error) from None


def _unreadable(text: str, error: TokenError) -> CqlSyntaxError:
    """The tokenizer says `Missing <quote> from <line>:<offset>`; else the last quote is guessed."""
    missing = re.search(r"Missing (\S+) from \d+:(\d+)", str(error))
    start = int(missing[2]) if missing else max(text.rfind(quote) for quote in "'\"`")
    what = f"the {missing[1]} that opens here" if missing else "a quote or comment"
    start = min(max(start, 0), max(len(text) - 1, 0))
    return CqlSyntaxError(f"{what} is not closed", at=Span(start, start + 1))


def _syntax_error(parser: Cql.Parser, error: Exception) -> CqlSyntaxError:
    if parser.furthest is not None:
        message, token = parser.furthest
        return CqlSyntaxError(message, at=token_span(token))
    here = parser._curr or parser._prev
    at = token_span(here) if here else None
    return CqlSyntaxError(f"cannot read the text near here ({type(error).__name__})", at=at)


def _plain(message: str, found: str, at: str) -> str:
    """A message of sqlglot in our habit: lower case, without class names of its own."""
    if message.startswith("Required keyword"):
        place = f'after "{at}"' if found == END else f"before {found}"
        return f"something is missing {place}"
    if message.startswith("Expecting "):
        return f"expected {message.removeprefix('Expecting ')}, found {found}"
    if message.startswith("Expected table name"):
        return "expected the name of a stream, relation or view"
    return message[:1].lower() + message[1:]
