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
                     "internal", "loose rstream")  # fmt: skip
    if form == "stream":
        return writer.emitting(depth)[0]
    if form == "periodic":
        return writer.periodic(depth)[0]
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
