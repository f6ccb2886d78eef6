"""COUNT, COUNT_IF, BOOL_AND and BOOL_OR: numbers of rows per group."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.aggregate.accumulators.accumulator import BOOL, Accumulator, Values
from penstock.operators.aggregate.accumulators.count_loops import count
from penstock.operators.aggregate.accumulators.events import owned
from penstock.operators.aggregate.accumulators.group_slots import GroupSlots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import AggregateCall
    from penstock.operators.aggregate.accumulators.events import (
        Bools,
        GroupEvents,
        Int8s,
        Int64s,
        Payload,
    )


class Counts(GroupSlots):
    """Several counts of rows per group."""

    def sweep(self, events: GroupEvents, weights: Int8s | Int64s, column: int = 0) -> Int64s:
        """Add the weights of events; the counts at the points."""
        self.reach(events.slots)
        out = np.empty(len(events.points), np.int64)
        count(events.groups, weights, events.points, self.rows, column, out)
        return out


def known_of(args: Sequence[pa.Array], length: int) -> Bools:
    """The rows without a NULL among the arguments."""
    columns = [arg.is_valid().to_numpy(zero_copy_only=False) for arg in args if arg.null_count]
    return reduce(and_, columns, np.ones(length, np.bool_))


def rows_of(args: Sequence[pa.Array]) -> tuple[Int64s, ...]:
    """The number of rows each row stands for, if a call has that as its second argument."""
    return tuple(owned(arg.to_numpy()) for arg in args[1:])


def truth_of(arg: pa.Array) -> Bools:
    """The rows that are TRUE."""
    truth: Bools = arg.fill_null(False).to_numpy(zero_copy_only=False)
    return truth


class _Counting(Accumulator):
    """The common part of the aggregates that are counts."""

    width = 1

    def __init__(self, call: AggregateCall) -> None:
        super().__init__(call)
        self.counts = Counts(self.width)
        self.kept = {"counts": self.counts}


class Count(_Counting):
    """COUNT(*), COUNT(x), COUNT_IF(x); the payload says whether the row counts."""

    def __init__(self, call: AggregateCall) -> None:
        super().__init__(call)
        self.payload_types = (BOOL,) * bool(call.args)

    def prepare(self, args: Sequence[pa.Array], length: int) -> Payload:
        """A flag for each row that counts."""
        if not self.payload_types:
            return ()
        return (truth_of(args[0]) if self.call.function == "count_if" else known_of(args, length),)

    def sweep(self, events: GroupEvents, payload: Payload) -> Values:
        """The counts."""
        weights = events.weights(payload[0]) if payload else events.signs
        return pa.array(self.counts.sweep(events, weights), self.type), 0


class Truth(_Counting):
    """BOOL_AND and BOOL_OR: how many are known, how many TRUE."""

    width = 2
    payload_types = (BOOL, BOOL)

    def prepare(self, args: Sequence[pa.Array], length: int) -> Payload:
        """Two flags for each row: it is known, and it is TRUE."""
        return known_of(args, length), truth_of(args[0])

    def sweep(self, events: GroupEvents, payload: Payload) -> Values:
        """NULL where nothing is known."""
        known = self.counts.sweep(events, events.weights(payload[0]))
        true = self.counts.sweep(events, events.weights(payload[1]), 1)
        truth = true == known if self.call.function == "bool_and" else true > 0
        return pa.array(truth, self.type, mask=known == 0), 0
