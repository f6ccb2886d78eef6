"""Operators of plans that run for which the algebra has no name of their own.

The logical plan puts them together from others: keys for lanes, rules and meaning are found on
that. What stands here is what EXPLAIN shows and what is priced.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from penstock.algebra.operators import Join, OnArrival
from penstock.algebra.outer_joins import outer_join
from penstock.algebra.plan import Binary, Plan

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.types import Schema

NAMES = {(True, False): "LeftJoin", (False, True): "RightJoin", (True, True): "FullJoin"}


@dataclass(frozen=True)
class OuterJoin(Binary):
    """A join by equal keys and, beside NULLs, the rows without a partner of the padded sides."""

    condition: Expression
    padded: tuple[bool, bool]

    @cached_property
    def schema(self) -> Schema:
        """The columns of both."""
        return self.left.schema + self.right.schema

    @cached_property
    def pairs(self) -> Join:
        """The rows with a partner."""
        return Join(self.left, self.right, self.condition)

    @cached_property
    def meaning(self) -> Plan:
        """The join, and the rows without a partner."""
        return outer_join(self.left, self.right, self.condition, self.padded)

    def label(self) -> str:
        """The sides that are padded, and the condition."""
        return f"{NAMES[self.padded]} {self.condition}"


@dataclass(frozen=True)
class ArrivalRead(Plan):
    """Rows of a stream that read a relation when they arrive; `reading` says what for.

    Of the stream nothing is kept.
    """

    reading: Binary

    @property
    def children(self) -> tuple[Plan, ...]:
        """The stream and the relation."""
        return self.reading.children

    @cached_property
    def schema(self) -> Schema:
        """The columns of what is read."""
        return self.reading.schema

    @cached_property
    def meaning(self) -> Plan:
        """The operator that is applied row by row."""
        return OnArrival(self.reading)

    def rebuild(self, children: tuple[Plan, ...]) -> Plan:
        """The same over other inputs."""
        made = self.reading.rebuild(children)
        assert isinstance(made, Binary)
        return ArrivalRead(made)

    def label(self) -> str:
        """The use of what is read."""
        return f"OnArrival {self.reading.label()}"
