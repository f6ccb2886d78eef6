"""DISTINCT: an aggregate that is told only of the first and the last of equal values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.aggregate.accumulators.accumulator import (
    BOOL,
    INT64,
    Accumulator,
    CodeUse,
    Segments,
    Values,
)
from penstock.operators.aggregate.accumulators.codes import codes_for
from penstock.operators.aggregate.accumulators.counting import known_of
from penstock.operators.aggregate.accumulators.distinct_values_loops import count
from penstock.operators.aggregate.accumulators.events import owned
from penstock.state.fingerprints import fingerprints
from penstock.state.keys import KeyIndex
from penstock.state.row_store import grown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.expressions import AggregateCall
    from penstock.operators.aggregate.accumulators.events import Bools, GroupEvents, Int64s, Payload
    from penstock.state.arrays import Values as Numbers
    from penstock.state.arrays import Words
    from penstock.state.moving import Moved

WIDE = 2**30
"""A count from which on 32 bits might not do."""


POOLED = np.dtype(np.int32)
"""Of numbers in a pool: two billion texts would take more memory than a lane has."""


class DistinctAccumulator(Accumulator):
    """Counts equal values in each group and passes their comings and goings on to `inner`."""

    def __init__(self, call: AggregateCall, inner: Accumulator) -> None:
        super().__init__(call)
        self.inner = inner
        self.codes = [codes_for(arg.type) for arg in call.args]
        self.payload_types = (*(POOLED if one.is_pooled else INT64 for one in self.codes), BOOL)
        self.index = KeyIndex()
        # By slot of the index: how often the values occur, in 32 bits until some do not fit.
        self.counts: Numbers = np.zeros(0, np.int32)
        # The group and the code of a single value are the key itself; those of more are here.
        self.keys = np.zeros((0, 1 + len(self.codes)), np.int64)

    def prepare(self, args: Sequence[pa.Array], length: int) -> Payload:
        """The codes of the values, and whether all of them are known."""
        known = known_of(args, length)
        triples = zip(self.codes, args, self.payload_types, strict=False)
        encoded = ((codes.encode(arg, known), kind) for codes, arg, kind in triples)
        return (*(one.astype(kind, copy=False) for one, kind in encoded), known)

    def sweep(self, events: GroupEvents, payload: Payload) -> Values:
        """The inner aggregate's values."""
        *columns, known = payload = _widened(payload)
        weights = events.weights(known)
        rows = np.flatnonzero(weights)
        slots = self._enter(np.stack([one[rows] for one in (events.groups, *columns)], axis=1))
        signs = np.zeros(len(events), np.int8)
        gone, most = count(slots, rows, weights, self.counts, signs)
        if most > WIDE:
            self.counts = self.counts.astype(np.int64)
        prepared = self.inner.prepare(self._values(payload), len(events))
        values = self.inner.sweep(replace(events, signs=signs), prepared)
        self._release(payload, weights < 0)
        self.index.remove(gone)
        return values

    def _enter(self, keys: Int64s) -> Int64s:
        """The slots of keys; of each the group and the codes."""
        slots, new = self.index.find_or_add(_words(keys))
        self.counts = grown(self.counts, self.index.capacity)
        if len(self.codes) > 1:
            self.keys = grown(self.keys, self.index.capacity)
            self.keys[slots[new]] = keys[new]
        return slots

    def _kept(self) -> tuple[Int64s, Int64s]:
        """The slots in use, and their keys."""
        slots = self.index.live_slots()
        single = len(self.codes) == 1
        return slots, self.index.keys[slots].view(np.int64) if single else self.keys[slots]

    def _start(self, keys: Int64s, counts: Numbers) -> None:
        """Have these keys and counts, and no others."""
        self.index = KeyIndex(len(keys))
        self.counts, self.keys = counts[:0], self.keys[:0]
        slots = self._enter(keys)
        self.counts[slots] = counts

    def _values(self, payload: Payload) -> list[pa.Array]:
        """The arguments again, unless `inner` counts whatever it is told of."""
        if not self.inner.payload_types:
            return []
        pairs = zip(self.codes, payload[:-1], strict=True)
        return [codes.decode(column, payload[-1]) for codes, column in pairs]

    def _release(self, payload: Payload, chosen: Bools) -> None:
        for codes, column in zip(self.codes, payload[:-1], strict=True):
            codes.release(column[chosen])

    def drop(self, payload: Payload) -> None:
        """Let go of the values."""
        self._release(_widened(payload), payload[-1])

    def clear(self, groups: Int64s) -> None:
        """Counters of a group without rows are gone already."""
        self.inner.clear(groups)

    def move(self, moved: Moved) -> None:
        """Count for the groups under their other slots."""
        slots, keys = self._kept()
        keys[:, 0] = moved.numbers[keys[:, 0]]
        self._start(keys, self.counts[slots])
        self.inner.move(moved)

    def shrink(self) -> Mapping[int, Int64s]:
        """Give back the room of counters and of values."""
        found = enumerate(codes.compact() for codes in self.codes)
        new_codes = {number: codes for number, codes in found if codes is not None}
        if new_codes or self.index.is_spacious:
            slots, keys = self._kept()
            for number, codes in new_codes.items():
                keys[:, 1 + number] = codes[keys[:, 1 + number]]
            self._start(keys, self.counts[slots])
        self.inner.shrink()
        return new_codes

    def segments(self) -> Segments:
        """The counters, what codes stand for, and the state of the inner aggregate."""
        slots, rows = self._kept()
        keys = {name: rows[:, i] for i, name in enumerate(self._names)}
        counts = self.counts[slots].astype(np.int64)
        segments = {"distinct": pa.table({**keys, "count": counts})}
        for i, codes in enumerate(self.codes):
            segments |= {f"{name}{i}": table for name, table in codes.segments().items()}
        return segments | {f"inner.{name}": one for name, one in self.inner.segments().items()}

    @property
    def _names(self) -> list[str]:
        """As which the group and the codes of values are saved."""
        return ["group", *(f"key{number + 1}" for number in range(len(self.codes)))]

    def coded(self) -> list[CodeUse]:
        """In the counters; `inner` counts or adds up, and needs no pool."""
        return [
            CodeUse(f"pool{i}", "distinct", f"key{i + 1}", "count", payload=i)
            for i, codes in enumerate(self.codes)
            if codes.is_pooled
        ]

    def restore(self, segments: Segments) -> None:
        """Take all of it back."""
        table = segments["distinct"]
        keys = [table[name].to_numpy() for name in self._names]
        counts = owned(table["count"].to_numpy())
        is_wide = counts.max(initial=0) > WIDE
        self._start(np.stack(keys, axis=1), counts if is_wide else counts.astype(np.int32))
        for i, codes in enumerate(self.codes):
            codes.restore({name.removesuffix(str(i)): one for name, one in segments.items()})
        inner = {name: one for name, one in segments.items() if name.startswith("inner.")}
        self.inner.restore({name.removeprefix("inner."): one for name, one in inner.items()})

    @property
    def state_rows(self) -> int:
        """The number of counters."""
        return len(self.index)

    @property
    def state_bytes(self) -> int:
        """Memory of the counters, their values and the inner aggregate."""
        counters = self.index.nbytes + self.counts.nbytes + self.keys.nbytes
        return counters + sum(one.state_bytes for one in self.codes) + self.inner.state_bytes


def _widened(payload: Payload) -> Payload:
    """The codes in 64 bits, though they wait in fewer."""
    *columns, known = payload
    return (*(one.astype(np.int64, copy=False) for one in columns), known)


def _words(keys: Int64s) -> Words:
    """By what keys are told apart: two numbers by themselves, more by a fingerprint."""
    if keys.shape[1] == 2:
        return keys.view(np.uint64)
    columns = [pa.array(np.ascontiguousarray(keys[:, i])) for i in range(keys.shape[1])]
    return fingerprints(columns, len(keys))
