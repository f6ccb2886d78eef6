"""The entry of rows into the graph: streams put in order, relations as the net of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import DataError
from penstock.operators.block import Block, rows_by_time
from penstock.operators.operator import Inputs, Operator
from penstock.operators.set.set_counts import SetOperation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.set.counted import CountedRows


class InOrder(Operator):
    """Rows of a stream by (ts, seq): the rows of a step come in the order of arrival."""

    meets = False

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """The rows of the step, by event time."""
        (block,) = map(rows_by_time, inputs)
        return () if block is None else [block]


class RelationRows(SetOperation):
    """A relation from its changes: rows enter and leave, netted at each instant."""

    def __init__(self, counted: CountedRows, name: str) -> None:
        super().__init__(counted)
        self._name = name

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Elements for rows that are there; a row that is not there cannot leave."""
        changes = self.counts(inputs, clock)
        short = self.counted.short()
        if len(short):
            row = tuple(column[0].as_py() for column in self.counted.rows.take(short[:1]))
            msg = f'relation "{self._name}" is told to remove a row it does not have: {row}'
            raise DataError(msg, hint="A change with sign - removes a row that was added before.")
        made = self._elements(changes)
        self.counted.release()
        return made


class Passing(Operator):
    """Rows of several inputs, as they are: UNION ALL, and a relation's changes."""

    meets = False

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Hand the rows on."""
        return [block for blocks in inputs for block in blocks]
