"""Random values and conditions over columns of known kinds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from penstock_fuzz.functions import (
    AGGREGATES,
    COMPARISONS,
    CONDITIONS,
    CONNECTIVES,
    FUNCTIONS,
    OF_ANY_KIND,
)
from penstock_fuzz.kinds import CONSTANTS, FLOAT, TYPE_OF
from penstock_fuzz.text import Text, optional, written

if TYPE_CHECKING:
    from penstock_fuzz.draw import Draw

Columns = dict[Text, str]
"""What a value may be made of, and its kind: columns, keys of a GROUP BY, aggregates."""

_HOLE = re.compile(r"<([A-Z]+|\?)?>")
CONDITION = "condition"


def exact(columns: Columns) -> Columns:
    """The columns that may be compared."""
    return {column: kind for column, kind in columns.items() if kind != FLOAT}


def of_kind(columns: Columns, kind: str) -> list[Text]:
    """The columns of a kind."""
    return [column for column, one in columns.items() if one == kind]


class Expressions:
    """Writes expressions; `size` is how deep functions may be nested."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw

    def value(self, kind: str, columns: Columns, size: int) -> Text:
        """A value of a kind: a column, a constant, or a function of such."""
        known = of_kind(columns, kind)
        if known and (size <= 0 or self._draw.chance(70)):
            return self._draw.pick(*known)
        if size <= 0 or self._draw.chance(15):
            return self.constant(kind)
        any_kind = OF_ANY_KIND if kind != FLOAT else OF_ANY_KIND[:1]
        template = self._draw.pick(*_telling(FUNCTIONS[kind], columns), *any_kind)
        return self._filled(_value(kind), template, kind, columns, size - 1)

    def constant(self, kind: str) -> Text:
        """A literal, seldom NULL."""
        if kind in TYPE_OF and self._draw.chance(5):
            return written(_value(kind), f"CAST(NULL AS {TYPE_OF[kind]})")
        return written(_value(kind), self._draw.pick(*CONSTANTS[kind]))

    def condition(self, columns: Columns, size: int) -> Text:
        """TRUE, FALSE or NULL of one row."""
        comparable = exact(columns)
        if size > 0 and self._draw.chance(25):
            template = self._draw.pick(*CONNECTIVES)
            return self._filled(CONDITION, template, "INT", comparable, size - 1)
        if self._draw.chance(20) or not comparable:
            template = self._draw.pick(*_telling(CONDITIONS, comparable))
            return self._filled(CONDITION, template, "INT", comparable, size - 1)
        return self._comparison(comparable, size)

    def _comparison(self, columns: Columns, size: int) -> Text:
        """A column compared with constants, mostly: two random columns are seldom alike."""
        first = self._draw.pick(*columns)
        kind = columns[first]
        others = {column: one for column, one in columns.items() if column != first}
        parts = [first] if size <= 0 or self._draw.chance(70) else [self.value(kind, columns, 1)]
        template = self._draw.pick(*COMPARISONS)
        for _ in range(len(_HOLE.findall(template)) - 1):
            constant = self._draw.chance(60)
            parts.append(self.constant(kind) if constant else self.value(kind, others, size - 1))
        return written(CONDITION, _HOLE.sub("{}", template), *parts)

    def aggregate(self, kind: str, columns: Columns) -> Text:
        """An aggregate with a result of a kind."""
        template = self._draw.pick(*AGGREGATES[kind])
        template = template.replace("!", "DISTINCT " if self._draw.chance(20) else "")
        call = self._filled(_value(kind), template, kind, columns, 1)
        if not self._draw.chance(12):
            return call
        only = optional(" FILTER (WHERE {})", self.condition(columns, 0))
        return written(_value(kind), "{}{}", call, only, instead=(call,))

    def _filled(self, sort: str, template: str, kind: str, columns: Columns, size: int) -> Text:
        """A template with its holes filled in."""
        pieces = [self._hole(name or kind, columns, size) for name in _HOLE.findall(template)]
        constant = (written(sort, CONSTANTS[kind][0]),) if sort == _value(kind) else ()
        return written(sort, _HOLE.sub("{}", template), *pieces, instead=constant)

    def _hole(self, name: str, columns: Columns, size: int) -> Text:
        if name == "?":
            return self.condition(columns, size)
        return self.value(name, columns, size)


def _telling(templates: tuple[str, ...], columns: Columns) -> tuple[str, ...]:
    """The templates that can be made of columns, if any: constants alone tell little."""
    kinds = set(columns.values())
    found = [one for one in templates if kinds & set(_HOLE.findall(one))]
    return tuple(found) or templates


def _value(kind: str) -> str:
    return f"value {kind}"
