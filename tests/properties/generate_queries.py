"""Random queries that mean the same in CQL, at every instant, and in SQLite.

Left out is where the two differ: integer division, booleans as values, strings that look like
numbers, EXCEPT ALL, parentheses around the branches of a set operation.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from hypothesis import strategies as st

from properties.generate import COLUMNS, Source, Window, windows

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
Columns = dict[str, str]
"""Names, with their alias, and types; also aggregates, where a query is grouped."""


@dataclass(frozen=True)
class Query:
    """A query whose sources are numbered places in a text, and the types of its columns."""

    template: str
    types: tuple[str, ...]
    sources: tuple[Source, ...]

    @property
    def cql(self) -> str:
        return self.template.format(*(source.cql for source in self.sources))

    @property
    def sql(self) -> str:
        """Without windows: each source is a table of its own, source0, source1, ..."""
        return self.template.format(*(f"source{i}" for i in range(len(self.sources))))

    def with_windows(self, change: Callable[[Window], Window]) -> Query:
        """The same query over other windows."""
        changed = (replace(x, window=x.window and change(x.window)) for x in self.sources)
        return replace(self, sources=tuple(changed))


@st.composite
def queries(
    draw: st.DrawFn,
    *,
    over: st.SearchStrategy[Window] | None = None,
    relations: bool = True,
    depth: int = 2,
) -> Query:
    """Any query of the common subset over some windows, subqueries nested up to `depth`."""
    sources = st.builds(Source, st.sampled_from("st"), windows() if over is None else over)
    if relations:
        sources = st.one_of(sources, sources, sources, st.just(Source("r")))
    writer = Writer(draw, sources)
    text, types = writer.query(depth)
    return Query(text, tuple(types), tuple(writer.sources))


class Writer:
    """Writes one query. `depth` is how many queries may still be nested in what is written."""

    def __init__(self, draw: st.DrawFn, sources: st.SearchStrategy[Source]) -> None:
        self._draw = draw
        self._any_source = sources
        self._numbers = itertools.count(1)
        self.sources: list[Source] = []

    def pick(self, *choices: T) -> T:
        return self._draw(st.sampled_from(choices))

    def chance(self, percent: int) -> bool:
        return self._draw(st.integers(0, 99)) >= 100 - percent

    def count(self, least: int, most: int) -> int:
        return self._draw(st.integers(least, most))

    # Queries

    def query(self, depth: int, types: list[str] | None = None) -> tuple[str, list[str]]:
        """A SELECT, or SELECTs under set operations; of given types or any."""
        if types is None:
            types = [self.pick("INT", "INT", "STRING") for _ in range(self.count(1, 3))]
        text = self.select(depth, types)
        if depth and self.chance(25):
            text = f"{text} {self.set_operations(depth, types)}"
        return text, types

    def set_operations(self, depth: int, types: list[str]) -> str:
        """INTERSECT binds closer than the others in CQL, not in SQLite: never beside another."""
        if self.chance(25):
            return f"INTERSECT {self.select(depth - 1, types)}"
        words = [self.pick("UNION", "UNION ALL", "EXCEPT") for _ in range(self.count(1, 2))]
        return " ".join(f"{word} {self.select(depth - 1, types)}" for word in words)

    def select(self, depth: int, types: list[str]) -> str:
        source, columns = self.from_clause(depth)
        where = self.where(columns, depth) if self.chance(60) else ""
        distinct = "DISTINCT " if self.chance(15) else ""
        if self.chance(35):
            tail, columns, plain = self.grouped(columns, depth)
        else:
            tail, plain = "", columns
        items = [self.value(kind, columns, 2, depth, plain) for kind in types]
        if "COUNT(*)" in columns and not plain and types[0] == "INT" and not tail:
            # An aggregate in the select list is what makes a SELECT without keys grouped.
            items[0] = f"({items[0]} + COUNT(*))"
            tail = f" HAVING {self.condition(columns, 1)}" if self.chance(30) else ""
        listed = ", ".join(f"{item} AS c{i}" for i, item in enumerate(items))
        return f"SELECT {distinct}{listed} FROM {source}{where}{tail}"

    def grouped(self, columns: Columns, depth: int) -> tuple[str, Columns, Columns]:
        """GROUP BY and HAVING; what may stand above them, and of this what subqueries may use."""
        names = list(columns)
        keys: Columns = {}
        for _ in range(self.count(0, 2)):
            name = self.pick(*names)
            computed = columns[name] == "INT" and self.chance(30)
            keys[f"({name} % 2)" if computed else name] = columns[name]
        plain = {key: kind for key, kind in keys.items() if key in columns}
        above = keys | {"COUNT(*)": "INT"}
        for _ in range(self.count(1, 3)):
            above |= self.aggregate(columns)
        by = f" GROUP BY {', '.join(keys)}" if keys else ""
        having = f" HAVING {self.condition(above, 1)}" if keys and self.chance(40) else ""
        if having and depth and self.chance(40):
            having += f" AND {self.predicate(above, plain, depth - 1)}"
        return by + having, above, plain

    def aggregate(self, columns: Columns) -> Columns:
        kind = self.pick("INT", "INT", "STRING")
        value = self.value(kind, columns, 1)
        function = self.pick("MIN", "MAX", "COUNT", *(["SUM"] * 2 if kind == "INT" else []))
        distinct = "DISTINCT " if self.chance(25) else ""
        only = f" FILTER (WHERE {self.condition(columns, 1)})" if self.chance(15) else ""
        call = f"{function}({distinct}{value}){only}"
        return {call: kind if function in ("MIN", "MAX") else "INT"}

    # FROM

    def from_clause(self, depth: int) -> tuple[str, Columns]:
        text, columns = self.table(depth)
        for number in range(self.pick(0, 0, 1, 1, 2)):
            # SQLite 3.40 moves constant conditions of inner joins past a RIGHT or FULL JOIN.
            full = ("RIGHT", "FULL") if number == 0 else ()
            join = self.pick("comma", "CROSS", "INNER", "INNER", "LEFT", "LEFT", *full)
            table, more = self.table(depth - 1 if depth else 0)
            columns = columns | more
            if join in ("comma", "CROSS"):
                text = f"{text}{', ' if join == 'comma' else ' CROSS JOIN '}{table}"
            else:
                on = self.condition(columns, 1)
                if self.chance(60):
                    on = f"{self.same_type_pair(columns, more)} AND {on}"
                text = f"{text} {join} JOIN {table} ON {on}"
        return text, columns

    def same_type_pair(self, left: Columns, right: Columns) -> str:
        name = self.pick(*right)
        return f"{name} = {self.pick(*(one for one in left if left[one] == right[name]))}"

    def table(self, depth: int) -> tuple[str, Columns]:
        alias = f"x{next(self._numbers)}"
        if depth and self.chance(30):
            text, types = self.query(depth - 1)
            return f"({text}) AS {alias}", {f"{alias}.c{i}": x for i, x in enumerate(types)}
        source = self._draw(self._any_source)
        self.sources.append(source)
        columns = {f"{alias}.{name}": kind for name, kind in COLUMNS[source.name].items()}
        return f"{{{len(self.sources) - 1}}} AS {alias}", columns

    # Conditions

    def where(self, columns: Columns, depth: int) -> str:
        parts = [self.condition(columns, 2)] if self.chance(70) else []
        while depth and self.chance(45) and len(parts) < 3:
            parts.append(self.predicate(columns, columns, depth - 1))
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    def predicate(self, columns: Columns, plain: Columns, depth: int) -> str:
        """[NOT] EXISTS or [NOT] IN a subquery, which may compare with the `plain` columns."""
        if self.chance(20):
            comparison = f"{self.pick('=', '<', '>=', '<>')} {self.scalar(plain, depth)}"
            return f"{self.value('INT', columns, 1)} {comparison}"
        kind = self.pick("INT", "STRING")
        tested = self.value(kind, columns, 1)
        negated = self.pick("", "NOT ")
        if self.chance(25):
            return f"{tested} {negated}IN ({self.query(depth, [kind])[0]})"
        source, own = self.from_clause(depth)
        where = self.correlation(own, plain, depth)
        if self.chance(50):
            return f"{negated}EXISTS (SELECT {self.pick('*', '1 AS one')} FROM {source}{where})"
        wanted = self.value(kind, own, 1)
        return f"{tested} {negated}IN (SELECT {wanted} AS c0 FROM {source}{where})"

    def scalar(self, outer: Columns, depth: int) -> str:
        """The value of a global aggregate."""
        source, own = self.from_clause(depth)
        where = self.correlation(own, outer, depth)
        calls = {"COUNT(*)": "INT"} | self.aggregate(own) | self.aggregate(own)
        call = self.pick(*(one for one, kind in calls.items() if kind == "INT"))
        more = self.value("INT", calls, 1)
        value = self.pick(call, f"({call} - {more})", f"COALESCE({call}, {more})")
        return f"(SELECT {value} AS c0 FROM {source}{where})"

    def correlation(self, own: Columns, outer: Columns, depth: int) -> str:
        """WHERE of a subquery: conditions of its own, and on the query around it."""
        parts = [self.condition(own, 1)] if self.chance(40) else []
        if outer and self.chance(60):
            parts.append(self.condition(own | outer, 1))
        shared = [name for name in outer if outer[name] in own.values()]
        if shared and self.chance(60):
            name = self.pick(*shared)
            mine = self.pick(*(one for one in own if own[one] == outer[name]))
            parts.append(f"{mine} {self.pick('=', '=', '<>', '<')} {name}")
        if depth and self.chance(30):
            parts.append(self.predicate(own, own, depth - 1))
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    def condition(self, columns: Columns, size: int) -> str:
        """TRUE, FALSE or NULL of one row."""
        if size and self.chance(40):
            left, right = self.condition(columns, size - 1), self.condition(columns, size - 1)
            return self.pick(
                f"({left} AND {right})", f"({left} OR {right})", f"NOT ({left})",
                f"({left}) IS TRUE", f"({left}) IS NOT FALSE", f"({left} OR NOT {right})",
            )  # fmt: skip
        kind = self.pick("INT", "INT", "STRING")
        a, b, c = (self.value(kind, columns, 1 if size else 0) for _ in range(3))
        b = self.constant(kind) if self.chance(40) else b
        return self.pick(
            *(f"{a} {sign} {b}" for sign in ("=", "<>", "<", "<=", ">", ">=") * 2),
            f"{a} IS NULL", f"{a} IS NOT NULL", f"{a} BETWEEN {b} AND {c}", f"{a} IN ({b}, {c})",
            f"{a} NOT IN ({b}, {c})", f"{a} IS DISTINCT FROM {b}", f"{a} IS NOT DISTINCT FROM {b}",
            f"{a} IN ({b}, NULL)",
        )  # fmt: skip

    # Values

    def value(
        self, kind: str, columns: Columns, size: int, depth: int = 0, outer: Columns | None = None
    ) -> str:
        """An expression; with `depth` it may be a scalar subquery that knows `outer`."""
        if depth and kind == "INT" and self.chance(10):
            return self.scalar(outer or {}, depth - 1)
        known = [name for name, one in columns.items() if one == kind]
        if known and (not size or self.chance(60)):
            return self.pick(*known)
        if not size:
            return self.constant(kind)
        a, b = self.value(kind, columns, size - 1), self.value(kind, columns, size - 1)
        test = self.condition(columns, 0)
        either = (f"COALESCE({a}, {b})", f"NULLIF({a}, {b})", self.constant(kind),
                  f"CASE WHEN {test} THEN {a} ELSE {b} END",
                  f"CASE {a} WHEN {b} THEN {a} END")  # fmt: skip
        if kind == "STRING":
            return self.pick(f"({a} || {b})", f"UPPER({a})", *either)
        text = self.value("STRING", columns, size - 1)
        return self.pick(f"({a} + {b})", f"({a} - {b})", f"({a} * 2)", f"({a} % 3)", f"(- {a})",
                         f"ABS({a})", f"LENGTH({text})", *either)  # fmt: skip

    def constant(self, kind: str) -> str:
        if kind == "INT":
            return self.pick("1", "2", "0", "3", "-1", "1", "2", "CAST(NULL AS INT)")
        return self.pick("'a'", "'b'", "''", "'ab'", "'B'", "'a'", "CAST(NULL AS STRING)")
