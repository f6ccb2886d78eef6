"""Scans: filters and maps above a stream, computed piece by piece, of the columns that are needed.

A question often looks for few rows among many. So a filter right above a stream is asked of the
columns that it reads, pieces that cannot have such a row are left out by what their columns hold,
and other columns are read of the rows that are left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.expressions import Column, columns_of
from penstock.algebra.failures import Failures
from penstock.algebra.types import Schema
from penstock.compute.evaluate import compile_expression, holds
from penstock.connection.questions.value_bounds import bounds_of
from penstock.operators.saved_tables import one_array
from penstock.store.sub_windows.column_ranges import INSTANT
from penstock.store.sub_windows.piece import instants_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan
    from penstock.compute.evaluate import Evaluator
    from penstock.state.arrays import Ints
    from penstock.store.sub_windows.piece import Piece

    Columns = tuple[pa.Array, ...]


@dataclass(frozen=True)
class PieceScan:
    """Filters and maps over a stream.

    Attributes:
        stream: The stream.
        steps: What is done with its rows, the first step first.
    """

    stream: st.Stream
    steps: tuple[op.Filter | op.Map | op.Alias, ...]

    @property
    def schema(self) -> Schema:
        """The columns that it gives."""
        return self.steps[-1].schema if self.steps else self.stream.schema

    @cached_property
    def _compiled(self) -> dict[int, tuple[Evaluator, tuple[str, ...]]]:
        """The expressions, by their identity: what computes them, and of which columns."""
        found = {}
        for one in self.steps:
            schema = one.child.schema
            for expression in _expressions(one):
                fields = tuple(f for f in schema if f.name in columns_of(expression))
                found[id(expression)] = (
                    compile_expression(expression, Schema(fields)),
                    tuple(f.name for f in fields),
                )
        return found

    def chosen(self, pieces: Iterable[Piece], start: int, end: int) -> list[Piece]:
        """The pieces that may have rows from an instant to another, both included."""
        bounds = bounds_of(self.steps)
        return [
            one
            for one in pieces
            if start <= end
            and one.first <= end
            and one.last >= start
            and all(
                name not in one.ranges or one.ranges[name].meets(*both)
                for name, both in bounds.items()
            )
        ]

    def compile(self) -> None:
        """Make what computes the expressions, before several threads need it."""
        self._compiled  # noqa: B018

    def rows_of(self, piece: Piece, start: int, end: int) -> Columns | None:
        """The rows of a piece from an instant to another, both included; None if no row is left.

        Raises:
            DataError: The file is missing or damaged.
        """
        rows = _Rows(piece, start, end)
        for one in self.steps:
            if isinstance(one, op.Filter):
                evaluate, names = self._compiled[id(one.predicate)]
                mask = holds(evaluate, rows.columns(names), rows.length, Failures())
                rows.keep(mask)
                if not rows.length:
                    return None
            else:
                rows.become(
                    {name: self._named(rows, expression) for name, expression in _outputs(one)}
                )
        return tuple(rows.columns(self.schema.names))

    def __getstate__(self) -> dict[str, Any]:
        """The fields: what is compiled stays in its process."""
        return {"stream": self.stream, "steps": self.steps}

    def _named(self, rows: _Rows, expression: Expression) -> str | pa.Array:
        """A column by its name below, which need not be read yet, or computed."""
        if isinstance(expression, Column):
            return rows.source(expression.name)
        evaluate, names = self._compiled[id(expression)]
        return evaluate(rows.columns(names), rows.length, Failures())


class _Rows:
    """Rows of a piece on their way: columns are read when they are needed."""

    def __init__(self, piece: Piece, start: int, end: int) -> None:
        self._piece = piece
        self._known: dict[str, str | pa.Array] | None = None
        self._read: dict[str, pa.Array] = {}
        self._chosen: Ints | None = None
        self._first, self.length = 0, piece.rows
        if piece.first < start or piece.last > end:
            ts = instants_of(_whole(piece.table([])[INSTANT]))
            self._first = int(np.searchsorted(ts, start, "left"))
            self.length = int(np.searchsorted(ts, end, "right")) - self._first

    def source(self, name: str) -> str | pa.Array:
        """A column: its name in the piece, or its values."""
        return name if self._known is None else self._known[name]

    def columns(self, names: Sequence[str]) -> list[pa.Array]:
        """The values of some columns, of the rows that are left."""
        return [self._values(self.source(name)) for name in names]

    def _values(self, column: str | pa.Array) -> pa.Array:
        if not isinstance(column, str):
            return column
        if column not in self._read:
            whole = _whole(self._piece.table([column])[column])
            whole = whole.slice(self._first, self._stop - self._first)
            self._read[column] = (
                whole if self._chosen is None else whole.take(pa.array(self._chosen))
            )
        return self._read[column]

    @cached_property
    def _stop(self) -> int:
        """The place behind the last row within the stretch, before any row was left out."""
        return self._first + self.length

    def keep(self, mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        """Leave out the rows for which a filter does not hold."""
        _ = self._stop
        if mask.all():
            return
        places = np.flatnonzero(mask)
        taken = pa.array(places)
        self._read = {name: one.take(taken) for name, one in self._read.items()}
        if self._known is not None:
            self._known = {
                name: one if isinstance(one, str) else one.take(taken)
                for name, one in self._known.items()
            }
        self._chosen = places if self._chosen is None else self._chosen[places]
        self.length = len(places)

    def become(self, columns: dict[str, str | pa.Array]) -> None:
        """Go on with other columns."""
        _ = self._stop
        self._known = columns


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array, not copied where it is one already."""
    return column.chunk(0) if column.num_chunks == 1 else one_array(column)


def with_scans(plan: Plan, scans: dict[str, PieceScan]) -> Plan:
    """The plan over streams of what its scans give, by their names; the scans are noted."""
    scan = _scan(plan)
    if scan is None:
        return plan.rebuild(tuple(with_scans(one, scans) for one in plan.children))
    known = [name for name, one in scans.items() if one == scan]
    name = known[0] if known else f"{scan.stream.name} scan {len(scans) + 1}"
    scans[name] = scan
    return st.Stream(name, scan.schema, scan.stream.time_column, scan.stream.time_unit)


def _scan(plan: Plan) -> PieceScan | None:
    """Filters and maps over a stream, if that is all there is."""
    steps: list[op.Filter | op.Map | op.Alias] = []
    while isinstance(plan, op.Filter | op.Map | op.Alias):
        steps.append(plan)
        plan = plan.child
    return PieceScan(plan, tuple(reversed(steps))) if isinstance(plan, st.Stream) else None


def _expressions(step: op.Filter | op.Map | op.Alias) -> list[Expression]:
    if isinstance(step, op.Filter):
        return [step.predicate]
    return [one for _, one in _outputs(step)]


def _outputs(step: op.Filter | op.Map | op.Alias) -> list[tuple[str, Expression]]:
    """The columns that a map or a renaming gives."""
    if isinstance(step, op.Map):
        return [(one.name, one.expression) for one in step.columns]
    pairs = zip(step.schema, step.children[0].schema, strict=True)
    return [(new.name, Column(old.name, old.type)) for new, old in pairs]
