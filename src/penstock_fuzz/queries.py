"""Random queries: SELECT with groups and subqueries, set operations, relation-to-stream."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock_fuzz.expressions import Columns, Expressions, exact
from penstock_fuzz.kinds import CONSTANTS, FLOAT
from penstock_fuzz.predicates import Predicates
from penstock_fuzz.sources import Kinds, Sources
from penstock_fuzz.text import NOTHING, Text, listed, optional, written
from penstock_fuzz.windows import ANY, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock_fuzz.draw import Draw
    from penstock_fuzz.schemas import Clock, DeclaredTable

_SETS = (
    "UNION", "UNION ALL", "UNION ALL", "EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL",
    "UNION MAX", "EXCEPT STRICT",
)  # fmt: skip


class QueryWriter:
    """Writes the queries of one program; `depth` is how deep others may be nested in them.

    `loose` queries may show numbers that are right to the tolerance only (`kinds.FLOAT`); where
    the result is compared, told apart or sent out, it must not be loose.
    """

    def __init__(
        self, draw: Draw, tables: Sequence[DeclaredTable], clock: Clock, *, timeless: bool = False
    ) -> None:
        self._draw = draw
        self._values = Expressions(draw)
        self._kinds = [column.kind for table in tables for column in table.columns]
        self._stream = next(table.name for table in tables if table.is_stream)
        self.sources = Sources(draw, tables, clock, self._nested, self.emitting, timeless=timeless)
        self._predicates = Predicates(draw, self.sources, self.query)

    def _nested(self, depth: int) -> tuple[Text, Kinds]:
        kinds = self.some_kinds()
        if self.sources.style == ANY and self._draw.chance(8):
            with self.sources.using(Style(internal=True)):
                return self.select(0, kinds), kinds
        return self.query(depth, kinds), kinds

    def some_kinds(self, *, loose: bool = False) -> Kinds:
        """The kinds of one to three columns."""
        known = ("INT", "INT", "BIGINT", "DOUBLE", "WILD", *self._kinds)
        kinds = [self._draw.pick(*known) for _ in range(self._draw.pick(1, 1, 2, 3))]
        return [FLOAT if loose and self._draw.chance(25) else kind for kind in kinds]

    def query(self, depth: int, kinds: Kinds) -> Text:
        """A SELECT, or several under set operations."""
        sort = f"query {' '.join(kinds)}"
        if self.sources.style.rows_slide or not self._draw.chance(25):
            return written(sort, "{}", self.select(depth, kinds))
        words = _SETS if FLOAT not in kinds else ("UNION ALL",)
        count = self._draw.pick(2, 2, 3)
        text, *others = self._of_one_stream(kinds, count) if self._draw.chance(60) else [
            self.select(depth, kinds), *(self.select(depth - 1, kinds) for _ in range(count - 1))
        ]  # fmt: skip
        for right in others:
            text = written(sort, f"{{}} {self._draw.pick(*words)} {{}}", text, right)
        return text

    def _of_one_stream(self, kinds: Kinds, count: int) -> list[Text]:
        """The same columns of one stream again and again: sides that have rows in common."""
        source = self.sources.one_stream()
        _, columns = source()
        places = [self._draw.pick(*fitting) if (fitting := _places(columns, kind)) else None
                  for kind in kinds]  # fmt: skip
        found = []
        for _ in range(count):
            table, columns = source()
            names = list(columns)
            items = [
                self._values.constant(kind) if place is None else names[place]
                for kind, place in zip(kinds, places, strict=True)
            ]
            condition = optional(" WHERE {}", self._values.condition(columns, 0))
            where = condition if self._draw.chance(30) else NOTHING
            found.append(self._written(kinds, NOTHING, items, table, where, NOTHING))
        return found

    def select(self, depth: int, kinds: Kinds) -> Text:
        """One SELECT with columns c0, c1, ... of some kinds."""
        internal = self.sources.style.internal
        source, columns = self.sources.from_clause(depth)
        where = NOTHING
        if self._draw.chance(45):
            where = self._predicates.where(columns, depth, negated=not internal)
        may_differ = FLOAT in kinds or internal
        distinct = optional("DISTINCT ") if not may_differ and self._draw.chance(15) else NOTHING
        tail = NOTHING
        plain = columns
        if self._draw.chance(35):
            tail, columns, plain = self._grouped(columns, kinds, depth)
        items = [self._item(kind, columns, plain, depth) for kind in kinds]
        return self._written(kinds, distinct, items, source, where, tail)

    def with_choice(self, kinds: Kinds) -> Text:
        """A SELECT that may run in several ways: joins, with DISTINCT, with NOT EXISTS, or both."""
        source, columns = self.sources.many(self._draw.pick(1, 1, 2, 2, 2, 3), reads=True)
        where = NOTHING
        if self._draw.chance(60):
            parts = [self._predicates.missing(columns)]
            if self._draw.chance(30):
                parts.append(self._values.condition(columns, 1))
            where = optional(" WHERE {}", listed("conditions", " AND ", parts))
        is_exact = FLOAT not in kinds
        distinct = optional("DISTINCT ") if is_exact and self._draw.chance(50) else NOTHING
        tail = NOTHING
        if self._draw.chance(20):
            tail, columns, _ = self._grouped(columns, kinds, 0)
        items = [self._values.value(kind, columns, 1) for kind in kinds]
        return self._written(kinds, distinct, items, source, where, tail)

    def _written(
        self, kinds: Kinds, distinct: Text, items: list[Text], source: Text, where: Text, tail: Text
    ) -> Text:
        sort = f"query {' '.join(kinds)}"
        named = [written("item", f"{{}} AS c{i}", item) for i, item in enumerate(items)]
        return written(
            sort, "SELECT {}{} FROM {}{}{}", distinct, listed("items", ", ", named), source,
            where, tail, instead=(self._simplest(sort, kinds),),
        )  # fmt: skip

    def _simplest(self, sort: str, kinds: Kinds) -> Text:
        """Constants of the same kinds for each row of a stream."""
        items = [written("item", f"{CONSTANTS[kind][0]} AS c{i}") for i, kind in enumerate(kinds)]
        return written(sort, f"SELECT {{}} FROM {self._stream}", listed("items", ", ", items))

    def _item(self, kind: str, columns: Columns, plain: Columns, depth: int) -> Text:
        scalars = depth > 0 and not self.sources.style.rows_slide and kind == "BIGINT"
        if scalars and self._draw.chance(40):
            return self._predicates.scalar(plain, depth - 1)
        return self._values.value(kind, columns, 2)

    def _grouped(self, columns: Columns, kinds: Kinds, depth: int) -> tuple[Text, Columns, Columns]:
        """GROUP BY and HAVING; what may stand above them, and of this what subqueries may use."""
        keys: Columns = {}
        for _ in range(self._draw.pick(0, 1, 1, 1, 2)):
            kind = self._draw.pick(*exact(columns).values())
            keys[self._values.value(kind, exact(columns), self._draw.pick(0, 0, 0, 1))] = kind
        plain = {key: kind for key, kind in keys.items() if key in columns}
        above = dict(keys)
        for kind in (*kinds, *kinds, "BIGINT"):
            above[self._values.aggregate(kind, columns)] = kind
        by = optional(" GROUP BY {}", listed("keys", ", ", list(keys))) if keys else NOTHING
        return written("group", "{}{}", by, self._having(above, plain, depth)), above, plain

    def _having(self, above: Columns, plain: Columns, depth: int) -> Text:
        if not plain or not self._draw.chance(35):
            return NOTHING
        parts = [self._values.condition(above, 1)]
        negation = not self.sources.style.internal and not self.sources.style.rows_slide
        if depth > 0 and negation and self._draw.chance(35):
            parts.append(self._predicates.predicate(plain, depth - 1, negated=True))
        return optional(" HAVING {}", listed("conditions", " AND ", parts))

    # Relation to stream

    def emitting(self, depth: int) -> tuple[Text, Kinds]:
        """ISTREAM, DSTREAM or RSTREAM of any query; also periodic, with RESTORE or in order."""
        if self._draw.chance(35):
            return self.periodic(depth)
        kinds = self.some_kinds()
        word = self._draw.pick("ISTREAM", "ISTREAM", "DSTREAM", "RSTREAM")
        text = self.query(depth, kinds)
        if self._draw.chance(5):
            # A name of its own goes before the stream that has it.
            named = f"WITH {self._stream} AS ({{}}) SELECT * FROM {self._stream}"
            text = written(text.sort, named, text)
        return self._emitted(word, text, kinds)

    def periodic(self, depth: int) -> tuple[Text, Kinds]:
        """A relation-to-stream operator over windows that share a SLIDE."""
        kinds = self.some_kinds()
        rows = self._draw.chance(25) and not self.sources.style.timed
        slide = self._draw.count(1, 5)
        style = Style(rows_slide=True) if rows else replace(self.sources.style.below, slide=slide)
        with self.sources.using(style):
            text = self.query(0 if rows else depth, kinds)
        words = ["RSTREAM", "RSTREAM", "RSTREAM RESTORE ", "ISTREAM RESTORE ", "ISTREAM"]
        word = self._draw.pick(*words)
        if word == "RSTREAM" and self._draw.chance(60):
            text = written(text.sort, "{}{}", text, self.ordering(kinds))
        return self._emitted(word, text, kinds)

    def _emitted(self, word: str, text: Text, kinds: Kinds) -> tuple[Text, Kinds]:
        return written(f"stream {' '.join(kinds)}", f"{word}({{}})", text), kinds

    def ordering(self, kinds: Kinds) -> Text:
        """ORDER BY result columns, and LIMIT."""
        limit = self._limit()
        return optional("{}{}", self.order(kinds), limit if self._draw.chance(60) else NOTHING)

    def first(self, kinds: Kinds) -> Text:
        """LIMIT, mostly with ORDER BY."""
        order = self.order(kinds) if self._draw.chance(85) else NOTHING
        return written("first", "{}{}", order, self._limit())

    def _limit(self) -> Text:
        offset = optional(f" OFFSET {self._draw.count(1, 2)}") if self._draw.chance(30) else NOTHING
        return optional(f" LIMIT {self._draw.count(1, 4)}{{}}", offset)

    def order(self, kinds: Kinds) -> Text:
        """ORDER BY result columns."""
        keys = [
            written("key", f"c{i}{self._draw.pick('', ' DESC')}")
            if self._draw.chance(60)
            else written("key", f"c{i} {self._draw.pick('ASC NULLS LAST', 'DESC NULLS FIRST')}")
            for i in self._draw.some(range(len(kinds)), 2)
        ]
        return optional(" ORDER BY {}", listed("keys", ", ", keys))


def _places(columns: Columns, kind: str) -> list[int]:
    """The places of columns of a kind; the event time, which is seldom equal, only if it must."""
    found = [place for place, one in enumerate(columns.values()) if one == kind]
    return [place for place in found if place] or found
