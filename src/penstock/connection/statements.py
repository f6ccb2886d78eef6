"""Statements of a connection: performed one at a time, refused before, shown after."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import pyarrow as pa

from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import Relation, Stream
from penstock.catalog.definitions import QueryDefinition, ViewDefinition
from penstock.cql import syntax
from penstock.cql.dialect import parse_script
from penstock.errors import NotSupported, PenstockError, QueryError, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.catalog.definitions import Catalog
    from penstock.session import Outcome, Session


def performed(
    session: Session, text: str, refuse: Callable[[syntax.Statement], None]
) -> Iterator[Outcome]:
    """Run statements one at a time, unless the connection refuses to do what is asked."""
    outcomes = session.run(text)
    for statement in parse_script(text):
        try:
            refuse(statement)
        except PenstockError as error:
            error.at = error.at or statement.span
            raise error.locate(Source(text)) from None
        yield next(outcomes)


def refuse_nameless(statement: syntax.Statement) -> None:
    """A query has to be read by a name."""
    if isinstance(statement, syntax.Select):
        msg = "a query needs a name to be read by"
        raise QueryError(msg, hint="Write CREATE QUERY name AS ...")


def refuse_replaced_source(catalog: Catalog, statement: syntax.Statement) -> None:
    """A stream or relation that is read cannot become another."""
    if isinstance(statement, syntax.CreateSource) and statement.replace:
        users = _readers(catalog, statement.name.text)
        if users:
            msg = f'"{statement.name.text}" is used by {", ".join(users)}'
            raise QueryError(msg, hint="Drop those first.")


def refuse_replan() -> NoReturn:
    """An inline connection keeps to the plan that it began with.

    Raises:
        NotSupported: Always.
    """
    msg = "an inline connection plans a query once, when it is registered"
    hint = "penstock.connect() runs it on Spark, where REPLAN and replan() choose another plan."
    raise NotSupported(msg, hint=hint)


def _readers(catalog: Catalog, source: str) -> list[str]:
    """The views and queries that read a stream or relation."""
    plans = [one for one in catalog if isinstance(one, ViewDefinition | QueryDefinition)]
    return [
        f'{one.kind} "{one.name}"'
        for one in plans
        for node in different_nodes(one.plan)
        if isinstance(node, Stream | Relation) and node.name.lower() == source.lower()
    ]


def lines_table(text: str) -> pa.Table:
    """What EXPLAIN says, line by line."""
    return pa.table({"plan": text.splitlines()})


def shown_by(outcome: Outcome) -> pa.Table | None:
    """The rows of SHOW and DESCRIBE, the lines of EXPLAIN."""
    if isinstance(outcome.statement, syntax.Explain):
        return lines_table(outcome.message or "")
    if not outcome.header:
        return None
    columns = [[row[place] for row in outcome.rows] for place in range(len(outcome.header))]
    return pa.table([pa.array(one, pa.string()) for one in columns], list(outcome.header))
