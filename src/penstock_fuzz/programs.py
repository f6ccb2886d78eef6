"""Whole programs: declarations, settings, views, and the query under test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock_fuzz.queries import QueryWriter
from penstock_fuzz.schemas import random_clock, random_tables, some_relations
from penstock_fuzz.text import Text, optional, written
from penstock_fuzz.windows import Style

if TYPE_CHECKING:
    from penstock_fuzz.draw import Draw
    from penstock_fuzz.schemas import DeclaredTable


@dataclass(frozen=True)
class FuzzProgram:
    """The declarations and the query, as texts that can be made smaller."""

    tables: tuple[DeclaredTable, ...]
    settings: tuple[str, ...]
    views: tuple[Text, ...]
    query: Text

    @property
    def script(self) -> str:
        """The statements to run before the query."""
        ddl = [table.ddl for table in self.tables]
        return "\n".join([*ddl, *self.settings, *map(str, self.views)])


def random_program(draw: Draw, *, with_choice: bool = False, timeless: bool = False) -> FuzzProgram:
    """Any program; the binder may still refuse it.

    Args:
        draw: Decides.
        with_choice: Rather a query that forgets, and that the planner has a choice for.
        timeless: A query over relations only, which no stream tells of time.
    """
    clock = random_clock(draw)
    tables = random_tables(draw, clock)
    if timeless:
        tables = [one for one in tables if one.is_stream] + some_relations(draw)
    writer = QueryWriter(draw, tables, clock, timeless=timeless)
    depth = draw.pick(0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 4, 6)
    query = _chosen(draw, writer, depth) if with_choice else _top(draw, writer, depth)
    settings = [
        text
        for text in ("SET empty_aggregates = none;", "SET integer_division = true;")
        if draw.chance(8)
    ]
    views = tuple(view.statement for view in writer.sources.views)
    return FuzzProgram(tuple(tables), tuple(settings), views, query)


def _chosen(draw: Draw, writer: QueryWriter, depth: int) -> Text:
    kinds = writer.some_kinds()
    with writer.sources.using(Style(timed=True)):
        match draw.pick("choice", "choice", "choice", "sent", "nested", "any", "emitted"):
            case "sent":
                word = draw.pick("ISTREAM", "DSTREAM", "RSTREAM")
                text = writer.with_choice(kinds)
                return written(f"stream {text.sort}", f"{word}({{}})", text)
            case "nested":
                return writer.query(max(depth, 1), kinds)
            case "emitted":
                return writer.emitting(min(depth, 2))[0]
            case "any":
                return _top(draw, writer, depth)
        return writer.with_choice(kinds)


def _top(draw: Draw, writer: QueryWriter, depth: int) -> Text:
    form = draw.pick("relation", "relation", "relation", "stream", "stream", "periodic", "output",
                     "internal", "loose rstream", "windows", "first")  # fmt: skip
    if form == "stream":
        return writer.emitting(depth)[0]
    if form == "periodic":
        return writer.periodic(depth)[0]
    if form == "windows":
        return _of_windows(draw, writer, depth)
    if form == "first":
        return _of_first_rows(draw, writer, depth)
    loose = form in ("relation", "loose rstream")
    kinds = writer.some_kinds(loose=loose)
    if form == "internal":
        slide = draw.count(1, 4) if draw.chance(30) else None
        with writer.sources.using(Style(slide=slide, internal=True)):
            return writer.select(depth, kinds)
    text = writer.query(depth, kinds)
    if form == "output":
        return written(
            text.sort, "{}{}", text, optional(" OUTPUT{}", writer.sources.output_window(kinds))
        )
    if form == "loose rstream":
        return written(f"stream {text.sort}", "RSTREAM({})", text)
    return written(text.sort, "{}{}", text, optional(" EMIT FINAL")) if draw.chance(15) else text


def _of_windows(draw: Draw, writer: QueryWriter, depth: int) -> Text:
    """A result for each window [start, end): at its end, in order, or while it is open."""
    end = draw.pick("ends", "ends", "ends", "order", "changes")
    kinds = writer.some_kinds(loose=end == "ends")
    with writer.sources.using(Style(hopping=True)):
        text = writer.query(depth, kinds)
    if end == "order":
        return written(text.sort, "{}{}", text, writer.ordering(kinds))
    return written(text.sort, "{} EMIT CHANGES", text) if end == "changes" else text


def _of_first_rows(draw: Draw, writer: QueryWriter, depth: int) -> Text:
    """The first rows of a result or of its groups, with or without their numbers."""
    kinds = writer.some_kinds()
    with writer.sources.using(Style(hopping=draw.chance(20))):
        text = writer.query(depth, kinds)
    form = draw.pick("limit", "limit", "qualify", "qualify", "numbered")
    if form == "limit":
        first = written(text.sort, "SELECT * FROM ({}) AS q{}", text, writer.first(kinds))
    else:
        names = [f"c{i}" for i in range(len(kinds))]
        groups = f"PARTITION BY {', '.join(draw.some(names, 2))} " if draw.chance(75) else ""
        order = optional("{}", writer.order(kinds))
        number = written("number", f"ROW_NUMBER() OVER ({groups}{{}})", order)
        bound = draw.pick("<= 1", "<= 2", "<= 3", "= 2", "BETWEEN 2 AND 3", "> 1")
        if form == "qualify":
            template = f"SELECT * FROM ({{}}) AS q QUALIFY {{}} {bound}"
            first = written(text.sort, template, text, number)
        else:
            template = "SELECT * FROM (SELECT *, {} AS n FROM ({}) AS q) AS p WHERE n "
            first = written(f"{text.sort} BIGINT", template + bound, number, text)
    if draw.chance(15):
        return written(f"stream {first.sort}", "ISTREAM({})", first)
    return first
