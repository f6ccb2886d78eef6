"""The declared objects of a session, and the catalog that finds them by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.algebra.tactics import Tactics
from penstock.catalog.durations import seconds_of
from penstock.errors import QueryError, Span, UnknownName, did_you_mean
from penstock.shedding.columns import SheddingColumns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from penstock.algebra.plan import Plan
    from penstock.algebra.time import TimeUnit
    from penstock.algebra.types import Schema
    from penstock.catalog.retain_rules import RetainRule


@dataclass(frozen=True)
class Definition:
    """Anything that has a name in the catalog."""

    name: str
    kind = "object"


@dataclass(frozen=True)
class StreamDefinition(Definition):
    """A stream: its columns, which of them is the event time, and how late rows may be.

    `rate` is the number of rows expected in a step of its time, where that is stated.
    `retain` says how long it keeps its rows, if the declaration does.
    """

    schema: Schema
    time_column: str
    unit: TimeUnit
    slack: int = 0
    format: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    rate: float | None = None
    retain: RetainRule | None = None
    kind = "stream"

    @property
    def idle_seconds(self) -> float | None:
        """After how long without a row it holds others back no more; None: it always does."""
        text = self.options.get("idle_timeout")
        return None if text is None else seconds_of("idle_timeout", text)

    @property
    def shedding_columns(self) -> SheddingColumns:
        """The columns that shedding goes by, which the options name."""
        names = [one.lower() for one in self.schema.names]
        chosen = (self.options.get(one) for one in SheddingColumns._fields)
        return SheddingColumns(*(None if c is None else names.index(c.lower()) for c in chosen))


@dataclass(frozen=True)
class RelationDefinition(Definition):
    """A relation; a non-retroactive one is read by each stream row at the row's own instant."""

    schema: Schema
    retroactive: bool = True
    format: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    kind = "relation"

    @property
    def reload_seconds(self) -> float | None:
        """The time after which its source is read again; None: never."""
        text = self.options.get("reload")
        return None if text is None else seconds_of("reload", text)


@dataclass(frozen=True)
class ViewDefinition(Definition):
    """A named query that other queries may read; it is expanded where it is named.

    `reads` has the continuous queries that it names.
    """

    plan: Plan
    text: str
    reads: tuple[str, ...] = ()
    kind = "view"


@dataclass(frozen=True)
class QueryDefinition(Definition):
    """A continuous query, how it runs (by what was set then), and what its author should know.

    `start` is the instant from which on it sees the rows that its streams retain; None: all of
    them, INFINITY: none.
    `latency` is the seconds that it allows from the arrival of rows to their results; None: any.
    `rates` are those that its streams stated when it was created. What a query `is_endless` keeps
    grows for ever. `reads` has the other queries that its text names, or their names.
    """

    plan: Plan
    text: str
    tactics: Tactics = field(default_factory=Tactics)
    warnings: tuple[str, ...] = ()
    latency: float | None = None
    rates: Mapping[str, float] = field(default_factory=dict)
    is_endless: bool = False
    start: int | None = None
    reads: tuple[str, ...] = ()
    kind = "query"


@dataclass(frozen=True)
class SinkDefinition(Definition):
    """A sink: the place that the results of a query go to."""

    query: str
    format: str
    options: dict[str, str] = field(default_factory=dict)
    kind = "sink"


class Catalog:
    """All definitions of a session by name, whatever the case of the letters."""

    def __init__(self) -> None:
        self._by_name: dict[str, Definition] = {}

    def copy(self) -> Catalog:
        """A catalog of its own with the same definitions."""
        made = Catalog()
        made._by_name = dict(self._by_name)
        return made

    def __iter__(self) -> Iterator[Definition]:
        """The definitions in the order of declaration."""
        return iter(self._by_name.values())

    def of_kind(self, *kinds: str) -> list[Definition]:
        """The definitions of some kinds, in the order of declaration."""
        return [one for one in self if one.kind in kinds]

    def get(self, name: str) -> Definition | None:
        """The definition of a name, if there is one."""
        return self._by_name.get(name.lower())

    def find(self, name: str, *kinds: str, at: Span | None = None) -> Definition:
        """The definition of a name that must be of one of the kinds.

        Raises:
            UnknownName: There is none; the hint names the nearest spelling.
        """
        found = self.get(name)
        if found is not None and found.kind in kinds:
            return found
        wanted = " or ".join(filter(None, (", ".join(kinds[:-1]), kinds[-1])))
        if found is not None:
            msg = f'"{found.name}" is a {found.kind}, not a {wanted}'
            raise UnknownName(msg, at=at)
        names = [one.name for one in self.of_kind(*kinds)]
        otherwise = f"Known: {', '.join(names)}." if names else f"No {wanted} is declared yet."
        msg = f'there is no {wanted} called "{name}"'
        raise UnknownName(msg, hint=did_you_mean(name, names, otherwise=otherwise), at=at)

    def add(self, definition: Definition, *, replace: bool = False, at: Span | None = None) -> None:
        """Declare a name.

        Raises:
            QueryError: The name is taken, or would be replaced by another kind of object.
        """
        existing = self.get(definition.name)
        if existing is not None and not (replace and existing.kind == definition.kind):
            msg = f'there is already a {existing.kind} called "{existing.name}"'
            hint = f"DROP {existing.kind.upper()} {existing.name}; first, or choose another name."
            raise QueryError(msg, hint=hint, at=at)
        self._by_name[definition.name.lower()] = definition

    def drop(self, definition: Definition) -> None:
        """Forget a name."""
        del self._by_name[definition.name.lower()]
