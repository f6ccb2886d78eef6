"""The state of accumulators, divided with the groups it is about.

Codes of texts are numbers in a pool of each lane. Brought together the pools have one numbering;
then each new lane gets a pool with what it holds, and numbers of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.division import with_column
from penstock.operators.saved_tables import one_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.aggregate.accumulators.accumulator import Accumulator, CodeUse, Segments
    from penstock.operators.division import Moves
    from penstock.state.arrays import Flags, Ints

GROUP = "group"
"""The column that says of which group the rows of a table are."""
_FIRST = 2
"""Before the payload of all calls there are the group and the change."""


def divided_calls(
    accumulators: Sequence[Accumulator],
    parts: Sequence[Segments],
    ends: Sequence[pa.Table],
    moves: Moves,
) -> tuple[list[pa.Table], list[Segments]]:
    """The ends to come in each new lane, and what accumulators keep there.

    Args:
        accumulators: Of each call.
        parts: The state of old lanes; what call number i keeps has names that begin with `i/`.
        ends: Of old lanes: when elements leave, their groups, the change, and the payload of the
            calls that must be told who leaves.
        moves: Where groups go.
    """
    pools = []
    ends = list(ends)
    kept = [dict(part) for part in parts]
    first = _FIRST
    for number, accumulator in enumerate(accumulators):
        for coded in accumulator.coded:
            pools.append(_DividedPool(coded, f"{number}/", first, accumulator))
            pools[-1].unite(kept, ends)
        first += len(accumulator.payload_types) if accumulator.needs_departures else 0
    names = [name for name in kept[0] if name[0].isdigit()]
    taken = {pool.name for pool in pools}
    made: list[Segments] = [{} for _ in range(moves.lanes)]
    for name in names:
        if name not in taken:
            tables = [part[name] for part in kept]
            for segments, one in zip(made, moves.moved(tables, GROUP), strict=True):
                segments[name] = one
    divided = moves.moved(ends, "payload0", "payload1")
    for pool in pools:
        divided = [pool.divide(segments, one) for segments, one in zip(made, divided, strict=True)]
    return divided, made


class _DividedPool:
    """The pool of some codes, on its way from old lanes to new ones."""

    def __init__(self, coded: CodeUse, start: str, first: int, accumulator: Accumulator) -> None:
        self.name = start + coded.pool
        self._table = start + coded.table
        self._coded = coded
        self._payload: tuple[str, str] | None = None
        if accumulator.needs_departures:
            known = first + len(accumulator.payload_types) - 1
            self._payload = f"payload{first + coded.payload}", f"payload{known}"
        self._texts: pa.Array = pa.array([], pa.large_binary())

    def unite(self, kept: list[Segments], ends: list[pa.Table]) -> None:
        """Give codes the numbers of one pool for all old lanes."""
        pools = [part[self.name] for part in kept]
        texts = pa.concat_arrays([one_array(pool["text"]) for pool in pools])
        encoded = texts.dictionary_encode()
        self._texts = encoded.dictionary
        numbers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        stops = np.cumsum([len(pool) for pool in pools])
        for place, (pool, stop) in enumerate(zip(pools, stops, strict=True)):
            old = pool["number"].to_numpy()
            new = np.zeros(int(old.max(initial=-1)) + 2, np.int64)
            new[old] = numbers[stop - len(pool) : stop]
            table = kept[place][self._table]
            codes = table[self._coded.column].to_numpy()
            kept[place][self._table] = with_column(table, self._coded.column, new[codes])
            if self._payload is not None:
                code, _ = self._payload
                codes, known = self._leaving(ends[place])
                codes = np.where(known, new[np.where(known, codes, 0)], 0)
                ends[place] = with_column(ends[place], code, codes)

    def divide(self, segments: Segments, ends: pa.Table) -> pa.Table:
        """Give a new lane a pool with what it holds; its ends, with the codes of that pool."""
        coded, table = self._coded, segments[self._table]
        codes = table[coded.column].to_numpy()
        counts = np.ones(len(codes), np.int64)
        if coded.count is not None:
            counts = table[coded.count].to_numpy()
        leaving, known = self._leaving(ends)
        used, places = np.unique(np.concatenate([codes, leaving[known]]), return_inverse=True)
        held = np.zeros(len(used), np.int64)
        np.add.at(held, places[: len(codes)], counts)
        # A withdrawal, and the element that it withdrew, hold their value until both have ended.
        withdrawn = ends["payload1"].to_numpy()[known] > 0
        np.add.at(held, places[len(codes) :], 2 * withdrawn)
        segments[self._table] = with_column(table, coded.column, places[: len(codes)])
        pool = {"number": np.arange(len(used)), "held": held, "text": self._texts.take(used)}
        segments[self.name] = pa.table(pool)
        if self._payload is None:
            return ends
        leaving = np.zeros(len(ends), np.int64)
        leaving[known] = places[len(codes) :]
        return with_column(ends, self._payload[0], leaving)

    def _leaving(self, ends: pa.Table) -> tuple[Ints, Flags]:
        """The codes of elements that will leave, and which of them are known."""
        if self._payload is None:
            return np.zeros(len(ends), np.int64), np.zeros(len(ends), np.bool_)
        code, known = (one_array(ends[name]) for name in self._payload)
        return code.to_numpy(), np.asarray(known.to_numpy(zero_copy_only=False))
