"""The content of a relation: for queries that come later, and to see if a row can leave it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.patterns import Pattern
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.algebra.types import to_arrow
from penstock.errors import DataError
from penstock.operators.block import Block, concatenated, empty_block, from_table, to_table
from penstock.operators.set.counted import CountedRows, Target
from penstock.runtime.changes import due_from
from penstock.state.fingerprints import fingerprints

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from penstock.algebra.types import Schema
    from penstock.operators.operator import Segments


class RelationContent:
    """The rows of a relation at an instant that all queries have passed, and changes from then on.

    Changes are dated as they came; each query takes an overdue one at its own clock.
    """

    def __init__(self, name: str, schema: Schema) -> None:
        self.name = name
        self.schema = schema
        types = [to_arrow(one) for one in schema.types]
        self._counted = CountedRows(types, [Pattern.STR], Target.COPIES, span=1, partitions=1)
        self._pending = empty_block(schema)
        self._clock = BEGINNING

    def take_in(self, changes: Block, clock: int) -> None:
        """Changes; those dated before the clock have happened.

        Raises:
            DataError: A row would leave that is not there; nothing is taken in.
        """
        self._pass_to(clock)
        pending = concatenated([self._pending, due_from(changes, self._clock)])
        self._refuse_impossible(pending)
        self._pending = pending
        self._pass_to(clock)

    def _pass_to(self, clock: int) -> None:
        """Make content of everything dated before the clock, or before all time."""
        self._clock = max(self._clock, clock)
        due = self._pending.ts < max(self._clock, BEGINNING + 1)
        if due.any():
            self._counted.step([self._pending.take(due)], self._clock)
            self._counted.release()
            self._pending = self._pending.take(~due)

    def history(self, now: int) -> Block:
        """The changes a new query is told: all that has happened was there from the beginning."""
        slots = self._counted.rows.live_slots()
        rows = np.repeat(slots, self._counted.counts[slots, 2])
        content = Block(
            self._counted.rows.take(rows),
            np.full(len(rows), BEGINNING, np.int64),
            np.full(len(rows), INFINITY, np.int64),
        )
        has_happened = self._pending.ts < now
        ts = np.where(has_happened, BEGINNING, self._pending.ts)
        return concatenated([content, replace(self._pending, ts=ts)])

    def _refuse_impossible(self, changes: Block) -> None:
        """At the end of no instant may a row be there less than zero times."""
        if (changes.signs > 0).all():
            return
        keys = fingerprints(changes.columns, len(changes))
        slots = self._counted.rows.find(changes.columns, len(changes))
        there = np.zeros(len(slots), np.int64)
        there[slots >= 0] = self._counted.counts[slots[slots >= 0], 2]
        _, codes = np.unique(keys, axis=0, return_inverse=True)
        order = np.lexsort((changes.ts, codes))
        codes, times = codes[order], changes.ts[order]
        totals = np.cumsum(changes.signs[order].astype(np.int64))
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        before = np.append(0, totals)[starts]
        copies = totals - np.repeat(before, np.diff(starts, append=len(codes))) + there[order]
        is_last = np.append((np.diff(codes) != 0) | (np.diff(times) != 0), True)
        short = np.flatnonzero(is_last & (copies < 0))
        if len(short):
            place = int(order[short[0]])
            row = tuple(column[place].as_py() for column in changes.columns)
            msg = f'relation "{self.name}" is told to remove a row it does not have: {row}'
            raise DataError(msg, hint="Only a row that was inserted, at or before then, can leave.")

    def segments(self) -> Segments:
        """The content and the changes to come, as Arrow."""
        counted = self._counted.rows.segments()
        return counted | {"pending": to_table(self._pending)}

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take them back; this is new."""
        self._counted.rows.restore(segments)
        self._pending = from_table(segments["pending"])
