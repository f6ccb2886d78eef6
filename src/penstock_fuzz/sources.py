"""Random FROM clauses: streams under windows, relations, derived streams, views, joins."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra.time import TimeUnit
from penstock.algebra.windows import Hopping
from penstock_fuzz.expressions import Columns, Expressions, exact, of_kind
from penstock_fuzz.kinds import CONSTANTS
from penstock_fuzz.text import NOTHING, Text, optional, written
from penstock_fuzz.windows import ANY, Style, random_window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock_fuzz.draw import Draw
    from penstock_fuzz.schemas import Clock, DeclaredTable

Kinds = list[str]
TABLE = "table"


@dataclass(frozen=True)
class View:
    """A view: its statement, the kinds of its columns c0, c1, ..., whether a window fits it."""

    name: str
    statement: Text
    kinds: Kinds
    is_stream: bool


class Sources:
    """Writes FROM clauses; `query` and `emitting` write the queries nested in them.

    Where all is `timeless`, relations stand in the places of streams.
    """

    def __init__(
        self,
        draw: Draw,
        tables: Sequence[DeclaredTable],
        clock: Clock,
        query: Callable[[int], tuple[Text, Kinds]],
        emitting: Callable[[int], tuple[Text, Kinds]],
        *,
        timeless: bool = False,
    ) -> None:
        self._draw = draw
        self._timeless = timeless
        self._streams = [table for table in tables if table.is_stream]
        self._relations = [table for table in tables if not table.is_stream and table.retroactive]
        self._nrrs = [table for table in tables if table.is_nrr]
        self._clock = clock
        self._query = query
        self._emitting = emitting
        self._numbers = itertools.count(1)
        self._values = Expressions(draw)
        self.style = ANY
        self.views: list[View] = []

    @contextmanager
    def using(self, style: Style) -> Iterator[None]:
        """Within, windows have a style: what makes another query periodic or INTERNAL ends here."""
        before, self.style = self.style, style
        yield
        self.style = before

    def from_clause(self, depth: int, *, most: int = 3) -> tuple[Text, Columns]:
        """One to `most` tables, joined."""
        if self._nrrs and self._draw.chance(15) and not (self.style.internal or self.style.hopping):
            return self._reading()
        if most > 2 and not self.style.rows_slide and self._draw.chance(12):
            return self.many(self._draw.pick(2, 2, 2, 3, 3, 4, 5))
        text, columns = self.table(depth)
        if self.style.rows_slide:
            return self._beside_relation(text, columns)
        extra = min(most - 1, self._draw.pick(0, 0, 0, 1, 1, 2))
        joins = []
        for _ in range(extra):
            join, more = self._joined(depth, columns)
            joins.append(join)
            columns = columns | more
        return _from(text, joins), columns

    def _beside_relation(self, text: Text, columns: Columns) -> tuple[Text, Columns]:
        """The one window of a query, alone or joined with a relation: the window stays the one."""
        if not self._relations or not self._draw.chance(40):
            return _from(text, []), columns
        table, more = self._declared(self._draw.pick(*self._relations), NOTHING)
        word = self._draw.pick("", "LEFT", "LEFT", "RIGHT", "FULL")
        join = optional(f" {word} JOIN {{}} ON {{}}", table, self._on(columns, more))
        return _from(text, [join]), columns | more

    def many(self, more_tables: int, *, reads: bool = False) -> tuple[Text, Columns]:
        """A window and so many others, mostly joined by equal columns.

        If it `reads`, and there is a non-retroactive relation, the first often reads that, too.
        """
        text, columns = self.stream()
        joins = []
        if reads and self._nrrs and self._draw.chance(50):
            table, more = self.relation()
            joins.append(optional(" JOIN {} ON {}", table, self._on(columns, more)))
            columns = columns | more
        for _ in range(more_tables):
            table, more = self._base()
            if self._draw.chance(10):
                joins.append(optional(", {}", table))
            else:
                joins.append(optional(" JOIN {} ON {}", table, self._on(columns, more)))
            columns = columns | more
        return _from(text, joins), columns

    def _joined(self, depth: int, left: Columns) -> tuple[Text, Columns]:
        kinds = ["comma", "CROSS", "INNER", "INNER", "INNER"]
        if not self.style.internal:
            kinds += ["LEFT", "LEFT", "RIGHT", "FULL"]
        word = self._draw.pick(*kinds)
        table, columns = self.table(depth - 1)
        if word in ("comma", "CROSS"):
            return optional(", {}" if word == "comma" else " CROSS JOIN {}", table), columns
        on = self._on(left, columns)
        return optional(f" {word} JOIN {{}} ON {{}}", table, on), columns

    def _on(self, left: Columns, right: Columns) -> Text:
        """Mostly an equality, which makes an equi-join; also with more, or something else."""
        equal = self.equality(left, right)
        if equal is None or self._draw.chance(15):
            return self._values.condition(left | right, 1)
        if self._draw.chance(75):
            return equal
        more = self._values.condition(left | right, 1)
        return written("condition", "{} AND {}", equal, more)

    def equality(self, left: Columns, right: Columns) -> Text | None:
        """A column of one side equal to one of the other, if their kinds allow it."""
        shared = [name for name, kind in exact(right).items() if kind in left.values()]
        # Rows of the same instant are few.
        shared = [name for name in shared if not _is_time(name) or self._draw.chance(25)]
        if not shared:
            return None
        name = self._draw.pick(*shared)
        other = self._draw.pick(*of_kind(left, right[name]))
        return written("condition", "{} = {}", other, name)

    def table(self, depth: int) -> tuple[Text, Columns]:
        """One table of a FROM clause, under an alias of its own."""
        if depth <= 0 or self.style.internal or self._draw.chance(50):
            return self._base()
        match self._draw.pick("subquery", "subquery", "derived", "derived", "monotonic", "view"):
            case "subquery":
                text, kinds = self._query(depth - 1)
                return self._aliased(written(TABLE, "({})", text), NOTHING, kinds)
            case "derived":
                with self.using(self.style.below):
                    text, kinds = self._emitting(depth - 1)
                return self._aliased(text, self._window(_names(kinds)), kinds)
            case "monotonic":
                return self._monotonic()
            case _:
                return self._view(depth)

    def stream(self) -> tuple[Text, Columns]:
        """A declared stream under a window."""
        if self._timeless:
            return self._declared(self._draw.pick(*self._relations), NOTHING)
        table = self._draw.pick(*self._streams)
        first = 0 if self._draw.chance(10) else 1
        window = self._window([column.name for column in table.columns[first:]])
        return self._declared(table, window)

    def one_stream(self) -> Callable[[], tuple[Text, Columns]]:
        """Gives one and the same stream again and again, under windows of its own each time."""
        if self._timeless:
            return self.stream
        table = self._draw.pick(*self._streams)
        names = [column.name for column in table.columns[1:]]
        return lambda: self._declared(table, self._window(names))

    def relation(self) -> tuple[Text, Columns]:
        """A declared non-retroactive relation, if there is one, else a stream."""
        return (
            self._declared(self._draw.pick(*self._nrrs), NOTHING) if self._nrrs else self.stream()
        )

    def _base(self) -> tuple[Text, Columns]:
        wanted = 5 if self.style.hopping else 20
        if self._relations and self._draw.chance(wanted) and not self.style.rows_slide:
            return self._declared(self._draw.pick(*self._relations), NOTHING)
        return self.stream()

    def _declared(self, table: DeclaredTable, window: Text) -> tuple[Text, Columns]:
        alias = self._alias()
        columns = {_column(alias, one.name, one.kind): one.kind for one in table.columns}
        columns |= self._ends(alias, window)
        return written(TABLE, f"{table.name}{{}} AS {alias}", window), columns

    def _ends(self, alias: str, window: Text) -> Columns:
        """The columns that a window [start, end) adds."""
        if not self.style.hopping or window is NOTHING:
            return {}
        kind = "TIMESTAMP" if self._clock.unit is TimeUnit.TIMESTAMP else "BIGINT"
        return {_column(alias, name, kind): kind for name in Hopping.added}

    def _aliased(self, text: Text, window: Text, kinds: Kinds) -> tuple[Text, Columns]:
        alias = self._alias()
        names = _names(kinds)
        columns = {
            _column(alias, name, kind): kind for name, kind in zip(names, kinds, strict=True)
        } | self._ends(alias, window)
        return written(TABLE, f"{{}}{{}} AS {alias}", text, window), columns

    def _reading(self) -> tuple[Text, Columns]:
        """A stream whose rows read non-retroactive relations as they arrive."""
        left, columns = self.stream()
        joins = []
        for _ in range(self._draw.pick(1, 1, 2)):
            right, more = self._declared(self._draw.pick(*self._nrrs), NOTHING)
            word = self._draw.pick("JOIN", "JOIN", "LEFT JOIN")
            joins.append(optional(f" {word} {{}} ON {{}}", right, self._on(columns, more)))
            columns = columns | more
        return _from(left, joins), columns

    def _monotonic(self) -> tuple[Text, Columns]:
        """A subquery whose rows never leave, so that it may have a window itself."""
        if self._timeless:
            return self.stream()
        table = self._draw.pick(*self._streams)
        alias = self._alias()
        columns = {_column(alias, one.name, one.kind): one.kind for one in table.columns}
        kinds = [self._draw.pick(*columns.values()) for _ in range(self._draw.count(1, 3))]
        items = [self._values.value(kind, columns, 1) for kind in kinds]
        listed = ", ".join(f"{{}} AS c{i}" for i in range(len(kinds)))
        where = optional(" WHERE {}", self._values.condition(columns, 1))
        window = self._draw.pick("", " [UNBOUNDED]", f" [SINCE {self._clock.instant(2)}]")
        text = written(
            TABLE, f"(SELECT {listed} FROM {table.name}{window} AS {alias}{{}})", *items, where
        )
        return self._aliased(text, self._window(_names(kinds)), kinds)

    def _view(self, depth: int) -> tuple[Text, Columns]:
        """A view, often one that the query reads already."""
        fitting = [view for view in self.views if not self.style.slide or view.is_stream]
        if not fitting or self._draw.chance(40):
            fitting = [self._new_view(depth)]
        view = self._draw.pick(*fitting)
        window = self._window(_names(view.kinds)) if view.is_stream else NOTHING
        return self._aliased(written(TABLE, view.name), window, view.kinds)

    def _new_view(self, depth: int) -> View:
        """Named after all its parts are written: a view reads only views before it."""
        is_stream = bool(self.style.slide) or self._draw.chance(50)
        output = NOTHING
        with self.using(self.style.below):
            if is_stream:
                text, kinds = self._emitting(depth - 1)
            else:
                text, kinds = self._query(depth - 1)
            if not is_stream and self._draw.chance(30):
                output = optional(" OUTPUT{}", self._window(_names(kinds)))
        name = f"v{len(self.views) + 1}"
        statement = written("view", f"CREATE VIEW {name} AS {{}}{{}};", text, output)
        self.views.append(View(name, statement, kinds, is_stream))
        return self.views[-1]

    def _window(self, columns: Sequence[str]) -> Text:
        return random_window(self._draw, self._clock, columns, self.style)

    def output_window(self, kinds: Kinds) -> Text:
        """The window of an OUTPUT."""
        return random_window(self._draw, self._clock, _names(kinds), ANY)

    def _alias(self) -> str:
        return f"x{next(self._numbers)}"


def _from(first: Text, joins: list[Text]) -> Text:
    """A FROM clause, in whose place one of the tables alone may stand."""
    tables = [first, *(part for join in joins for part in join.children if part.sort == TABLE)]
    alone = tuple(written("from", "{}", table) for table in tables if joins)
    return written("from", "{}" * (len(joins) + 1), first, *joins, instead=alone)


def _names(kinds: Kinds) -> list[str]:
    return [f"c{i}" for i in range(len(kinds))]


def _is_time(column: Text) -> bool:
    return str(column).endswith(".ts")


def _column(alias: str, name: str, kind: str) -> Text:
    constant = written(f"value {kind}", CONSTANTS[kind][0])
    return written(f"value {kind}", f"{alias}.{name}", instead=(constant,))
