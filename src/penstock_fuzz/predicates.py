"""Random WHERE conditions with subqueries: EXISTS, IN, ANY, ALL, and values of aggregates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock_fuzz.expressions import Columns, Expressions, exact
from penstock_fuzz.text import NOTHING, Text, listed, optional, written

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_fuzz.draw import Draw
    from penstock_fuzz.sources import Kinds, Sources

_PREDICATE = "predicate"
_ONE = "1 AS one"


class Predicates:
    """Writes conditions of WHERE; a subquery may compare with the columns around it."""

    def __init__(self, draw: Draw, sources: Sources, query: Callable[[int, Kinds], Text]) -> None:
        self._draw = draw
        self._sources = sources
        self._query = query
        self._values = Expressions(draw)

    def where(self, columns: Columns, depth: int, *, negated: bool) -> Text:
        """A WHERE clause; without `negated` nothing in it withdraws results."""
        parts = [self._values.condition(columns, 2)] if self._draw.chance(50) else []
        alone = self._sources.style.rows_slide
        while depth > 0 and not alone and self._draw.chance(55) and len(parts) < 2:
            parts.append(self.predicate(columns, depth - 1, negated=negated))
        return optional(" WHERE {}", listed("conditions", " AND ", parts)) if parts else NOTHING

    def predicate(self, columns: Columns, depth: int, *, negated: bool) -> Text:
        """A condition on a subquery."""
        if self._draw.chance(20):
            return self._comparison(columns, depth)
        word = self._draw.pick("", "", "NOT ") if negated else ""
        if self._draw.chance(45):
            source, own = self._source(depth)
            where = self._correlation(own, columns)
            text = f"{word}EXISTS (SELECT {_ONE} FROM {{}}{{}})"
            return written(_PREDICATE, text, source, where)
        return self._membership(columns, depth, word)

    def missing(self, columns: Columns) -> Text:
        """NOT EXISTS of a row of a stream that has a column of the row around it."""
        source, own = self._sources.stream()
        equal = self._sources.equality(columns, own) or self._values.condition(own, 0)
        return written(
            _PREDICATE, f"NOT EXISTS (SELECT {_ONE} FROM {{}} WHERE {{}})", source, equal
        )

    def _membership(self, columns: Columns, depth: int, word: str) -> Text:
        """[NOT] IN, = ANY, <> ALL and their like."""
        kind = self._draw.pick("INT", *exact(columns).values())
        tested = self._values.value(kind, columns, 1)
        if self._draw.chance(25):
            return written(_PREDICATE, f"{{}} {word}IN ({{}})", tested, self._query(depth, [kind]))
        source, own = self._source(depth)
        wanted = self._values.value(kind, own, 1)
        where = self._correlation(own, columns)
        test = f"{word}IN"
        if self._draw.chance(20):
            comparison = self._draw.pick("=", "<>", "<", ">=")
            test = f"{comparison} {'ALL' if word else 'ANY'}"
        text = f"{{}} {test} (SELECT {{}} AS c0 FROM {{}}{{}})"
        return written(_PREDICATE, text, tested, wanted, source, where)

    def _comparison(self, columns: Columns, depth: int) -> Text:
        sign = self._draw.pick("=", "<", ">=", "<>")
        value = self._values.value("INT", columns, 1)
        return written(_PREDICATE, f"{{}} {sign} {{}}", value, self.scalar(columns, depth))

    def scalar(self, outer: Columns, depth: int) -> Text:
        """The value of a global aggregate, with the rows that fit the row around it, or of all."""
        source, own = self._source(depth)
        where = self._correlation(own, outer) if self._draw.chance(70) else NOTHING
        call = self._values.aggregate("BIGINT", own)
        if self._draw.chance(25):
            call = written(call.sort, "COALESCE({}, {})", call, self._values.constant("BIGINT"))
        return written("value BIGINT", "(SELECT {} AS c0 FROM {}{})", call, source, where)

    def _source(self, depth: int) -> tuple[Text, Columns]:
        if self._draw.chance(15):
            return self._sources.relation()
        return self._sources.from_clause(depth, most=2)

    def _correlation(self, own: Columns, outer: Columns) -> Text:
        """WHERE of a subquery: mostly an equality with a column around it, which tells the key."""
        parts = [self._values.condition(own, 1)] if self._draw.chance(30) else []
        equal = self._sources.equality(outer, own) if outer else None
        if equal is not None and self._draw.chance(70):
            parts.append(equal)
        if outer and self._draw.chance(25):
            parts.append(self._values.condition(own | exact(outer), 0))
        return optional(" WHERE {}", listed("conditions", " AND ", parts)) if parts else NOTHING
