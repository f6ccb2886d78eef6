"""The statements that made a catalog what it is, so that it can be made again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from penstock.catalog.definitions import QueryDefinition


@dataclass(eq=False)
class HistoryEntry:
    """A statement, and the query that it makes, if it makes one.

    `drops` is the entry of the query that it drops.
    """

    text: str
    query: QueryDefinition | None = None
    drops: HistoryEntry | None = None


class History:
    """The entries, in order. What only concerns queries that are gone for good is left out."""

    def __init__(self) -> None:
        self.entries: list[HistoryEntry] = []

    def add(self, entry: HistoryEntry) -> HistoryEntry:
        """Append an entry."""
        self.entries.append(entry)
        return entry

    def keep(self, needed: Collection[HistoryEntry]) -> None:
        """Leave out the entries of queries that are not needed, and those that drop them."""
        gone = {one for one in self.entries if one.query is not None and one not in needed}
        self.entries = [one for one in self.entries if one not in gone and one.drops not in gone]
