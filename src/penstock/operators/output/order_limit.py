"""ORDER BY and LIMIT: rows of an instant in order, and of these the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.operators.set.counted import CopyChanges
from penstock.operators.set.set_counts import SetOperation
from penstock.state.arrays import is_text, validity_of, values_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.failures import Failures
    from penstock.compute.evaluate import Evaluator
    from penstock.operators.block import Block
    from penstock.operators.declared_state.slot_table import SlotTable
    from penstock.operators.operator import Inputs
    from penstock.operators.set.counted import CountedRows
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
        # The last key given to lexsort decides first.
        codes = [order_codes(column) for column in reversed(columns)]
        for key in reversed(self.keys):
            codes += [_key_codes(key, columns, len(different), self.failures)]
        order = np.lexsort(codes) if codes else np.arange(len(different))
        ranks = np.empty(len(different), np.int64)
        ranks[order] = np.arange(len(different))
        return ranks[places]

    def shown(self, block: Block) -> Block:
        """The rows as the query shows them."""
        for one in self.maps:
            block = one.made_of(block)
        return block


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


class FirstRows(SetOperation):
    """The first rows of each instant's result; a row may be pushed out by another."""

    def __init__(self, counted: CountedRows, ordering: RowOrder) -> None:
        super().__init__(counted)
        self.ordering = ordering
        self._shown = counted.rows.column(np.int64, None)

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Elements for rows that come within the limit, negative ones for those that leave."""
        before = self.counted.rows.live_slots()
        counts = dict(zip(before.tolist(), self.counted.counts[before, 2].tolist(), strict=True))
        changes = self.counts(inputs, clock)
        if not len(changes.slots):
            self.counted.release()
            return ()
        slots = np.unique(np.concatenate([before, changes.slots]))
        ranks = self.ordering.ranks(self.counted.rows, slots)
        ranked = slots[np.argsort(ranks)]
        made = self._elements(self._followed(changes, ranked, counts))
        self.counted.release()
        return made

    def _followed(self, changes: CopyChanges, ranked: Ints, counts: dict[int, int]) -> CopyChanges:
        """The changes of the rows within the limit, instant by instant."""
        found: list[tuple[int, int, int]] = []
        copies = np.array([counts.get(slot, 0) for slot in ranked.tolist()], np.int64)
        place_of = {slot: place for place, slot in enumerate(ranked.tolist())}
        shown = self._shown.values[ranked]
        # Not by differences: from what was always there, those are beyond 64 bits.
        starts = np.flatnonzero(np.append(True, changes.times[1:] != changes.times[:-1]))
        for start, stop in zip(starts, np.append(starts[1:], len(changes.times)), strict=True):
            places = [place_of[slot] for slot in changes.slots[start:stop].tolist()]
            np.add.at(copies, places, changes.deltas[start:stop])
            wanted = self._within(copies)
            for place in np.flatnonzero(wanted != shown).tolist():
                change = int(wanted[place] - shown[place])
                found.append((int(ranked[place]), int(changes.times[start]), change))
            shown = wanted
        self._shown.values[ranked] = shown
        columns = np.array(found, np.int64).reshape(-1, 3)
        return CopyChanges(*(np.ascontiguousarray(columns[:, one]) for one in range(3)))

    def _within(self, copies: Ints) -> Ints:
        """The number of copies of each row within the limit, rows in order."""
        after = np.cumsum(copies)
        low = self.ordering.offset
        high = after[-1] if self.ordering.limit is None else low + self.ordering.limit
        within = np.minimum(after, high) - np.maximum(after - copies, low)
        return np.asarray(np.maximum(within, 0))

    def restored(self) -> None:
        """Know again which rows lie within the limit."""
        slots = self.counted.rows.live_slots()
        if len(slots):
            ranked = slots[np.argsort(self.ordering.ranks(self.counted.rows, slots))]
            self._shown.values[ranked] = self._within(self.counted.counts[ranked, 2])
