"""Random inputs and windows; random queries over them are in `properties.generate_queries`.

The rows a window holds at an instant (`Window.held`) are defined here a second time, as a set per
instant instead of an interval per row, so that tests need not believe `penstock.reference`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from penstock.reference.inputs import Inputs, RelationChange, RelationHistory
from penstock.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.reference.timeline import Row

DECLARATIONS = """
CREATE STREAM s (ts BIGINT, k INT, v INT, c STRING, WATERMARK FOR ts AS ts);
CREATE STREAM t (ts BIGINT, k INT, v INT, c STRING, WATERMARK FOR ts AS ts);
CREATE RELATION r (k INT, v INT, c STRING);
"""
STREAM_COLUMNS = {"ts": "INT", "k": "INT", "v": "INT", "c": "STRING"}
COLUMNS = {"s": STREAM_COLUMNS, "t": STREAM_COLUMNS, "r": {"k": "INT", "v": "INT", "c": "STRING"}}
FIRST, LAST = -3, 8
"""Between these lie the event times of generated rows and changes."""
INSTANTS = range(FIRST - 2, LAST + 14)
"""All instants at which something can change, and some before and after."""


def declared() -> Session:
    """A session that knows the streams s and t and the relation r."""
    session = Session()
    session.execute(DECLARATIONS)
    return session


# Inputs


def one_row(columns: dict[str, str]) -> st.SearchStrategy[Row]:
    """A row of few different values, so that NULLs, duplicates and equal times are common."""
    values = {
        "ts": st.integers(FIRST, LAST),
        "INT": st.sampled_from([None, 0, 1, 1, 2, 2, 3, -1]),
        "STRING": st.sampled_from([None, "", "a", "b", "ab", "B"]),
    }
    return st.tuples(*(values.get(name, values[kind]) for name, kind in columns.items()))


def rows(columns: dict[str, str], *, most: int = 7) -> st.SearchStrategy[list[Row]]:
    """Rows in the order they arrived, which need not be that of their times."""
    many = st.lists(one_row(columns), min_size=most // 2, max_size=most)
    return st.integers(0, 9).flatmap(lambda number: st.just([]) if number == 9 else many)


@st.composite
def histories(draw: st.DrawFn) -> RelationHistory:
    """A relation that removes only what it holds, and changes a row once per instant."""
    initial = draw(rows(COLUMNS["r"], most=3))
    live, changes = list(initial), list[RelationChange]()
    for at in sorted(draw(st.lists(st.integers(FIRST, LAST), max_size=4))):
        touched = {change.row for change in changes if change.at == at}
        leaving = [one for one in live if one not in touched]
        shrinks = draw(st.booleans())
        if leaving and shrinks:
            changed = draw(st.sampled_from(leaving))
            live.remove(changed)
            changes.append(RelationChange(at, "-", changed))
        else:
            changed = draw(one_row(COLUMNS["r"]))
            if changed not in touched:
                live.append(changed)
                changes.append(RelationChange(at, "+", changed))
    return RelationHistory(initial, changes)


def inputs() -> st.SearchStrategy[Inputs]:
    """Rows of both streams, in any order of their times, and a history of the relation."""
    streams = st.fixed_dictionaries({"s": rows(STREAM_COLUMNS), "t": rows(STREAM_COLUMNS)})
    return st.builds(Inputs, streams, st.fixed_dictionaries({"r": histories()}))


# Windows


@dataclass(frozen=True)
class Window:
    """A window of CQL; `length` is the first number of its text, whatever it counts."""

    kind: str
    length: int = 0
    slide: int | None = None
    by: tuple[str, ...] = ()
    end: int = 0

    def __str__(self) -> str:
        by = f"PARTITION BY {', '.join(self.by)} " if self.by else ""
        length = "" if self.kind in ("NOW", "UNBOUNDED") else f" {self.length}"
        end = f" AND {self.end}" if self.kind == "BETWEEN" else ""
        return f"{by}{self.kind}{length}{end}{f' SLIDE {self.slide}' if self.slide else ''}"

    def without_slide(self) -> Window:
        return replace(self, slide=None)

    def held(
        self, arrivals: Sequence[Row], t: int, columns: Sequence[str] = tuple(STREAM_COLUMNS)
    ) -> set[int]:
        """Which rows, by position in (ts, seq) order, the window holds at t; times come first."""
        arrived = [i for i, row in enumerate(arrivals) if time_of(row) <= t]
        since = {i: time_of(arrivals[i]) for i in arrived}
        match self.kind:
            case "ROWS":
                return self._last_rows(arrivals, arrived, columns)
            case "RANGE":
                last = t if self.slide is None else t // self.slide * self.slide
                return {i for i in arrived if last - self.length < since[i] <= last}
            case "FIXED":
                return {i for i in arrived if since[i] // self.length == t // self.length}
            case "NOW":
                return {i for i in arrived if since[i] == t}
            case "SINCE":
                return {i for i in arrived if since[i] >= self.length}
            case "BETWEEN":
                return {i for i in arrived if self.length <= since[i] <= self.end}
        assert self.kind == "UNBOUNDED"
        return set(arrived)

    def _last_rows(
        self, arrivals: Sequence[Row], arrived: list[int], columns: Sequence[str]
    ) -> set[int]:
        """Of each partition the last rows, counted at the last full slide."""
        places = [columns.index(name) for name in self.by]
        partitions = defaultdict(list)
        for i in arrived:
            partitions[tuple(arrivals[i][place] for place in places)].append(i)
        kept = set[int]()
        for members in partitions.values():
            full = len(members) // (self.slide or 1) * (self.slide or 1)
            kept.update(members[max(0, full - self.length) : full])
        return kept


UNBOUNDED = Window("UNBOUNDED")


def time_of(row: Row) -> int:
    """The event time, first in every stream."""
    assert isinstance(row[0], int)
    return row[0]


def in_order_of_time(arrived: Sequence[Row]) -> list[Row]:
    """By (ts, seq)."""
    return sorted(arrived, key=time_of)


@st.composite
def windows(draw: st.DrawFn, *, slide: bool = True) -> Window:
    """Any window, of a length that generated rows outlive."""
    count = st.sampled_from([2, 1, 3, 4, 5])
    kind = draw(st.sampled_from(["RANGE"] * 3 + ["ROWS"] * 3 + ["NOW", "UNBOUNDED", "FIXED"] * 2
                                + ["SINCE", "BETWEEN"]))  # fmt: skip
    if kind in ("RANGE", "ROWS"):
        step = draw(st.none() | st.none() | st.integers(1, 4)) if slide else None
        by = draw(st.sampled_from([(), (), ("k",), ("c", "k")])) if kind == "ROWS" else ()
        return Window(kind, draw(count), step, by)
    if kind in ("SINCE", "BETWEEN"):
        start = draw(st.integers(FIRST, LAST))
        return Window(kind, start, end=start + draw(count))
    return Window(kind, draw(count) if kind == "FIXED" else 0)


# Sources


@dataclass(frozen=True)
class Source:
    """A stream under a window, or a relation."""

    name: str
    window: Window | None = None

    @property
    def cql(self) -> str:
        return self.name if self.window is None else f"{self.name} [{self.window}]"


def rows_at(source: Source, given_: Inputs, t: int) -> list[Row]:
    """What a source holds at t: the window's rows, or the relation's."""
    if source.window is None:
        history = given_.relations[source.name]
        held = Counter(history.initial)
        for change in history.changes:
            if change.at <= t:
                held[change.row] += 1 if change.sign == "+" else -1
        return list(held.elements())
    arrivals = in_order_of_time(given_.streams[source.name])
    return [arrivals[i] for i in sorted(source.window.held(arrivals, t))]


def elements_at(source: Source, given_: Inputs, t: int) -> object:
    """Which elements a source holds at t: of a stream by position, which tells equal rows apart."""
    if source.window is None:
        return Counter(rows_at(source, given_, t))
    return source.window.held(in_order_of_time(given_.streams[source.name]), t)
