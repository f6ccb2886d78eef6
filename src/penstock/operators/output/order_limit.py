"""ORDER BY and LIMIT: rows of an instant in order, and of these the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.state.arrays import is_text, validity_of, values_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.failures import Failures
    from penstock.compute.evaluate import Evaluator
    from penstock.operators.block import Block
    from penstock.operators.declared_state.slot_table import SlotTable
    from penstock.operators.stateless import MapOperator
    from penstock.state.arrays import Ints


@dataclass(frozen=True)
class OrderKey:
    """An expression to order by."""

    expression: Evaluator
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class RowOrder:
    """Keys, how many rows to leave out and to keep, and what of the rows is shown."""

    keys: Sequence[OrderKey]
    limit: int | None
    offset: int
    maps: Sequence[MapOperator]
    failures: Failures

    def arranged(self, rows: SlotTable, slots: Ints, times: Ints) -> tuple[Ints, Ints]:
        """The rows of each instant in order, without those beyond the limit."""
        if not len(slots):
            return slots, times
        order = np.lexsort((self.ranks(rows, slots), times))
        slots, times = slots[order], times[order]
        starts = np.flatnonzero(np.diff(times, prepend=times[0] - 1))
        places = np.arange(len(times)) - np.repeat(starts, np.diff(starts, append=len(times)))
        kept = places >= self.offset
        if self.limit is not None:
            kept &= places < self.offset + self.limit
        return slots[kept], times[kept]

    def ranks(self, rows: SlotTable, slots: Ints) -> Ints:
        """Numbers that order the slots as ORDER BY does, ties by the whole row."""
        different, places = np.unique(slots, return_inverse=True)
        columns = rows.take(different)
        return ranks_of(self.keys, columns, len(different), self.failures)[places]

    def shown(self, block: Block) -> Block:
        """The rows as the query shows them."""
        for one in self.maps:
            block = one.made_of(block)
        return block


def ranks_of(
    keys: Sequence[OrderKey], columns: Sequence[pa.Array], length: int, failures: Failures
) -> Ints:
    """The places of rows in an order, ties by the whole row."""
    # The last key given to lexsort decides first.
    codes = [order_codes(column) for column in reversed(columns)]
    codes += [_key_codes(key, columns, length, failures) for key in reversed(keys)]
    order = np.lexsort(codes) if codes else np.arange(length)
    ranks = np.empty(length, np.int64)
    ranks[order] = np.arange(length)
    return ranks


def order_codes(column: pa.Array) -> Ints:
    """Numbers that order the values of a column: NULLs first, NaN last, equal ones alike."""
    if is_text(column.type) or pa.types.is_decimal(column.type):
        return _dictionary_codes(column.dictionary_encode())
    values = values_of(column)
    if values.dtype == np.float64:
        # np.unique orders doubles with all NaNs as one, behind infinity.
        values = values + 0.0
    _, codes = np.unique(values, return_inverse=True)
    valid = validity_of(column)
    return np.asarray(codes + 1 if valid is None else np.where(valid, codes + 1, 0), np.int64)


def _dictionary_codes(column: pa.DictionaryArray) -> Ints:
    """The places of values among the different ones in order, from 1; a NULL is 0."""
    places = np.empty(len(column.dictionary) + 1, np.int64)
    places[pc.sort_indices(column.dictionary).to_numpy()] = np.arange(1, len(places))
    places[-1] = 0
    return np.asarray(places[column.indices.fill_null(len(column.dictionary)).to_numpy()])


def _key_codes(key: OrderKey, columns: Sequence[pa.Array], length: int, failures: Failures) -> Ints:
    column = key.expression(columns, length, failures)
    codes = order_codes(column)
    if key.descending:
        codes = -codes
    valid = validity_of(column)
    if valid is None:
        return codes
    beyond = -(length + 2) if key.nulls_first else length + 2
    return np.where(valid, codes, beyond)
