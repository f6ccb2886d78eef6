"""The context of binding one statement: what it needs to know and gathers on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from penstock.algebra.plan import Plan
    from penstock.catalog.definitions import Catalog
    from penstock.catalog.settings import Settings
    from penstock.errors import Span


@dataclass
class SelectWindows:
    """The windows of one SELECT, predicate subqueries included: all are INTERNAL or none."""

    windows: list[tuple[bool, Span]] = field(default_factory=list)

    @property
    def internal(self) -> bool:
        """INTERNAL, said of the windows seen so far."""
        return any(internal for internal, _ in self.windows)


@dataclass
class Context:
    """The catalog and settings a statement is bound under, and the names it has used up.

    `tables` are queries whose results are read as relations; None: the statement is no question,
    and a query that it names is computed anew. `reads` has the names of these.
    """

    catalog: Catalog
    settings: Settings
    tables: Collection[str] | None = None
    common_tables: dict[str, Plan] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    reads: dict[str, None] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)

    def unique(self, name: str) -> str:
        """A name for the plan that no other part of the statement has."""
        candidate, number = name, 1
        while candidate.lower() in self._used:
            number += 1
            candidate = f"{name}_{number}"
        self._used.add(candidate.lower())
        return candidate
