"""Changes of relations on their way in: rows that enter and leave, dated or to be dated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import INFINITY
from penstock.errors import DataError
from penstock.operators.block import Block
from penstock.operators.saved_tables import one_array
from penstock.runtime.arriving_columns import read_columns
from penstock.runtime.intake import RejectedRows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.algebra.types import Schema
    from penstock.state.arrays import Flags, Ints, Signs


@dataclass(frozen=True)
class RelationChanges:
    """Changes of a relation that have been checked; those that are not `dated` get the clock."""

    name: str
    schema: Schema
    columns: tuple[pa.Array, ...]
    at: Ints
    dated: Flags
    sign: Signs

    def block(self, now: int) -> Block:
        """The changes at the instants they say; those that say none, now."""
        ts = np.where(self.dated, self.at, now)
        return Block(self.columns, ts, np.full(len(ts), INFINITY, np.int64), self.sign)

    def overdue(self, clock: int) -> list[RejectedRows]:
        """The changes that are dated before the clock, and so take effect later than they say."""
        chosen = np.flatnonzero(self.dated & (self.at < clock))
        if not len(chosen):
            return []
        rows = pa.table(
            [*self.columns, pa.array(self.at), pa.array(self.sign)],
            names=[*self.schema.names, "_at", "_sign"],
        )
        reasons = pa.array([f"overdue: takes effect at {clock}"] * len(chosen), pa.string())
        return [RejectedRows(self.name, "overdue", reasons, rows.take(pa.array(chosen)), chosen)]


def due_from(changes: Block, clock: int) -> Block:
    """The changes as they take effect for a query: none before its clock."""
    return replace(changes, ts=np.maximum(changes.ts, clock))


def told_by(changes: Mapping[str, Block]) -> dict[str, int]:
    """The instant that changes of relations tell of: more may come at that of the last."""
    return {name: int(block.ts.max()) for name, block in changes.items() if len(block)}


def read_changes(name: str, schema: Schema, table: pa.Table) -> RelationChanges:
    """The changes in a table: a relation's columns, `_sign` and, where they are dated, `_at`.

    `_sign` is +1 where a row enters and -1 where it leaves. A change without `_at`, or where that
    is NULL, is not dated.

    Raises:
        DataError: A column is missing, or cannot be read as declared.
    """
    source = f'relation "{name}"'
    columns = read_columns(source, schema, table)
    sign = _integers(source, table, "_sign")
    if sign is None or not np.isin(sign.fill_null(0).to_numpy(), (1, -1)).all():
        msg = f'{source}: a change needs a "_sign" of 1 or -1'
        raise DataError(msg, hint="1 where a row enters, -1 where it leaves.")
    at = _integers(source, table, "_at")
    if at is None:
        at = pa.nulls(len(table), pa.int64())
    dated = np.asarray(at.is_valid().to_numpy(zero_copy_only=False))
    instants = np.asarray(at.fill_null(0).to_numpy())
    if (instants == INFINITY).any():
        msg = f'{source}, column "_at": {INFINITY} lies outside of time'
        raise DataError(msg, hint=f"Instants lie before {INFINITY}.")
    return RelationChanges(name, schema, columns, instants, dated, sign.to_numpy().astype(np.int8))


def _integers(source: str, table: pa.Table, name: str) -> pa.Array | None:
    """A column of 64-bit integers; None if the table has no such column."""
    if name not in table.column_names:
        return None
    column = table.column(name)
    if not any(kind(column.type) for kind in (pa.types.is_integer, pa.types.is_null)):
        msg = f'{source}, column "{name}": integers are expected, but {column.type} came'
        raise DataError(msg)
    return one_array(column.cast(pa.int64()))
