"""Counters of equal values in each group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.aggregate.accumulators.events import owned
from penstock.operators.aggregate.accumulators.value_counters_loops import count
from penstock.state.fingerprints import fingerprints
from penstock.state.keys import KeyIndex
from penstock.state.row_store import grown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.operators.aggregate.accumulators.events import Int8s, Int64s
    from penstock.state.arrays import Values, Words
    from penstock.state.moving import Moved

WIDE = 2**30
"""A count from which on 32 bits might not do."""


class ValueCounters:
    """The number of times that values occur in a group; a key is the group and their codes.

    Args:
        width: The number of values.
    """

    def __init__(self, width: int) -> None:
        self._names = ["group", *(f"key{number + 1}" for number in range(width))]
        self._index = KeyIndex()
        # By slot of the index: how often the values occur, in 32 bits until some do not fit.
        self._counts: Values = np.zeros(0, np.int32)
        # The group and the code of a single value are the key itself; those of more are here.
        self._is_single = width == 1
        self._keys = np.zeros((0, 1 + width), np.int64)

    def count(self, keys: Int64s, rows: Int64s, weights: Int8s, signs: Int8s) -> Int64s:
        """Count the keys of rows.

        Of rows with the first or the last of equal values `signs` is set. Returns the slots of
        keys that do not occur any more.
        """
        gone, most = count(self._enter(keys), rows, weights, self._counts, signs)
        if most > WIDE:
            self._counts = self._counts.astype(np.int64)
        return gone

    def forget(self, slots: Int64s) -> None:
        """Forget keys that do not occur any more."""
        self._index.remove(slots)

    def _enter(self, keys: Int64s) -> Int64s:
        """The slots of keys."""
        slots, new = self._index.find_or_add(_words(keys))
        self._counts = grown(self._counts, self._index.capacity)
        if not self._is_single:
            self._keys = grown(self._keys, self._index.capacity)
            self._keys[slots[new]] = keys[new]
        return slots

    def _listed(self) -> tuple[Int64s, Int64s]:
        """The slots in use, and their keys."""
        slots = self._index.live_slots()
        single = self._is_single
        return slots, self._index.keys[slots].view(np.int64) if single else self._keys[slots]

    def _put(self, keys: Int64s, counts: Values) -> None:
        """Have these keys and counts, and no others."""
        self._index = KeyIndex(len(keys))
        self._counts, self._keys = counts[:0], self._keys[:0]
        slots = self._enter(keys)
        self._counts[slots] = counts

    def move(self, moved: Moved) -> None:
        """Count for the groups under their other slots."""
        slots, keys = self._listed()
        keys[:, 0] = moved.numbers[keys[:, 0]]
        self._put(keys, self._counts[slots])

    def shrink(self, new_codes: Mapping[int, Int64s]) -> None:
        """Give back room that has been empty for a while; have the new codes of values."""
        if not new_codes and not self._index.is_spacious:
            return
        slots, keys = self._listed()
        for number, codes in new_codes.items():
            keys[:, 1 + number] = codes[keys[:, 1 + number]]
        self._put(keys, self._counts[slots])

    def table(self) -> pa.Table:
        """All counters."""
        slots, keys = self._listed()
        columns = {name: keys[:, i] for i, name in enumerate(self._names)}
        return pa.table({**columns, "count": self._counts[slots].astype(np.int64)})

    def restore(self, table: pa.Table) -> None:
        """Take back a table."""
        keys = [table[name].to_numpy() for name in self._names]
        counts = owned(table["count"].to_numpy())
        is_wide = counts.max(initial=0) > WIDE
        self._put(np.stack(keys, axis=1), counts if is_wide else counts.astype(np.int32))

    @property
    def in_use(self) -> int:
        """The number of counters."""
        return len(self._index)

    @property
    def nbytes(self) -> int:
        """Memory allocated."""
        return self._index.nbytes + self._counts.nbytes + self._keys.nbytes


def _words(keys: Int64s) -> Words:
    """By what keys are told apart: two numbers by themselves, more by a fingerprint."""
    if keys.shape[1] == 2:
        return keys.view(np.uint64)
    columns = [pa.array(np.ascontiguousarray(keys[:, i])) for i in range(keys.shape[1])]
    return fingerprints(columns, len(keys))
