"""Lines for people, in columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.results.answer_kind import unit_of
from penstock.results.cells import cells, longest
from penstock.results.result_tables import instants, signs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.plan import Plan
    from penstock.algebra.types import Type
    from penstock.operators.block import Block


def text_of(lines: pa.Array) -> str:
    """Lines as one text."""
    whole = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
    return str(pc.binary_join(whole, "\n")[0].as_py())


def values_text(columns: Sequence[pa.Array]) -> pa.Array:
    """The values of each row, as they are."""
    return _joined([cells(column) for column in columns], " | ")


def instants_text(at: pa.Array) -> pa.Array:
    """Instants behind an `@`; NULL is before all input."""
    return _joined(["@", _named(at, "start")], "")


def intervals_text(start: pa.Array, end: pa.Array) -> pa.Array:
    """Half-open intervals; a NULL is before all input, or never."""
    return _joined(["[", _named(start, "start"), ", ", _named(end, "inf"), ")"], "")


def _named(moments: pa.Array, nothing: str) -> pa.Array:
    return pc.if_else(pc.is_null(moments), nothing, cells(moments))


def _joined(parts: Sequence[pa.Array | str], separator: str) -> pa.Array:
    return pc.binary_join_element_wise(*parts, separator)


class Columns:
    """Rows in columns: numbers to the right of their column, everything else to the left.

    Columns are as wide as the widest cell so far.

    Args:
        types: The types of the columns.
    """

    def __init__(self, types: Sequence[Type]) -> None:
        self._is_right = [one.is_numeric for one in types]
        self._widths = [0] * len(types)
        self._margin = 0

    def lines(
        self, labels: pa.Array, signs: pa.Array | None, values: Sequence[pa.Array]
    ) -> pa.Array:
        """A line for each row: what stands before it, its sign, its cells.

        Args:
            labels: Texts before the rows, empty where a row goes with the one above.
            signs: The sign of each row, if they have one.
            values: The cells, column by column.
        """
        self._margin = max(self._margin, longest(labels) + 2)
        self._widths = list(map(max, self._widths, map(longest, values)))
        aligned = [
            (pc.utf8_lpad if is_right else pc.utf8_rpad)(column, width)
            for column, width, is_right in zip(values, self._widths, self._is_right, strict=True)
        ]
        rows = _joined(aligned, " | ")
        rows = rows if signs is None else _joined([signs, rows], " ")
        return _joined([pc.utf8_rpad(labels, self._margin), pc.utf8_rtrim(rows, " ")], "")


class Layout(Protocol):
    """The form in which rows of results are shown."""

    def lines(self, block: Block) -> pa.Array:
        """A line for each row of a block, which follows the blocks before."""

    def begin(self) -> None:
        """The lines before are out of sight: what they said is said again."""


class TimedRows:
    """Rows in columns, each instant before its first row.

    Args:
        plan: The query.
        signed: Whether rows enter and leave.
    """

    def __init__(self, plan: Plan, *, signed: bool) -> None:
        self._columns = Columns(plan.schema.types)
        self._unit = unit_of(plan)
        self._signed = signed
        self._last: int | None = None

    def lines(self, block: Block) -> pa.Array:
        """The lines of rows that begin at their `ts`."""
        is_first = np.ones(len(block), np.bool_)
        is_first[1:] = block.ts[1:] != block.ts[:-1]
        is_first[0] = self._last != int(block.ts[0])
        self._last = int(block.ts[-1])
        labels = instants_text(instants(block.ts, self._unit))
        labels = pc.if_else(pa.array(is_first), labels, "")
        marks = signs(block.signs) if self._signed else None
        return self._columns.lines(labels, marks, [cells(one) for one in block.columns])

    def begin(self) -> None:
        """Say the instant of the next row, also if it is that of the last."""
        self._last = None


class RowsWithIntervals:
    """Rows behind the intervals in which they hold.

    Args:
        plan: The query.
    """

    def __init__(self, plan: Plan) -> None:
        self._unit = unit_of(plan)
        self._width = 0

    def lines(self, block: Block) -> pa.Array:
        """The lines of rows that hold from `ts` to before `te`."""
        starts, ends = instants(block.ts, self._unit), instants(block.te, self._unit)
        text = intervals_text(starts, ends)
        self._width = max(self._width, longest(text))
        return _joined([pc.utf8_rpad(text, self._width), values_text(block.columns)], "  ")

    def begin(self) -> None:
        """Nothing: every row has its interval."""
