"""The front door: statements in, plans and answers about the catalog out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from penstock.algebra.text import plan_text
from penstock.algebra.time import INFINITY, TimeUnit
from penstock.binder.declarations import declare
from penstock.binder.names import renamed
from penstock.binder.queries import BoundQuery, bind_query
from penstock.binder.windows import instant_in
from penstock.catalog.catalog_tables import described, shown, summary
from penstock.catalog.definitions import (
    Catalog,
    Definition,
    QueryDefinition,
    SinkDefinition,
    ViewDefinition,
)
from penstock.catalog.settings import Settings
from penstock.catalog.users import users_of
from penstock.cql import syntax
from penstock.cql.dialect import parse_script
from penstock.errors import CqlSyntaxError, PenstockError, QueryError, SourceText, UnknownName
from penstock.expected_load import expected_by, state_needed, stated_by

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from penstock.algebra.plan import Plan


@dataclass(frozen=True)
class Outcome:
    """The outcome of a statement: a sentence, rows to show, or the plan of a query."""

    statement: syntax.Statement
    message: str | None = None
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    name: str | None = None
    plan: Plan | None = None
    warnings: tuple[str, ...] = ()
    is_endless: bool = False


@dataclass(frozen=True)
class BoundQuestion:
    """A query that is asked once: its plan, and the instant behind AS OF in the text."""

    plan: Plan
    as_of: syntax.Moment | None
    source: SourceText
    warnings: tuple[str, ...] = ()


class Session:
    """A catalog, settings, and the statements that change and use them.

    >>> session = Session()
    >>> _ = session.execute("CREATE STREAM s (ts BIGINT, a INT, WATERMARK FOR ts AS ts);")
    >>> from penstock.algebra.text import plan_text
    >>> print(plan_text(session.bind("SELECT a FROM s [RANGE 10] WHERE a > 3").plan))
    Map a = s.a
      Filter s.a > 3
        Alias s
          Window [RANGE 10]
            Stream s (ts BIGINT, a INT)
    """

    def __init__(self) -> None:
        self.catalog = Catalog()
        self.settings = Settings()

    def copy(self) -> Session:
        """A session that knows the same, and goes on by itself."""
        made = Session()
        made.catalog, made.settings = self.catalog.copy(), self.settings
        return made

    def execute(self, text: str, name: str | None = None) -> list[Outcome]:
        """Run the statements of a script, in order; `name` is what errors call it.

        Raises:
            PenstockError: A statement is at fault; those before it have taken effect.
        """
        return list(self.run(text, name))

    def run(
        self,
        text: str,
        name: str | None = None,
        before: Callable[[syntax.Statement], None] = lambda statement: None,
    ) -> Iterator[Outcome]:
        """As `execute`, one statement at a time; a text that is not CQL runs not at all.

        `before` is told of each statement before it takes effect, and may refuse it.
        """
        statements = parse_script(text, name)
        return (self.perform(statement, SourceText(text, name), before) for statement in statements)

    def parsed(self, text: str) -> list[syntax.Statement]:
        """The statements of a script, for `perform`."""
        return parse_script(text)

    def bind(self, text: str, name: str | None = None) -> BoundQuery:
        """The plan of one query.

        Raises:
            PenstockError: The text is not one query, or the query is at fault.
        """
        outcome = self.perform(_one_query(text, name), SourceText(text, name))
        assert outcome.plan is not None
        return BoundQuery(outcome.plan, outcome.warnings, outcome.is_endless)

    def warnings_of(self, query: Outcome | QueryDefinition) -> tuple[str, ...]:
        """Sentences that the author of a query should know; the last says what it will take."""
        if not query.is_endless or query.plan is None:
            return query.warnings
        tactics = query.tactics if isinstance(query, QueryDefinition) else self.settings.tactics
        return (*query.warnings, state_needed(self.catalog, query.plan, tactics))

    def question(self, text: str, tables: Collection[str] = ()) -> BoundQuestion:
        """The plan of a query that is asked once, and the instant it asks about.

        Args:
            text: A query, with or without AS OF.
            tables: The queries whose results are read as they are.

        Raises:
            PenstockError: The text is not one query, or the query is at fault.
        """
        found, source = _one_query(text), SourceText(text)
        try:
            bound = bind_query(found.query, self.catalog, self.settings, tables=tables)
        except PenstockError as error:
            error.at = error.at or found.span
            raise error.locate(source) from None
        return BoundQuestion(bound.plan, found.as_of, source, bound.warnings)

    def create_query(self, name: str, text: str) -> tuple[Outcome, str]:
        """Do what CREATE QUERY does, for a query without it; also the statement as text.

        Raises:
            PenstockError: The text is not one query, the query is at fault, or the name is taken.
        """
        found = _one_query(text)
        words = text[found.span.start : found.span.end]
        known = syntax.Name(name, found.span)
        statement = syntax.CreateQuery(found.span, "QUERY", known, found.query, words)
        return self.perform(statement, SourceText(text)), f"CREATE QUERY {_quoted(name)} AS {words}"

    def create_plan(self, name: str, plan: Plan) -> tuple[Outcome, str]:
        """The same for a plan that was built.

        Raises:
            QueryError: The name is taken.
        """
        # Few build plans.
        from penstock.planner.written_plans import encoded_plan

        written = encoded_plan(plan).replace("'", "''")
        text = f"CREATE QUERY {_quoted(name)} AS PLAN '{written}'"
        (outcome,) = self.execute(text)
        return outcome, text

    def perform(
        self,
        statement: syntax.Statement,
        source: SourceText,
        before: Callable[[syntax.Statement], None] = lambda statement: None,
    ) -> Outcome:
        """Run one statement; errors learn which text they point into."""
        try:
            before(statement)
            return self._perform(statement)
        except PenstockError as error:
            error.at = error.at or statement.span
            raise error.locate(source) from None
        except RecursionError:
            msg = "the statement is nested too deeply"
            raise QueryError(msg, hint="Use views.", at=statement.span, source=source) from None

    def _perform(self, statement: syntax.Statement) -> Outcome:
        match statement:
            case syntax.CreateSource():
                return self._add(statement, declare(statement))
            case syntax.CreateQuery():
                return self._create_query(statement)
            case syntax.CreateSink():
                return self._create_sink(statement)
            case syntax.Drop():
                return self._drop(statement)
            case syntax.Show():
                return self._show(statement)
            case syntax.Describe():
                return self._describe(statement)
            case syntax.Explain():
                return self._explain(statement)
            case syntax.Replan():
                return self._replan(statement)
            case syntax.SetOption():
                return self._set(statement)
            case syntax.Select():
                bound = self._bind(statement.query)
                return Outcome(
                    statement,
                    plan=bound.plan,
                    warnings=bound.warnings,
                    is_endless=bound.is_endless,
                )
        raise NotImplementedError(statement)

    def _bind(self, node: exp.Expr, *, view: bool = False) -> BoundQuery:
        return bind_query(node, self.catalog, self.settings, view=view)

    def _add(
        self,
        statement: syntax.CreateSource | syntax.CreateQuery | syntax.CreateSink,
        definition: Definition,
        warnings: tuple[str, ...] = (),
    ) -> Outcome:
        known = self.catalog.get(definition.name)
        if statement.if_not_exists and known is not None and known.kind == definition.kind:
            return Outcome(statement, f'{known.kind} "{known.name}" exists already')
        at = statement.name.span
        self.catalog.add(definition, replace=statement.replace, at=at)
        plan = getattr(definition, "plan", None)
        message = f'{definition.kind} "{definition.name}" created'
        is_endless = isinstance(definition, QueryDefinition) and definition.is_endless
        return Outcome(
            statement,
            message,
            name=definition.name,
            plan=plan,
            warnings=warnings,
            is_endless=is_endless,
        )

    def _create_query(self, statement: syntax.CreateQuery) -> Outcome:
        view = statement.kind == "VIEW"
        if isinstance(statement.query, exp.Literal):
            return self._create_built(statement, str(statement.query.this))
        bound = self._bind(statement.query, view=view)
        plan = bound.plan
        if statement.columns:
            names = [one.text for one in statement.columns]
            plan = renamed(plan, names, statement.columns[0].span)
        name, text = statement.name.text, statement.text
        if view:
            return self._add(statement, ViewDefinition(name, plan, text, bound.reads))
        query = replace(
            self._query(name, plan, text, bound),
            start=_start(statement.start, plan.unit or TimeUnit.TICK),
        )
        return self._add(statement, query, bound.warnings)

    def _query(
        self, name: str, plan: Plan, text: str, bound: BoundQuery | None = None
    ) -> QueryDefinition:
        """A query as it is set to run; `bound` has what its author should know."""
        return QueryDefinition(
            name,
            plan,
            text,
            self.settings.tactics,
            () if bound is None else bound.warnings,
            self.settings.work.latency,
            stated_by(self.catalog, plan),
            is_endless=bound is not None and bound.is_endless,
            reads=() if bound is None else bound.reads,
        )

    def _create_built(self, statement: syntax.CreateQuery, written: str) -> Outcome:
        """A query or view whose plan is written down; its text is the plan, for people."""
        from penstock.planner.written_plans import decoded_plan

        plan, name = decoded_plan(written), statement.name.text
        if statement.kind == "VIEW":
            return self._add(statement, ViewDefinition(name, plan, plan_text(plan)))
        return self._add(statement, self._query(name, plan, plan_text(plan)))

    def _create_sink(self, statement: syntax.CreateSink) -> Outcome:
        query = self.catalog.find(statement.query.text, "query", at=statement.query.span)
        options = {key: value.text for key, value in statement.options.items()}
        sink = SinkDefinition(statement.name.text, query.name, statement.format, options)
        return self._add(statement, sink)

    def _drop(self, statement: syntax.Drop) -> Outcome:
        kind, name = statement.kind.lower(), statement.name
        if statement.if_exists and self.catalog.get(name.text) is None:
            return Outcome(statement, f'there is no {kind} "{name.text}"')
        found = self.catalog.find(name.text, kind, at=name.span)
        users = users_of(found, self.catalog)
        if users:
            msg = f'{kind} "{found.name}" is used by {", ".join(users)}'
            raise QueryError(msg, hint="Drop those first.", at=name.span)
        self.catalog.drop(found)
        return Outcome(statement, f'{kind} "{found.name}" dropped')

    def _show(self, statement: syntax.Show) -> Outcome:
        table = shown(statement.what, self.catalog, self.settings)
        return Outcome(statement, header=table.header, rows=table.rows)

    def _describe(self, statement: syntax.Describe) -> Outcome:
        kinds = ("stream", "relation", "view", "query", "sink")
        found = self.catalog.find(statement.name.text, *kinds, at=statement.name.span)
        table = described(found)
        return Outcome(statement, summary(found), header=table.header, rows=table.rows)

    def _explain(self, statement: syntax.Explain) -> Outcome:
        # Here, because it loads the planner, and with it the operators.
        from penstock.planner.explain.explain import explained
        from penstock.planner.merged_queries import isolation_note
        from penstock.planner.physical.building import Choices
        from penstock.planner.statistics.statistics import stated_rates

        tactics = self.settings.tactics
        if statement.query is not None:
            bound = self._bind(statement.query)
            plan, warnings = bound.plan, bound.warnings
        else:
            assert statement.name is not None
            at = statement.name.span
            found = self.catalog.find(statement.name.text, "view", "query", at=at)
            assert isinstance(found, ViewDefinition | QueryDefinition)
            plan, warnings = found.plan, ()
            if isinstance(found, QueryDefinition):
                tactics = found.tactics
        chosen_by = stated_rates(stated_by(self.catalog, plan))
        rates = expected_by(self.catalog, [plan])
        text = explained(plan, Choices.of(tactics), chosen_by=chosen_by, rates=rates)
        if statement.query is not None and self.settings.isolation == "latest":
            text += f"\n{isolation_note(plan)}"
        return Outcome(statement, text, plan=plan, warnings=warnings)

    def _replan(self, statement: syntax.Replan) -> Outcome:
        """See that there is such a query; whoever runs it plans it anew."""
        found = self.catalog.find(statement.name.text, "query", at=statement.name.span)
        return Outcome(statement, f'query "{found.name}" is planned anew where it runs')

    def _set(self, statement: syntax.SetOption) -> Outcome:
        try:
            self.settings = self.settings.changed(statement.key.text, statement.value.text)
        except PenstockError as error:
            unknown = isinstance(error, UnknownName)
            error.at = statement.key.span if unknown else statement.value.span
            raise
        return Outcome(statement, f"{statement.key.text} = {statement.value.text}")


def _start(written: syntax.StartSyntax | None, unit: TimeUnit) -> int | None:
    """The instant from which on a query sees retained rows; None: all, INFINITY: none."""
    if written is None:
        return None
    return INFINITY if written.at is None else instant_in(written.at, unit, last=False)


def _quoted(name: str) -> str:
    """A name as a statement has it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


def _one_query(text: str, name: str | None = None) -> syntax.Select:
    """The only statement of a text, which must be a query."""
    statements = parse_script(text, name)
    if len(statements) == 1 and isinstance(statements[0], syntax.Select):
        return statements[0]
    msg = f"expected one query, found {len(statements)} statements"
    if len(statements) == 1:
        msg = "expected a query, found another statement"
    raise CqlSyntaxError(msg, source=SourceText(text, name))


def tabulated(outcome: Outcome) -> list[str]:
    """The rows of SHOW and DESCRIBE in columns, under their header."""
    rows = [outcome.header, *outcome.rows]
    width = max(len(row[0]) for row in rows)
    return [f"{first.ljust(width)}  {second}".rstrip() for first, second in rows]
