"""DISTINCT: an aggregate that is told only of the first and the last of equal values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.aggregate.accumulators.accumulator import (
    BOOL,
    INT64,
    Accumulator,
    Values,
)
from penstock.operators.aggregate.accumulators.codes import PooledCodes, codes_for
from penstock.operators.aggregate.accumulators.counting import known_of
from penstock.operators.aggregate.accumulators.value_counters import ValueCounters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from penstock.algebra.expressions import AggregateCall
    from penstock.operators.aggregate.accumulators.events import Bools, GroupEvents, Int64s, Payload

POOLED = np.dtype(np.int32)
"""Of numbers in a pool: two billion texts would take more memory than a lane has."""


class DistinctAccumulator(Accumulator):
    """Counts equal values in each group and passes their comings and goings on to `inner`."""

    def __init__(self, call: AggregateCall, inner: Accumulator) -> None:
        super().__init__(call)
        self.inner = inner
        self.codes = [codes_for(arg.type) for arg in call.args]
        kinds = (POOLED if isinstance(one, PooledCodes) else INT64 for one in self.codes)
        self.payload_types = (*kinds, BOOL)
        self.counters = ValueCounters(len(call.args))
        self.kept = {
            "distinct": self.counters,
            **{f"inner.{name}": one for name, one in inner.kept.items()},
        }
        # What `inner` counts or adds up has no codes.
        self.coded = [
            use
            for i, codes in enumerate(self.codes)
            for use in codes.used(f"pool{i}", "distinct", f"key{i + 1}", "count", payload=i)
        ]

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
        keys = np.stack([one[rows] for one in (events.groups, *columns)], axis=1)
        signs = np.zeros(len(events), np.int8)
        gone = self.counters.count(keys, rows, weights, signs)
        prepared = self.inner.prepare(self._values(payload), len(events))
        values = self.inner.sweep(replace(events, signs=signs), prepared)
        self._release(payload, weights < 0)
        self.counters.forget(gone)
        return values

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

    def shrink(self) -> Mapping[int, Int64s]:
        """Give back the room of counters and of values."""
        found = enumerate(codes.compact() for codes in self.codes)
        new_codes = {number: codes for number, codes in found if codes is not None}
        self.counters.shrink(new_codes)
        self.inner.shrink()
        return new_codes


def _widened(payload: Payload) -> Payload:
    """The codes in 64 bits, though they wait in fewer."""
    *columns, known = payload
    return (*(one.astype(np.int64, copy=False) for one in columns), known)
