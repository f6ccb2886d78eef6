"""Generate: rows that are made up as they are read, for first steps and load tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.connectors.connector import Connector, SourceFormat

if TYPE_CHECKING:
    from penstock.catalog.definitions import RelationDefinition, StreamDefinition

GENERATE = Connector("generate", SourceFormat())


def is_generated(definition: StreamDefinition | RelationDefinition) -> bool:
    """A source whose rows are made up."""
    return (definition.format or "").lower() == GENERATE.name
