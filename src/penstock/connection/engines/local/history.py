"""The statements that made a connection what it is, so that it can be made again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.catalog.definitions import QueryDefinition
from penstock.cql import syntax

if TYPE_CHECKING:
    from collections.abc import Collection

    from penstock.algebra.plan import Plan
    from penstock.algebra.tactics import Tactics
    from penstock.catalog.definitions import Catalog
    from penstock.session import Outcome, Session


@dataclass(eq=False)
class Entry:
    """A statement; or a query that was given without one, and the name it got.

    `drops` is the entry of the query that it drops.
    """

    text: str
    query: str | None = None
    drops: Entry | None = None


@dataclass(frozen=True)
class Registered:
    """A query that is bound, and the entry that says so."""

    name: str
    text: str
    plan: Plan
    warnings: tuple[str, ...]
    entry: Entry
    tactics: Tactics


class History:
    """The entries, in order. What only concerns queries that are gone for good is left out."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def add(self, entry: Entry) -> Entry:
        """Append an entry."""
        self.entries.append(entry)
        return entry

    def forget(self, gone: Collection[Entry]) -> None:
        """Leave out the entries of queries, and those that drop them."""
        self.entries = [one for one in self.entries if one not in gone and (one.drops not in gone)]


def registered_by(outcome: Outcome, entry: Entry, catalog: Catalog) -> Registered | None:
    """The query that a statement created, if it did."""
    statement = outcome.statement
    if not isinstance(statement, syntax.CreateQuery) or statement.kind != "QUERY":
        return None
    found = catalog.get(outcome.name or "")
    if not isinstance(found, QueryDefinition):
        return None
    return Registered(
        found.name, statement.text, found.plan, outcome.warnings, entry, found.tactics
    )


def register(session: Session, text: str, name: str | None, entry: Entry) -> Registered:
    """Bind a query and put it into the catalog, under a name of its own if it is given none.

    Raises:
        PenstockError: The text is not one query, the query is at fault, or the name is taken.
    """
    bound = session.bind(text)
    if name is None:
        number = 1
        while session.catalog.get(f"query_{number}") is not None:
            number += 1
        name = f"query_{number}"
    tactics = session.settings.tactics
    session.catalog.add(QueryDefinition(name, bound.plan, text, tactics))
    entry.query = name
    return Registered(name, text, bound.plan, bound.warnings, entry, tactics)
