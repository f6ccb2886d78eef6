"""Statements of a connection: performed one at a time, refused before, shown after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import Relation, Stream
from penstock.binder.declarations import declare
from penstock.builder import source
from penstock.catalog.definitions import QueryDefinition, ViewDefinition
from penstock.connectors.generate import is_generated
from penstock.connectors.generate_options import generate_options
from penstock.cql import syntax
from penstock.errors import PenstockError, QueryError, SourceText
from penstock.session import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.algebra.plan import Plan
    from penstock.builder import QueryBuilder as BuiltQuery
    from penstock.catalog.definitions import Catalog, Definition
    from penstock.connection.engine import Replanned
    from penstock.connection.questions.one_time_answer import OneTimeAnswer
    from penstock.session import Session


class StatementTarget(Protocol):
    """The object of statements: a catalog, and the queries that run."""

    @property
    def session(self) -> Session:
        """The catalog and the settings."""

    def prepare(self, statement: syntax.Statement) -> None:
        """See that a statement can be performed here.

        Raises:
            PenstockError: It cannot.
        """

    def take_in(self, outcome: Outcome, text: str, before: QueryDefinition | None) -> None:
        """Note what a statement did to the catalog; `before`: the query of its name until then."""

    def apply(self) -> None:
        """Let what has been noted take effect: queries that were noted together start together."""

    def replan(self, query: str, *, later: bool = False) -> Replanned:
        """Choose a plan anew, by what was measured; `later`: as soon as anything has been."""

    def explain(self, query: QueryDefinition) -> str:
        """The plan of a query, as it runs or is about to."""

    def ask(self, text: str) -> OneTimeAnswer:
        """Answer a question, once."""

    def reading_note(self, plan: Plan) -> str:
        """The rows that a query would read if it were asked once, now, and who would read them."""


def execute(target: StatementTarget, text: str) -> pa.Table | None:
    """Run statements; the rows that the last of them shows.

    Raises:
        PenstockError: A statement is at fault; those before it have taken effect.
    """
    shown = None
    try:
        for outcome, before in _performed(target, text):
            span = outcome.statement.span
            target.take_in(outcome, text[span.start : span.end], before)
            found = _shown(target, outcome, text)
            shown = shown if found is None else found
    finally:
        target.apply()
    return shown


def register(target: StatementTarget, name: str, query: str | BuiltQuery) -> None:
    """Put a query into the catalog, and let it run.

    Raises:
        PenstockError: The text is not one query, the query is at fault, or the name is taken.
    """
    if isinstance(query, str):
        outcome, text = target.session.create_query(name, query)
    else:
        _require_declared(target.session.catalog, query)
        outcome, text = target.session.create_plan(name, query.plan)
    target.take_in(outcome, text, None)
    target.apply()


def _require_declared(catalog: Catalog, query: BuiltQuery) -> None:
    """See that a built query reads streams and relations as they are declared."""
    for node in different_nodes(query.plan):
        if not isinstance(node, Stream | Relation):
            continue
        kind = "stream" if isinstance(node, Stream) else "relation"
        declared = source(catalog.find(node.name, kind)).plan
        if declared != node:
            msg = f'the query reads {kind} "{node.name}" otherwise than it is declared'
            hint = f'Begin with db.source("{node.name}"): it has the declared columns.'
            raise QueryError(msg, hint=hint)


def _performed(
    target: StatementTarget, text: str
) -> Iterator[tuple[Outcome, QueryDefinition | None]]:
    """Each statement that was performed, and the query of the same name before it."""
    found: Definition | None = None

    def prepare(statement: syntax.Statement) -> None:
        nonlocal found
        _refuse_replaced_source(target.session.catalog, statement)
        _refuse_wrong_generating(statement)
        target.prepare(statement)
        name = getattr(statement, "name", None)
        found = None if name is None else target.session.catalog.get(name.text)

    for statement in target.session.parsed(text):
        if isinstance(statement, syntax.Select):
            yield Outcome(statement), None
            continue
        # The session may be another after a statement.
        outcome = target.session.perform(statement, SourceText(text), prepare)
        yield outcome, found if isinstance(found, QueryDefinition) else None


def _refuse_replaced_source(catalog: Catalog, statement: syntax.Statement) -> None:
    """A stream or relation that is read cannot become another."""
    if isinstance(statement, syntax.CreateSource) and statement.replace:
        users = _readers(catalog, statement.name.text)
        if users:
            msg = f'"{statement.name.text}" is used by {", ".join(users)}'
            raise QueryError(msg, hint="Drop those first.")
    if isinstance(statement, syntax.CreateQuery) and statement.replace:
        # What they are made of would not be what their texts say.
        name = statement.name.text.lower()
        plans = [one for one in catalog if isinstance(one, ViewDefinition | QueryDefinition)]
        users = [f'{one.kind} "{one.name}"' for one in plans if name in map(str.lower, one.reads)]
        if users:
            msg = f'"{statement.name.text}" is read by {", ".join(users)}'
            raise QueryError(msg, hint="Drop those first.")


def _refuse_wrong_generating(statement: syntax.Statement) -> None:
    """The options of a source that is generated have a meaning."""
    if isinstance(statement, syntax.CreateSource) and statement.format is not None:
        definition = declare(statement)
        if is_generated(definition):
            generate_options(definition)


def _readers(catalog: Catalog, source: str) -> list[str]:
    """The views and queries that read a stream or relation."""
    plans = [one for one in catalog if isinstance(one, ViewDefinition | QueryDefinition)]
    return [
        f'{one.kind} "{one.name}"'
        for one in plans
        for node in different_nodes(one.plan)
        if isinstance(node, Stream | Relation) and node.name.lower() == source.lower()
    ]


def _shown(target: StatementTarget, outcome: Outcome, text: str) -> pa.Table | None:
    """The rows of SELECT, SHOW and DESCRIBE, the lines of EXPLAIN, what REPLAN says."""
    match outcome.statement:
        case syntax.Select(span=span):
            # Queries that the same text registers are tables in it.
            target.apply()
            before = "".join("\n" if char == "\n" else " " for char in text[: span.start])
            return target.ask(before + text[span.start : span.end]).to_arrow()
        case syntax.Replan():
            return pa.table({"plan": [_replanned(target, outcome.statement, text)]})
        case syntax.Explain(name=name):
            query = None if name is None else target.session.catalog.get(name.text)
            said = outcome.message or ""
            if isinstance(query, QueryDefinition):
                said = target.explain(query)
            elif name is None and outcome.plan is not None:
                # Queries that the same text registers are read by it.
                target.apply()
                said = f"{said}\n{target.reading_note(outcome.plan)}"
            return pa.table({"plan": said.splitlines()})
    if not outcome.header:
        return None
    columns = [[row[place] for row in outcome.rows] for place in range(len(outcome.header))]
    return pa.table([pa.array(one, pa.string()) for one in columns], list(outcome.header))


def _replanned(target: StatementTarget, statement: syntax.Replan, text: str) -> str:
    """Plan a query anew, or as soon as something has been measured; what comes of it."""
    # It may have been created by the same text.
    target.apply()
    try:
        return target.replan(statement.name.text, later=True).text
    except PenstockError as error:
        error.at = statement.name.span
        raise error.locate(SourceText(text)) from None
