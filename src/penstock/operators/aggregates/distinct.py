"""DISTINCT: an aggregate that is told only of the first and the last of equal values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.aggregates import distinct_loops as loops
from penstock.operators.aggregates.accumulator import BOOL, INT64, Accumulator, Segments, Values
from penstock.operators.aggregates.codes import codes_for
from penstock.operators.aggregates.counting import known_of
from penstock.operators.aggregates.events import owned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import AggregateCall
    from penstock.operators.aggregates.events import Bools, Events, Int64s, Payload

FIRST = 64


class Distinct(Accumulator):
    """Counts equal values in each group and passes their comings and goings on to `inner`."""

    def __init__(self, call: AggregateCall, inner: Accumulator) -> None:
        super().__init__(call)
        self.inner = inner
        self.codes = [codes_for(arg.type) for arg in call.args]
        self.payload_types = (*(INT64 for _ in self.codes), BOOL)
        self._allot(FIRST)

    def _allot(self, rows: int) -> None:
        self.keys = np.zeros((rows, len(self.codes) + 1), np.int64)
        self.counts = np.zeros(rows, np.int64)
        self.meta = np.zeros(1, np.int64)

    def prepare(self, args: Sequence[pa.Array], length: int) -> Payload:
        """The codes of the values, and whether all of them are known."""
        known = known_of(args, length)
        pairs = zip(self.codes, args, strict=True)
        return (*(codes.encode(arg, known) for codes, arg in pairs), known)

    def sweep(self, events: Events, payload: Payload) -> Values:
        """The inner aggregate's values."""
        *columns, known = payload
        weights = events.weights(known)
        rows = np.stack([events.groups, *columns], axis=1)
        signs = np.empty(len(events), np.int8)
        start = 0
        while start < len(events):
            start = loops.sweep(start, rows, weights, self.keys, self.counts, self.meta, signs)
            if start < len(events):
                self._resize(2 * len(self.counts))
        prepared = self.inner.prepare(self._values(payload), len(events))
        values = self.inner.sweep(replace(events, signs=signs), prepared)
        self._release(payload, weights < 0)
        if len(self.counts) > FIRST and 16 * self.meta[0] < len(self.counts):
            self._resize(len(self.counts) // 4)
        return values

    def _values(self, payload: Payload) -> list[pa.Array]:
        """The arguments again, unless `inner` counts whatever it is told of."""
        if not self.inner.payload_types:
            return []
        pairs = zip(self.codes, payload[:-1], strict=True)
        return [codes.decode(column, payload[-1]) for codes, column in pairs]

    def _resize(self, rows: int) -> None:
        keys, counts, used = self.keys, self.counts, self.meta[0]
        self._allot(rows)
        loops.put(keys, counts, self.keys, self.counts)
        self.meta[0] = used

    def _release(self, payload: Payload, chosen: Bools) -> None:
        for codes, column in zip(self.codes, payload[:-1], strict=True):
            codes.release(column[chosen])

    def drop(self, payload: Payload) -> None:
        """Let go of the values."""
        self._release(payload, payload[-1])

    def clear(self, groups: Int64s) -> None:
        """Counters of a group without rows are gone already."""
        self.inner.clear(groups)

    def segments(self) -> Segments:
        """The counters, what codes stand for, and the state of the inner aggregate."""
        used = np.flatnonzero(self.counts)
        keys = {f"key{i}": self.keys[used, i] for i in range(self.keys.shape[1])}
        segments = {"distinct": pa.table({**keys, "count": self.counts[used]})}
        for i, codes in enumerate(self.codes):
            segments |= {f"{name}{i}": table for name, table in codes.segments().items()}
        return segments | {f"inner.{name}": one for name, one in self.inner.segments().items()}

    def restore(self, segments: Segments) -> None:
        """Take all of it back."""
        table = segments["distinct"]
        size = FIRST
        while size < 4 * len(table):
            size *= 2
        self._allot(size)
        keys = [table[f"key{i}"].to_numpy() for i in range(self.keys.shape[1])]
        loops.put(np.stack(keys, axis=1), owned(table["count"].to_numpy()), self.keys, self.counts)
        self.meta[0] = len(table)
        for i, codes in enumerate(self.codes):
            codes.restore({name.removesuffix(str(i)): one for name, one in segments.items()})
        inner = {name: one for name, one in segments.items() if name.startswith("inner.")}
        self.inner.restore({name.removeprefix("inner."): one for name, one in inner.items()})

    @property
    def state_rows(self) -> int:
        """How many counters."""
        return int(self.meta[0])

    @property
    def state_bytes(self) -> int:
        """Memory of the counters, their values and the inner aggregate."""
        own = self.keys.nbytes + self.counts.nbytes + sum(one.state_bytes for one in self.codes)
        return own + self.inner.state_bytes
