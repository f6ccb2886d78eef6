"""A script of statements for a pipeline: understood before Spark starts, run once.

What the home has declared already, word for word, is left as it is: a script can be run again, and
its queries go on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import Relation, Stream
from penstock.catalog.definitions import (
    QueryDefinition,
    RelationDefinition,
    SinkDefinition,
    StreamDefinition,
)
from penstock.connectors.memory import is_inserted
from penstock.cql import syntax
from penstock.cql.dialect import parse_script
from penstock.errors import DataError
from penstock.results.answer_kind import require_timed
from penstock.session import Session
from penstock.spark.sink_declarations import refuse_sink

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.algebra.plan import Plan
    from penstock.session import Outcome

_SAYS_ONLY = (syntax.Show, syntax.Describe, syntax.Explain)
"""Statements that change nothing."""


@dataclass(frozen=True)
class ScriptQuery:
    """A query of the script.

    Attributes:
        query: The name under which it runs.
        title: The name that it was given, if it was.
        plan: What it computes.
        is_new: Whether the home does not have it yet.
        at: The instant behind AS OF, as text; empty for a query without it.
    """

    query: str
    title: str | None
    plan: Plan
    is_new: bool = True
    at: str = ""


class Script:
    """Statements that have been understood.

    Attributes:
        steps: What is to be said and asked, in the order of the statements: the outcomes of
            statements, and the queries.
        text: The statements that the pipeline has to run.
        replans: Those that plan queries anew, after that.
        warnings: What the user should know.

    Raises:
        PenstockError: A statement is at fault.
    """

    def __init__(self, texts: Sequence[tuple[str, str | None]], declared: Sequence[str]) -> None:
        self.steps: list[Outcome | ScriptQuery] = []
        self.warnings: list[str] = []
        self.replans: list[str] = []
        self._declared = {_plain(text) for text in declared}
        self._session = Session()
        self._statements: list[str] = []
        self._about_sinks: list[str] = []
        self._selects = 0
        for text in declared:
            self._session.execute(text)
        self._before = {one.name for one in self._session.catalog}
        for text, name in texts:
            self._take_in(text, name)
        self.text = ";\n".join(self._statements)
        self._refuse()

    @property
    def text_without_sinks(self) -> str:
        """The statements of `text` but those about sinks."""
        return ";\n".join(one for one in self._statements if one not in self._about_sinks)

    @property
    def new_sinks(self) -> list[SinkDefinition]:
        """The sinks that the home does not have yet."""
        return [one for one in self.sinks if one.name not in self._before]

    @property
    def sinks(self) -> list[SinkDefinition]:
        """The sinks, those of the home among them."""
        return [one for one in self._session.catalog if isinstance(one, SinkDefinition)]

    def sources(self) -> list[StreamDefinition | RelationDefinition]:
        """The streams and relations that the queries read, by name."""
        names = sorted({name for asked in self.asked for name in _sources(asked.plan)})
        found = [self._session.catalog.get(name) for name in names]
        return [one for one in found if isinstance(one, StreamDefinition | RelationDefinition)]

    @property
    def asked(self) -> list[ScriptQuery]:
        """The queries."""
        return [step for step in self.steps if isinstance(step, ScriptQuery)]

    def without_sinks(self) -> list[ScriptQuery]:
        """The queries whose results go nowhere."""
        taken = {one.query.lower() for one in self.sinks}
        return [one for one in self.asked if one.query.lower() not in taken]

    def _take_in(self, text: str, name: str | None) -> None:
        statements = parse_script(text, name)
        known = [one for one in statements if self._is_declared(one, text)]
        outcomes = self._session.run(_without(text, known), name)
        for statement in statements:
            if statement in known:
                self._go_on(statement)
            else:
                self._perform(next(outcomes), text)

    def _is_declared(self, statement: syntax.Statement, text: str) -> bool:
        creates = isinstance(
            statement, syntax.CreateSource | syntax.CreateQuery | syntax.CreateSink
        )
        return creates and _plain(_words(text, statement)) in self._declared

    def _go_on(self, statement: syntax.Statement) -> None:
        """A statement that the home has from an earlier run."""
        if isinstance(statement, syntax.CreateQuery) and _is_query(statement):
            found = self._session.catalog.find(statement.name.text, "query")
            assert isinstance(found, QueryDefinition)
            self.steps.append(ScriptQuery(found.name, found.name, found.plan, is_new=False))

    def _perform(self, outcome: Outcome, text: str) -> None:
        statement = outcome.statement
        words = _words(text, statement)
        self.warnings += self._session.warnings_of(outcome)
        if isinstance(statement, _SAYS_ONLY):
            self.steps.append(outcome)
            return
        if isinstance(statement, syntax.Replan):
            self.replans.append(words)
            return
        if isinstance(statement, syntax.Select):
            assert outcome.plan is not None
            self._selects += 1
            name = f"query {self._selects}"
            at = ""
            if statement.as_of is not None:
                # It is answered from all input that the script has.
                require_timed(outcome.plan)
                at = str(statement.as_of.value)
                words = text[statement.span.start : statement.as_of.span.start]
                words = re.sub(r"\s+AS\s+OF\s*$", "", words, flags=re.IGNORECASE)
            words = f"CREATE QUERY `{name}` AS {words}"
            is_new = _plain(words) not in self._declared
            self.steps.append(ScriptQuery(name, None, outcome.plan, is_new=is_new, at=at))
            if not is_new:
                return
        elif outcome.name is not None and _is_query(statement):
            assert outcome.plan is not None
            self.steps.append(ScriptQuery(outcome.name, outcome.name, outcome.plan))
        self._statements.append(words)
        is_drop = isinstance(statement, syntax.Drop) and statement.kind == "SINK"
        if is_drop or isinstance(statement, syntax.CreateSink):
            self._about_sinks.append(words)

    def _refuse(self) -> None:
        """Refuse what cannot be written to, and what nobody will bring rows for."""
        for sink in self.sinks:
            refuse_sink(None, sink)
        for found in self.sources():
            if is_inserted(found.format) and found.name not in self._before:
                msg = f'{found.kind} "{found.name}" has no format: nobody brings rows for it'
                hint = "Declare it with USING csv OPTIONS (path 'rows.csv')."
                raise DataError(msg, hint=hint)


def _is_query(statement: syntax.Statement) -> bool:
    return isinstance(statement, syntax.CreateQuery) and statement.kind == "QUERY"


def _sources(plan: Plan) -> Iterator[str]:
    for node in different_nodes(plan):
        if isinstance(node, Stream | Relation):
            yield node.name


def _words(text: str, statement: syntax.Statement) -> str:
    return text[statement.span.start : statement.span.end]


def _plain(text: str) -> str:
    """A statement without what its layout is."""
    return " ".join(text.split())


def _without(text: str, statements: Sequence[syntax.Statement]) -> str:
    """A text in which statements are blank; the places of the others stay."""
    for one in statements:
        blank = "".join("\n" if char == "\n" else " " for char in _words(text, one))
        text = text[: one.span.start] + blank + text[one.span.end :]
    return text
