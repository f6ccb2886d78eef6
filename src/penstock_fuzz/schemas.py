"""Random streams and relations, and the time that they share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING, INFINITY, TimeUnit
from penstock_fuzz.kinds import EXACT, TYPE_OF

if TYPE_CHECKING:
    from penstock_fuzz.draw import Draw


@dataclass(frozen=True)
class Clock:
    """The time of a query's streams: instant number n is `base + n * step`."""

    unit: TimeUnit
    step: int
    base: int

    def at(self, number: int) -> int:
        """The event time of an instant."""
        return self.base + number * self.step

    def length(self, steps: int) -> str:
        """A length of time as CQL."""
        if self.unit is TimeUnit.TICK:
            return str(steps)
        word = {"timestamp": "SECONDS", "ms": "MILLISECONDS"}[self.unit.value]
        return f"{steps} {word}"

    def instant(self, number: int) -> str:
        """An instant as CQL."""
        text = self.unit.format(self.at(number))
        return f"TIMESTAMP '{text}'" if self.unit is TimeUnit.TIMESTAMP else text


@dataclass(frozen=True)
class DeclaredColumn:
    """A declared column and the kind of its values."""

    name: str
    kind: str
    type: str


@dataclass(frozen=True)
class DeclaredTable:
    """A stream (with an event time, which comes first) or a relation."""

    name: str
    columns: tuple[DeclaredColumn, ...]
    clock: Clock | None = None
    slack: int = 0
    retroactive: bool = True
    utility: str | None = None

    @property
    def is_stream(self) -> bool:
        """A table with an event time."""
        return self.clock is not None

    @property
    def is_nrr(self) -> bool:
        """A non-retroactive relation."""
        return not self.is_stream and not self.retroactive

    @property
    def ddl(self) -> str:
        """The CREATE statement."""
        columns = ", ".join(f"{column.name} {column.type}" for column in self.columns)
        if self.clock is None:
            kind = "RELATION" if self.retroactive else "NONRETROACTIVE RELATION"
            return f"CREATE {kind} {self.name} ({columns});"
        length = self.clock.length(self.slack)
        interval = "" if self.clock.unit is TimeUnit.TICK else "INTERVAL "
        slack = f" - {interval}{length}" if self.slack else ""
        unit = self.clock.unit.value
        options = [f"time_unit '{unit}'"] if unit not in ("tick", "timestamp") else []
        if self.utility in [one.name for one in self.columns]:
            options.append(f"utility '{self.utility}'")
        option = f" OPTIONS ({', '.join(options)})" if options else ""
        time = self.columns[0].name
        watermark = f"WATERMARK FOR {time} AS {time}{slack}"
        return f"CREATE STREAM {self.name} ({columns}, {watermark}){option};"

    def without_column(self, index: int) -> DeclaredTable:
        """The table with a column less."""
        return replace(self, columns=self.columns[:index] + self.columns[index + 1 :])


def random_clock(draw: Draw) -> Clock:
    """Mostly small integers around zero; also the ends of time, milliseconds and dates."""
    kind = draw.pick("tick", "tick", "tick", "tick", "ms", "timestamp", "far")
    if kind == "timestamp":
        return Clock(TimeUnit.TIMESTAMP, 1_000_000, draw.pick(0, 1_706_702_400_000_000, -(10**15)))
    if kind == "ms":
        return Clock(TimeUnit.MILLISECONDS, 1, draw.pick(0, 1_706_702_400_000))
    base = draw.pick(10**15, -(10**15), INFINITY - 20, BEGINNING + 4) if kind == "far" else 0
    return Clock(TimeUnit.TICK, 1, base)


def random_tables(draw: Draw, clock: Clock) -> list[DeclaredTable]:
    """One to three streams, and up to a relation of each sort."""
    tables = [_stream(draw, name, clock) for name in "stu"[: draw.pick(1, 2, 2, 2, 3)]]
    if draw.chance(60):
        tables.append(DeclaredTable("r", _columns(draw)))
    if draw.chance(40):
        tables.append(DeclaredTable("n", _columns(draw), retroactive=False))
    return tables


def some_relations(draw: Draw) -> list[DeclaredTable]:
    """Two or three relations, alike, so that they have rows in common."""
    columns = _columns(draw)
    return [DeclaredTable(name, columns) for name in ("r", "p", "q")[: draw.pick(2, 2, 3)]]


def _stream(draw: Draw, name: str, clock: Clock) -> DeclaredTable:
    kind = "TIMESTAMP" if clock.unit is TimeUnit.TIMESTAMP else "BIGINT"
    small = kind == "BIGINT" and clock.base == 0 and draw.chance(20)
    time = DeclaredColumn("ts", kind, "INT" if small else kind)
    return DeclaredTable(name, (time, *_columns(draw)), clock, draw.pick(0, 0, 1, 2, 4))


def _columns(draw: Draw) -> tuple[DeclaredColumn, ...]:
    """Two to four columns; k is an INT in every table, so that tables can be joined."""
    kinds = ["INT", *(draw.pick(*EXACT, "INT", "STRING") for _ in range(draw.count(1, 3)))]
    return tuple(
        DeclaredColumn(name, kind, TYPE_OF[kind]) for name, kind in zip("kvwz", kinds, strict=False)
    )
