"""Parsing queries: what CQL adds to and takes from sqlglot's SELECT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sqlglot import exp
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import TokenType

from penstock.cql.grouping_windows import with_grouping_window
from penstock.cql.syntax import (
    EMITTERS,
    ChangesClause,
    DateLiteral,
    Emit,
    EmitProjection,
    FinalClause,
    enclosing_hint,
)
from penstock.cql.window_calls import WindowFunctionParser

if TYPE_CHECKING:
    from collections.abc import Collection

KEPT_FUNCTION_PARSERS = ("CAST", "TRY_CAST", "EXTRACT")
"""Functions whose arguments are not a plain list; every other call is looked up by the binder."""


WORDS = (exp.Null, exp.Boolean, exp.DataType, exp.Var)
"""Nodes that sqlglot gives no place in the text; it is the last token when they are made."""
NO_ALIAS = ("GROUP", "HAVING", "LIMIT", "OFFSET", "ORDER", "WHERE")
"""Words that begin a clause, also where the rest of it is missing."""
FINAL_HINT = "Write EMIT FINAL or EMIT CHANGES, or EMIT in backquotes if it is a name."


BARE = (TokenType.STAR, TokenType.VAR, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.STRING)
"""The beginning of a select list that somebody forgot to enclose."""


class QueryParser(WindowFunctionParser):
    """SELECT with windows, ISTREAM and its kin, OUTPUT, and EMIT FINAL."""

    # No function has a meaning of sqlglot's: names go to the binder as they were written.
    FUNCTIONS: ClassVar[dict[str, Any]] = {}
    NO_PAREN_FUNCTIONS: ClassVar[dict[TokenType, Any]] = {}
    NO_PAREN_FUNCTION_PARSERS: ClassVar = {"CASE": Parser.NO_PAREN_FUNCTION_PARSERS["CASE"]}
    FUNCTION_PARSERS: ClassVar = {
        **{name: Parser.FUNCTION_PARSERS[name] for name in KEPT_FUNCTION_PARSERS},
        "POSITION": lambda self: self._parse_position(),
    }
    QUERY_MODIFIER_PARSERS: ClassVar = {
        token: Parser.QUERY_MODIFIER_PARSERS[token]
        for token in (
            TokenType.WHERE,
            TokenType.GROUP_BY,
            TokenType.HAVING,
            TokenType.QUALIFY,
            TokenType.ORDER_BY,
            TokenType.LIMIT,
            TokenType.OFFSET,
        )
    }

    TYPE_LITERAL_PARSERS: ClassVar[dict[exp.DType, Any]] = {
        exp.DType.DATE: lambda _, this, type_: DateLiteral(this=this, to=type_),
        exp.DType.TIMESTAMP: lambda _, this, type_: DateLiteral(this=this, to=type_),
    }

    def expression(self, instance: Any, token: Any = None, comments: Any = None) -> Any:
        """As sqlglot's; besides, words without a place of their own get the last token's."""
        built = super().expression(instance, token, comments)
        if isinstance(built, WORDS) and "start" not in built.meta:
            built.update_positions(self._prev)
        return built

    def _negate_range(self, this: exp.Expr | None = None) -> exp.Expr | None:
        """`x NOT LIKE y` as NOT (x LIKE y); sqlglot marks some predicates with a flag instead."""
        return exp.Not(this=this) if this is not None else None

    def _parse_function_call(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        """As sqlglot's; a call's place reaches to its closing parenthesis."""
        token = self._curr
        call = super()._parse_function_call(*args, **kwargs)
        if isinstance(call, exp.Exists | exp.Any | exp.All | exp.Anonymous) and token:
            call.update_positions(token)
            call.meta["end"] = self._prev.end
        return call

    def _parse_position(self, haystack_first: bool = False) -> Any:
        """POSITION(a IN b), or a call like any other."""
        args = self._parse_csv(self._parse_bitwise)
        if len(args) == 1 and self._match(TokenType.IN):
            return self.expression(exp.StrPosition(this=self._parse_bitwise(), substr=args[0]))
        return self.expression(exp.Anonymous(this="POSITION", expressions=args))

    def parse_query(self) -> exp.Expr:
        """A whole query: SELECT, ISTREAM(...), set operations, WITH."""
        query = self._parse_select(nested=True)
        if query is None:
            hint = "A query begins with SELECT, or with ISTREAM, DSTREAM or RSTREAM (SELECT ...)."
            known = ("SELECT", "WITH", *EMITTERS)
            self.fail(f"expected a query, found {self.found()}", known=known, hint=hint)
        # After a parenthesis sqlglot returns before it looks for UNION and ORDER BY.
        whole: exp.Expr | None = self._parse_query_modifiers(self._parse_set_operations(query))
        assert whole is not None
        return whole

    def _at_emit(self) -> bool:
        if not self._curr or self._curr.text.upper() not in EMITTERS:
            return False
        return self._next.token_type == TokenType.L_PAREN or self._next.text.upper() == "RESTORE"

    def _parse_emit_word(self) -> tuple[str, bool]:
        self._advance()
        word = self._prev.text.upper()
        restore = self._match_text_seq("RESTORE")
        if not self._match(TokenType.L_PAREN):
            self.fail(f"expected ( after {word}{' RESTORE' if restore else ''}")
        return word, restore

    def _close(self, what: str) -> None:
        if not self._match(TokenType.R_PAREN):
            self.fail(f"expected ) at the end of {what}, found {self.found()}")

    def _parse_emit(self) -> Emit:
        token = self._curr
        word, restore = self._parse_emit_word()
        query = self.parse_query()
        self._close(word)
        emit = Emit(this=query, emit=word, restore=restore)
        emit.update_positions(token)
        return emit

    def _parse_select_query(self, **kwargs: Any) -> exp.Expr | None:  # type: ignore[override]  # keyword-only
        if self._match(TokenType.WITH):
            return self._parse_with_query()
        if self._at_emit():
            emit = self._parse_emit()
            return self._parse_set_operations(emit) if kwargs.get("parse_set_operation") else emit
        return super()._parse_select_query(**kwargs)

    def _parse_with_query(self) -> exp.Expr:
        """WITH name AS (query), ... query: views that live for one statement."""
        if self._word() == "RECURSIVE":
            self.fail("recursive subqueries are not supported")
        tables = [self._parse_common_table()]
        while self._match(TokenType.COMMA):
            tables.append(self._parse_common_table())
        query = self.parse_query()
        query.set("with_", exp.With(expressions=tables))
        return query

    def _parse_common_table(self) -> exp.CTE:
        name = self._parse_name("a name for the subquery")
        if not (self._match(TokenType.ALIAS) and self._match(TokenType.L_PAREN)):
            hint = "Write WITH name AS (SELECT ...) SELECT ..."
            self.fail(f"expected AS ( after {name.text}, found {self.found()}", hint=hint)
        query = self.parse_query()
        self._close(f"the subquery {name.text}")
        identifier = exp.to_identifier(name.text)
        identifier.meta.update(start=name.span.start, end=name.span.end - 1)
        return exp.CTE(this=query, alias=exp.TableAlias(this=identifier))

    def _parse_projections(self) -> tuple[list[exp.Expr], list[exp.Expr] | None]:
        """The select list; one inside ISTREAM(...) says what the query sends out."""
        self._require_name_after_as()
        if self._word() in EMITTERS and self._next.token_type in BARE and not self._at_emit():
            word = self._word()
            self.fail(f"{word} encloses the select list", hint=enclosing_hint(word))
        if not self._at_emit():
            projections = super()._parse_projections()
            if not projections[0]:
                self.fail(f"expected a column, found {self.found()}")
            return projections
        token = self._curr
        word, restore = self._parse_emit_word()
        distinct = self._match(TokenType.DISTINCT)
        columns = self._parse_expressions()
        self._close(word)
        if not self._match(TokenType.FROM, advance=False):
            hint = f"{word} encloses the whole select list: SELECT {word}(a, b) FROM ..."
            self.fail(f"expected FROM after {word}(...), found {self.found()}", hint=hint)
        made = EmitProjection(expressions=columns, emit=word, restore=restore, distinct=distinct)
        made.update_positions(token)
        return [made], None

    def _parse_query_modifiers(self, this: Any) -> Any:
        """WHERE to LIMIT, then about intervals, then OUTPUT [window], then EMIT."""
        query = super()._parse_query_modifiers(this)
        if query is not None:
            query = with_grouping_window(query)
        if query is not None and self._at_intervals():
            query.set("intervals", self._parse_intervals())
        if query is not None and self._at_output():
            self._advance()
            query.set("output", self._parse_window_clause_in_brackets())
        if query is not None and self._at_final():
            clause = self._parse_final()
            query.set("final" if isinstance(clause, FinalClause) else "changes", clause)
        return query

    def _at_output(self) -> bool:
        return self._word() == "OUTPUT" and self._next.token_type == TokenType.L_BRACKET

    def _at_final(self) -> bool:
        """EMIT begins a clause here; before other words it may name something."""
        if self._word() != "EMIT" or self._curr.token_type != TokenType.VAR:
            return False
        after = self._next
        is_last = not after or after.token_type == TokenType.R_PAREN
        return is_last or (after.token_type == TokenType.VAR and after.text.upper() != "OUTPUT")

    def _parse_final(self) -> FinalClause | ChangesClause:
        first = self._curr
        self._advance()
        word = self._word()
        if word not in ("FINAL", "CHANGES"):
            message = f"expected FINAL or CHANGES after EMIT, found {self.found()}"
            self.fail(message, known=("FINAL", "CHANGES"), hint=FINAL_HINT)
        self._advance()
        clause = FinalClause() if word == "FINAL" else ChangesClause()
        clause.update_positions(first)
        clause.meta["end"] = self._prev.end
        if self._word().partition(" ")[0] in (*NO_ALIAS, "COALESCE", "SPLIT", "OUTPUT", "EMIT"):
            self.fail(f"EMIT {word} is the end of a query, found {self.found()} behind it")
        return clause

    def _parse_table(  # type: ignore[override]  # sqlglot's other flags serve other dialects
        self,
        schema: bool = False,
        joins: bool = False,
        alias_tokens: Collection[TokenType] | None = None,
        **_: Any,
    ) -> exp.Expr | None:
        """An item of FROM: a name, a subquery, a join in parentheses, ISTREAM(...)."""
        source = self._parse_table_source(schema)
        if source is None or schema:
            return source
        self._parse_window_and_alias(source, alias_tokens)
        if joins:
            for join in self._parse_joins():
                source.append("joins", join)
        return source

    def _parse_table_source(self, schema: bool) -> exp.Expr | None:
        if self._at_emit():
            return self._parse_emit()
        if self._at_window_function():
            return self._parse_window_function()
        if self._match(TokenType.L_PAREN):
            return self._parse_parenthesised_table()
        if not self._curr:
            self.fail(f"expected the name of a stream, found {self.found()}")
        return self._parse_table_parts(schema=schema)

    def _parse_parenthesised_table(self) -> exp.Expr:
        opening = self._prev
        if self._at_query():
            inner: exp.Expr | None = self.parse_query()
        else:
            inner = self._parse_table(joins=True)
        self._close("the subquery")
        subquery = exp.Subquery(this=inner)
        subquery.update_positions(opening)
        return subquery

    def _at_query(self) -> bool:
        """A query, not a join in parentheses, begins here (or one parenthesis deeper)."""
        index = self._index
        while self._match(TokenType.L_PAREN):
            pass
        starts = self._word() in ("SELECT", "WITH") or self._at_emit()
        self._retreat(index)
        return starts

    def _parse_table_alias(
        self, alias_tokens: Collection[TokenType] | None = None
    ) -> exp.TableAlias | None:
        """As sqlglot's; a word that begins a clause is no alias, even if the clause is broken."""
        clause = self._at_output() or self._at_final() or self._at_intervals()
        if clause or self._word() in NO_ALIAS:
            return None
        alias = super()._parse_table_alias(alias_tokens)
        self._require_name_after_as()
        return alias

    def _parse_window_and_alias(
        self, source: exp.Expr, alias_tokens: Collection[TokenType] | None
    ) -> None:
        """`s [window] AS a` and `s AS a [window]`, both of which people write."""
        if self._at_window():
            if source.args.get("window"):
                self.fail("TUMBLE and HOP are windows: there is no second one in brackets")
            source.set("window", self._parse_window_clause_in_brackets())
        alias = self._parse_table_alias(alias_tokens)
        if alias is not None:
            source.set("alias", alias)
        if self._at_window() and not source.args.get("window"):
            source.set("window", self._parse_window_clause_in_brackets())
