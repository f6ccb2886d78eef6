"""Users of a definition: those that cannot go on without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.plan import walk
from penstock.algebra.streams import Relation, Stream
from penstock.catalog.definitions import (
    QueryDefinition,
    RelationDefinition,
    SinkDefinition,
    StreamDefinition,
    ViewDefinition,
)

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.catalog.definitions import Catalog, Definition


def users_of(definition: Definition, catalog: Catalog) -> list[str]:
    """Sinks of a query; views and queries that read a stream or relation.

    A plan holds the views it is made of, so a view has no users.
    """
    sinks = [one for one in catalog if isinstance(one, SinkDefinition)]
    users: list[Definition] = [one for one in sinks if one.query == definition.name]
    if isinstance(definition, StreamDefinition | RelationDefinition):
        plans = (one for one in catalog if isinstance(one, ViewDefinition | QueryDefinition))
        users += [one for one in plans if _reads(one.plan, definition.name)]
    return [f'{one.kind} "{one.name}"' for one in users]


def _reads(plan: Plan, name: str) -> bool:
    return any(isinstance(one, Stream | Relation) and one.name == name for one in walk(plan))
