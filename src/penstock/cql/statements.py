"""Parsing statements: declarations in Spark's habit, and the ones that ask about them."""

from __future__ import annotations

import difflib
from decimal import Decimal
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from penstock.algebra.time import unit_name
from penstock.cql import syntax
from penstock.cql.questions import QuestionParser
from penstock.cql.strictness import TYPE_NAMES
from penstock.cql.window_calls import FOREIGN, INSTEAD
from penstock.cql.windows import token_span
from penstock.errors import CqlSyntaxError, Span

if TYPE_CHECKING:
    from collections.abc import Callable

STATEMENTS = (
    "CREATE", "DROP", "SHOW", "DESCRIBE", "EXPLAIN", "REPLAN", "SET", "SELECT", "WITH",
    *syntax.EMITTERS,
)  # fmt: skip
WRITES = ("INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "COPY", "LOAD")
CREATABLE = ("STREAM", "RELATION", "VIEW", "QUERY", "SINK")
SHOWABLE = ("STREAMS", "RELATIONS", "VIEWS", "QUERIES", "SINKS", "SETTINGS", "FUNCTIONS")
KEYWORDS = (
    "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "JOIN",
    "INNER", "LEFT", "RIGHT", "FULL", "OUTER", "CROSS", "USING", "OPTIONS", "OUTPUT", "DISTINCT",
    "WATERMARK", "BETWEEN", "EXISTS", "EMIT", "RATE", "RETAIN",
)  # fmt: skip
"""Words inside a statement that a misspelt one may have meant."""


class StatementParser(QuestionParser):
    """Dispatches on a statement's first word."""

    def _parse_statement(self) -> exp.Expr | None:
        """One statement; None between two semicolons."""
        if self._curr and self._curr.token_type == TokenType.SEMICOLON:
            self._advance()
        if not self._curr:
            return None
        first = self._curr
        parsers: dict[str, Callable[[Token], syntax.Statement]] = {
            "CREATE": self._parse_create_statement,
            "DROP": self._parse_drop_statement,
            "SHOW": self._parse_show_statement,
            "DESCRIBE": self._parse_describe_statement,
            "DESC": self._parse_describe_statement,
            "EXPLAIN": self._parse_explain_statement,
            "REPLAN": self._parse_replan_statement,
            "SET": self._parse_set_statement,
        }
        word = self._word()
        if word in parsers:
            self._advance()
            statement = parsers[word](first)
        elif word in syntax.EMITTERS and not self._at_emit():
            self._advance()
            self.fail(f"expected ( after {word}, found {self.found()}")
        elif word in ("SELECT", "WITH", "(", *syntax.EMITTERS):
            query, as_of = self.parse_question()
            statement = syntax.Select(self._span_from(first), query, as_of)
        else:
            known = () if word in WRITES else STATEMENTS
            hint = f"Statements begin with {', '.join(STATEMENTS)}."
            if word in WRITES:
                hint = "Rows come from where CREATE STREAM and CREATE RELATION say they are."
            self.fail(f"{self.found()} does not begin a statement", known=known, hint=hint)
        if self._curr:
            self._fail_on_rest()
        return syntax.Parsed(statement=statement)

    def _fail_on_rest(self) -> None:
        """Something follows a finished statement: often the word before it is misspelt."""
        if any(one.text.upper() in FOREIGN for one in (self._prev, self._curr)):
            self.fail(f"unexpected {self.found()}", hint=INSTEAD)
        words = (TokenType.VAR, TokenType.IDENTIFIER)
        found = [
            (difflib.SequenceMatcher(None, keyword, suspect.text.upper()).ratio(), keyword, suspect)
            for suspect in (self._curr, self._prev)
            if suspect.token_type in words and (keyword := self._nearest_keyword(suspect.text))
        ]
        if found:
            _, keyword, suspect = max(found, key=lambda one: one[0])
            meant = f'Did you mean "{keyword}"?'
            self.fail(f'unexpected "{suspect.text}"', token=suspect, hint=meant)
        hint = "Statements are separated by a semicolon." if self._word() in STATEMENTS else None
        self.fail(f"unexpected {self.found()}", hint=hint)

    def _nearest_keyword(self, word: str) -> str | None:
        near = difflib.get_close_matches(word.upper(), KEYWORDS, n=1, cutoff=0.7)
        return near[0] if near and near[0] != word.upper() else None

    def _span_from(self, first: Token) -> Span:
        return Span(first.start, self._prev.end + 1)

    def _parse_create_statement(self, first: Token) -> syntax.Statement:
        replace = self._match_text_seq("OR", "REPLACE")
        retroactive = not self._match_text_seq("NONRETROACTIVE")
        kind = self._word()
        if kind not in CREATABLE:
            hint = f"CREATE takes {', '.join(CREATABLE)}."
            self.fail(
                f"there is no CREATE {kind or self.found()}",
                known=(*CREATABLE, "NONRETROACTIVE"),
                hint=hint,
            )
        if not retroactive and kind != "RELATION":
            self.fail("only a RELATION can be NONRETROACTIVE", known=("RELATION",))
        self._advance()
        if_not_exists = self._match_text_seq("IF", "NOT", "EXISTS")
        name = self._parse_name(f"the name of the {kind.lower()}")
        flags = {"if_not_exists": if_not_exists, "replace": replace}
        if kind in ("STREAM", "RELATION"):
            return self._parse_source(first, kind, name, retroactive, flags)
        if kind == "SINK":
            return self._parse_sink(first, name, flags)
        return self._parse_query_definition(first, kind, name, flags)

    def _parse_source(
        self, first: Token, kind: str, name: syntax.Name, retroactive: bool, flags: dict[str, bool]
    ) -> syntax.CreateSource:
        if not self._match(TokenType.L_PAREN):
            self.fail(f"expected ( and the columns of {name.text}, found {self.found()}")
        columns: list[syntax.ColumnSyntax] = []
        watermark = None
        while True:
            if self._match_text_seq("WATERMARK", "FOR"):
                watermark = self._parse_watermark()
            else:
                columns.append(self._parse_column_declaration())
            if not self._match(TokenType.COMMA):
                break
        if not self._match(TokenType.R_PAREN):
            self.fail(f"expected , or ) after a column, found {self.found()}")
        rate = self._parse_rate()
        format_, options = self._parse_format_and_options(TokenType.FROM)
        rate = rate or self._parse_rate()
        retain = self._parse_retain(kind)
        return syntax.CreateSource(
            self._span_from(first), kind, name, tuple(columns), watermark, format_, options,
            retroactive, rate or self._parse_rate(), retain=retain, **flags,
        )  # fmt: skip

    def _parse_rate(self) -> syntax.RateSyntax | None:
        """`RATE 2 PER HOUR`, `RATE 2.5 PER 10 MINUTES`, and of ticks `RATE 3 PER 100`."""
        first = self._curr
        if not self._match_text_seq("RATE"):
            return None
        hint = "For example RATE 2 PER HOUR, or of ticks RATE 3 PER 100."
        if not self._curr or self._curr.token_type != TokenType.NUMBER:
            self.fail(f"RATE takes a number of rows, not {self.found()}", hint=hint)
        count = Decimal(self._curr.text)
        self._advance()
        if not self._match_text_seq("PER"):
            self.fail(f"expected PER and a length of time, found {self.found()}", hint=hint)
        per = self._parse_length_of_one() or self._parse_length("PER")
        return syntax.RateSyntax(count, per, self._span_from(first))

    def _parse_length_of_one(self) -> syntax.Length | None:
        """A unit of time without a number, as in PER HOUR."""
        unit = unit_name(self._word())
        if unit is None:
            return None
        token = self._curr
        self._advance()
        return syntax.Length(((Decimal(1), unit),), token_span(token))

    def _parse_column_declaration(self) -> syntax.ColumnSyntax:
        name = self._parse_name("a column")
        token = self._curr
        type_ = self._parse_types()
        if not isinstance(type_, exp.DataType):
            hint = f"Types: {', '.join(TYPE_NAMES)}."
            message = f'expected the type of column "{name.text}", found {self.found()}'
            self.fail(message, known=TYPE_NAMES, hint=hint, token=token)
        not_null = self._match_text_seq("NOT", "NULL")
        if self._match_text_seq("COMMENT") and not self._match(TokenType.STRING):
            self.fail(f"expected a text after COMMENT, found {self.found()}")
        return syntax.ColumnSyntax(name, type_, token_span(token), not_null)

    def _parse_watermark(self) -> syntax.Watermark:
        column = self._parse_name("the event time column")
        if not self._match(TokenType.ALIAS):
            hint = f"Write WATERMARK FOR {column.text} AS {column.text} - INTERVAL 5 SECONDS."
            self.fail(f"expected AS, found {self.found()}", hint=hint)
        again = self._parse_name("the event time column")
        if again.text.lower() != column.text.lower():
            hint = f"Write WATERMARK FOR {column.text} AS {column.text} - INTERVAL 5 SECONDS."
            message = f'the watermark of "{column.text}" is computed from it'
            raise CqlSyntaxError(message, hint=hint, at=again.span)
        slack = self._parse_length("the slack") if self._match(TokenType.DASH) else None
        return syntax.Watermark(column, slack)

    def _parse_catalog_table(self, word: TokenType) -> dict[str, syntax.Name]:
        """`FROM TABLE catalog.schema.name`, or INTO: the option `table` of that format."""
        if not self._match(word):
            return {}
        if not self._match_text_seq("TABLE"):
            hint = f"Write {word.name} TABLE catalog.schema.name."
            self.fail(f"expected TABLE, found {self.found()}", hint=hint)
        parts = [self._parse_name("the name of a table")]
        while self._match(TokenType.DOT):
            parts.append(self._parse_name("the rest of the table's name"))
        text = ".".join(
            one.text if one.text.isidentifier() else f"`{one.text.replace('`', '``')}`"
            for one in parts
        )
        span = Span(parts[0].span.start, parts[-1].span.end)
        return {"table": syntax.Name(text, span)}

    def _parse_format_and_options(
        self, table: TokenType
    ) -> tuple[str | None, dict[str, syntax.Name]]:
        options = self._parse_catalog_table(table)
        format_ = "table" if options else None
        if not options and self._match(TokenType.USING):
            format_ = self._parse_name("a format").text
        if self._match_text_seq("OPTIONS"):
            if not self._match(TokenType.L_PAREN):
                self.fail(f"expected ( after OPTIONS, found {self.found()}")
            while not self._match(TokenType.R_PAREN):
                key, value = self._parse_option()
                options[key] = value
                if not self._match(TokenType.COMMA) and not self._match(
                    TokenType.R_PAREN, advance=False
                ):
                    self.fail(f"expected , or ) in OPTIONS, found {self.found()}")
        return format_, options

    def _parse_option(self) -> tuple[str, syntax.Name]:
        """`key 'value'` or `key = 'value'`; a key may have dots."""
        if self._match(TokenType.STRING):
            key = self._prev.text
        else:
            key = self._parse_name("an option").text
            while self._match(TokenType.DOT):
                key += "." + self._parse_name("the rest of the option's name").text
        self._match(TokenType.EQ)
        return key.lower(), self._parse_plain_value(f'the value of option "{key}"')

    def _parse_plain_value(self, what: str) -> syntax.Name:
        """A string, a number or a word, as text."""
        sign = "-" if self._match(TokenType.DASH) else ""
        token = self._curr
        punctuation = (TokenType.R_PAREN, TokenType.COMMA, TokenType.L_PAREN, TokenType.EQ)
        if not token or token.token_type in punctuation:
            self.fail(f"expected {what}, found {self.found()}")
        self._advance()
        return syntax.Name(sign + token.text, token_span(token))

    def _parse_sink(
        self, first: Token, name: syntax.Name, flags: dict[str, bool]
    ) -> syntax.CreateSink:
        if not self._match(TokenType.FROM):
            hint = f"Write CREATE SINK {name.text} FROM query USING format OPTIONS (...)."
            self.fail(f"expected FROM and a query's name, found {self.found()}", hint=hint)
        query = self._parse_name("the name of a query")
        format_, options = self._parse_format_and_options(TokenType.INTO)
        if format_ is None:
            self.fail(f"expected USING and a format, or INTO TABLE, found {self.found()}")
        return syntax.CreateSink(self._span_from(first), name, query, format_, options, **flags)

    def _parse_query_definition(
        self, first: Token, kind: str, name: syntax.Name, flags: dict[str, bool]
    ) -> syntax.CreateQuery:
        columns: list[syntax.Name] = []
        if self._match(TokenType.L_PAREN):
            columns.append(self._parse_name("a column"))
            while self._match(TokenType.COMMA):
                columns.append(self._parse_name("a column"))
            self._close("the column names")
        begins = self.parse_start() if kind == "QUERY" else None
        if not self._match(TokenType.ALIAS):
            self.fail(f"expected AS and a query, found {self.found()}")
        start = self._curr
        self.refuse_as_of()
        query = self._parse_built_plan() or self.parse_query()
        text = self.sql[start.start : self._prev.end + 1] if start else ""
        return syntax.CreateQuery(
            self._span_from(first), kind, name, query, text, tuple(columns), start=begins, **flags
        )

    def _parse_built_plan(self) -> exp.Expr | None:
        """PLAN and a text: how a query travels whose plan was built in Python."""
        is_plan = self._curr is not None and self._curr.text.upper() == "PLAN"
        if not is_plan or self._next is None or self._next.token_type != TokenType.STRING:
            return None
        self._advance(2)
        return exp.Literal.string(self._prev.text)

    def _parse_drop_statement(self, first: Token) -> syntax.Drop:
        kind = self._word()
        if kind not in CREATABLE:
            hint = f"DROP takes {', '.join(CREATABLE)}."
            self.fail(f"there is no DROP {kind or self.found()}", known=CREATABLE, hint=hint)
        self._advance()
        if_exists = self._match_text_seq("IF", "EXISTS")
        name = self._parse_name(f"the name of the {kind.lower()}")
        return syntax.Drop(self._span_from(first), kind, name, if_exists)

    def _parse_show_statement(self, first: Token) -> syntax.Show:
        what = self._word()
        if what not in SHOWABLE:
            hint = f"SHOW takes {', '.join(SHOWABLE)}."
            self.fail(f"there is no SHOW {what or self.found()}", known=SHOWABLE, hint=hint)
        self._advance()
        return syntax.Show(self._span_from(first), what)

    def _parse_describe_statement(self, first: Token) -> syntax.Describe:
        return syntax.Describe(self._span_from(first), self._parse_name("a name"))

    def _parse_explain_statement(self, first: Token) -> syntax.Explain:
        if self._word() in ("SELECT", "WITH", "(", *syntax.EMITTERS):
            return syntax.Explain(self._span_from(first), self.parse_query())
        return syntax.Explain(self._span_from(first), None, self._parse_name("a query"))

    def _parse_replan_statement(self, first: Token) -> syntax.Replan:
        name = self._parse_name("a query")
        return syntax.Replan(self._span_from(first), name)

    def _parse_set_statement(self, first: Token) -> syntax.SetOption:
        key = self._parse_name("a setting")
        while self._match(TokenType.DOT):
            rest = self._parse_name("the rest of the setting's name")
            key = syntax.Name(f"{key.text}.{rest.text}", Span(key.span.start, rest.span.end))
        if not self._match(TokenType.EQ):
            self.fail(f"expected = and a value, found {self.found()}")
        value = self._parse_plain_value(f'the value of "{key.text}"')
        return syntax.SetOption(self._span_from(first), key, value)
