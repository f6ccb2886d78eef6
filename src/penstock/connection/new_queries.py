"""Queries that are new on a connection: their names, and warnings of what is unwise about them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING
from warnings import warn

from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import Relation, Stream
from penstock.catalog.definitions import QueryDefinition, RelationDefinition, StreamDefinition
from penstock.connectors.memory import is_inserted
from penstock.errors import QueryWarning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.connection.engine import Engine

_SOURCES = (StreamDefinition, RelationDefinition)


def unused_name(engine: Engine) -> str:
    """A name for a query that has none."""
    number = 1
    while engine.catalog.get(f"query_{number}") is not None:
        number += 1
    return f"query_{number}"


@contextmanager
def warned_of_new(engine: Engine) -> Iterator[None]:
    """Warn whoever calls the connection of what is unwise about queries created meanwhile."""
    before = {id(one): one for one in engine.catalog}
    yield
    for one in engine.catalog:
        if isinstance(one, QueryDefinition) and id(one) not in before:
            said = [*engine.session.warnings_of(one), *_unread_sources(engine, one)]
            if said:
                text = "\n  ".join(said)
                warn(f'query "{one.name}": {text}', QueryWarning, stacklevel=4)


def _unread_sources(engine: Engine, query: QueryDefinition) -> Iterator[str]:
    """Sources of a query that say where their rows are, which this engine does not read."""
    if engine.reads_sources:
        return
    for node in different_nodes(query.plan):
        source = engine.catalog.get(node.name) if isinstance(node, Stream | Relation) else None
        if isinstance(source, _SOURCES) and not is_inserted(source.format):
            brings = "insert" if source.kind == "stream" else "update"
            unread = f'{source.kind} "{source.name}" is not read from {source.format} here'
            yield (
                f"{unread}: db.{brings}() brings its rows; penstock.connect() and penstock run"
                " read them"
            )
