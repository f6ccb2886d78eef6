"""Operators that look at the order of rows, and what that order is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from penstock.algebra.plan import Unary
from penstock.algebra.types import BIGINT, Field, Schema

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression


@dataclass(frozen=True, slots=True)
class OrderTerm:
    """An expression to order by."""

    expression: Expression
    descending: bool = False
    nulls_first: bool = True

    def __str__(self) -> str:
        """As SQL, saying where NULLs go only if it is not the usual place."""
        direction = " DESC" if self.descending else ""
        usual = self.nulls_first != self.descending
        nulls = "" if usual else f" NULLS {'FIRST' if self.nulls_first else 'LAST'}"
        return f"{self.expression}{direction}{nulls}"


@dataclass(frozen=True)
class Sort(Unary):
    """The rows in order, and of these the first `limit` after `offset`; ties by the whole row."""

    keys: tuple[OrderTerm, ...]
    limit: int | None = None
    offset: int = 0

    def __post_init__(self) -> None:
        """Check that the keys read columns of the input."""
        for key in self.keys:
            self._require(key.expression, self.child.schema)

    def label(self) -> str:
        """Keys and limit."""
        by = f" {', '.join(map(str, self.keys))}" if self.keys else ""
        limit = f" LIMIT {self.limit}" if self.limit is not None else ""
        return f"Sort{by}{limit}{f' OFFSET {self.offset}' if self.offset else ''}"


@dataclass(frozen=True)
class FirstRows(Unary):
    """Of each group the first `limit` rows in an order, after `offset`; ties by the whole row.

    Without `partition_by` there is one group. `number` is the column that tells the place of a
    row in its group, counted from 1; None: nobody asks.
    """

    keys: tuple[OrderTerm, ...]
    partition_by: tuple[Expression, ...] = ()
    limit: int | None = None
    offset: int = 0
    number: str | None = None

    def __post_init__(self) -> None:
        """Check that order and groups read columns of the input."""
        for one in (*self.partition_by, *(key.expression for key in self.keys)):
            self._require(one, self.child.schema)

    @cached_property
    def schema(self) -> Schema:
        """The input's columns, and the number."""
        number = () if self.number is None else (Field(self.number, BIGINT),)
        return self.child.schema + Schema(number)

    def label(self) -> str:
        """The number of rows, of what, and their order."""
        limit = "" if self.limit is None else f" {self.limit}"
        after = f" after {self.offset}" if self.offset else ""
        groups = ", ".join(map(str, self.partition_by))
        order = ", ".join(map(str, self.keys))
        of_each = f" of each {groups}" if groups else ""
        return f"First rows{limit}{after}{of_each}{f' by {order}' if order else ''}"
