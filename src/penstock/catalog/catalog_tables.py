"""The catalog as tables: what SHOW and DESCRIBE answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.catalog.definitions import (
    QueryDefinition,
    RelationDefinition,
    SinkDefinition,
    StreamDefinition,
    ViewDefinition,
)
from penstock.catalog.functions import AGGREGATES, FUNCTIONS
from penstock.catalog.functions.sample_estimates import ESTIMATES

if TYPE_CHECKING:
    from penstock.catalog.definitions import Catalog, Definition
    from penstock.catalog.settings import Settings


class ShownTable(NamedTuple):
    """Texts in two columns, under their names."""

    header: tuple[str, str]
    rows: tuple[tuple[str, str], ...]


def shown(what: str, catalog: Catalog, settings: Settings) -> ShownTable:
    """The table of SHOW: settings, functions, or all definitions of a kind, with their summary."""
    if what == "SETTINGS":
        return ShownTable(("setting", "value"), tuple(settings.shown().items()))
    if what == "FUNCTIONS":
        functions = ((one.name, one.summary) for one in FUNCTIONS.values())
        aggregates = ((one.name, one.summary) for one in AGGREGATES.values())
        estimates = ((one.name, one.summary) for one in ESTIMATES.values())
        return ShownTable(("function", "what it does"), (*functions, *aggregates, *estimates))
    kind = {"QUERIES": "query"}.get(what, what.lower().removesuffix("s"))
    found = catalog.of_kind(kind)
    return ShownTable((kind, "definition"), tuple((one.name, summary(one)) for one in found))


def described(definition: Definition) -> ShownTable:
    """The table of DESCRIBE: columns and their types, or what a sink was declared with."""
    match definition:
        case StreamDefinition() | RelationDefinition():
            schema = definition.schema
        case ViewDefinition() | QueryDefinition():
            schema = definition.plan.schema
        case SinkDefinition():
            declared = [("query", definition.query), ("format", definition.format)]
            return ShownTable(("key", "value"), (*declared, *definition.options.items()))
        case _:
            return ShownTable(("column", "type"), ())
    return ShownTable(("column", "type"), tuple((one.name, str(one.type)) for one in schema))


def summary(definition: Definition) -> str:
    """A definition in a line."""
    match definition:
        case StreamDefinition():
            clock = f"event time {definition.time_column} ({definition.unit.value})"
            return f"{definition.schema}, {clock}, slack {definition.slack}"
        case RelationDefinition():
            kind = "retroactive" if definition.retroactive else "nonretroactive"
            return f"{definition.schema}, {kind}"
        case ViewDefinition() | QueryDefinition():
            return " ".join(definition.text.split())
        case SinkDefinition():
            return f"from {definition.query} using {definition.format}"
    return definition.kind
