"""MIN and MAX where every element leaves at the end of its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.aggregate.accumulators import staircase_loops as loops
from penstock.operators.aggregate.accumulators.accumulator import (
    BOOL,
    INT64,
    CodeUse,
    Segments,
    SelfExpiring,
    Values,
)
from penstock.operators.aggregate.accumulators.codes import Codes, PooledCodes, codes_for
from penstock.operators.aggregate.accumulators.counting import known_of
from penstock.operators.aggregate.accumulators.events import owned
from penstock.operators.aggregate.accumulators.group_slots import GroupSlots
from penstock.state.moving import Occupancy
from penstock.state.row_store import grown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.expressions import AggregateCall
    from penstock.operators.aggregate.accumulators.events import GroupEvents, Int64s, Payload
    from penstock.state.moving import Moved

FIRST = 16


class Staircase(SelfExpiring):
    """MIN or MAX, keeping only candidates that are the answer or can become it.

    Elements that come in the order of their ends cost constant time, amortised. One that ends
    before k candidates costs k steps more.
    """

    payload_types = (INT64, BOOL)

    def __init__(self, call: AggregateCall) -> None:
        super().__init__(call)
        self.codes: Codes = codes_for(call.args[0].type)
        self.direction = 1 if call.function == "max" else -1
        self._reset()

    def _reset(self) -> None:
        self.ends = GroupSlots(2)
        self.meta = np.zeros(5, np.int64)
        self._added = np.zeros(0, np.int64)
        self._lately = Occupancy()
        self._allot(FIRST)

    def _allot(self, places: int) -> None:
        """Empty room for candidates, beside place 0, which means none."""
        self.nodes = np.zeros((places + 1, 5), np.int64)
        self.meta[:] = 0
        loops.chain(self.nodes, 1, self.meta)

    def prepare(self, args: Sequence[pa.Array], length: int) -> Payload:
        """The code of each value, and whether it is known."""
        known = known_of(args, length)
        return self.codes.encode(args[0], known), known

    def sweep(self, events: GroupEvents, payload: Payload) -> Values:
        """The best of the candidates whose interval has not ended; leaving events are ignored."""
        out = np.empty(len(events.points), np.int64)
        known = np.empty(len(events.points), np.int64)
        gone = self._room(len(events))
        self.meta[loops.ADDED] = 0
        self._added = np.empty(len(events), np.int64)
        self._run(events, payload, gone, out, known)
        values = self.codes.decode(out, known == 1)
        self._lately.note(int(self.meta[loops.LIVE] + self.meta[loops.ADDED]))
        self._release(gone)
        return values, 0

    def _run(
        self, events: GroupEvents, payload: Payload, gone: Int64s, out: Int64s, known: Int64s
    ) -> None:
        self.ends.reach(events.slots)
        self.meta[loops.POINT] = 0
        weights, codes = events.weights(payload[1]), owned(payload[0])
        start = 0
        while start < len(events):
            start = loops.sweep(
                start,
                events.groups,
                events.times,
                weights,
                events.ends,
                codes,
                events.points,
                self.direction,
                *self.codes.order,
                self.nodes,
                self.ends.rows,
                self.meta,
                gone,
                self._added,
                out,
                known,
            )
            if start < len(events):
                self._grow()

    def _grow(self) -> None:
        have = len(self.nodes)
        self.nodes = grown(self.nodes, have + 1)
        loops.chain(self.nodes, have, self.meta)

    def _room(self, more: int) -> Int64s:
        """Room for the codes that are dropped, where somebody has to be told."""
        self.meta[loops.DROPPED] = 0
        pooled = isinstance(self.codes, PooledCodes)
        return np.empty((int(self.meta[loops.LIVE]) + more) * pooled, np.int64)

    def _release(self, gone: Int64s) -> None:
        if len(gone):
            self.codes.release(gone[: self.meta[loops.DROPPED]])

    def drop(self, payload: Payload) -> None:
        """Let go of the values."""
        self.codes.release(payload[0][payload[1]])

    def clear(self, groups: Int64s) -> None:
        """Free the candidates of groups, all of which have ended."""
        gone = self._room(0)
        reached = owned(groups[groups < len(self.ends.rows)])
        loops.clear(reached, self.nodes, self.ends.rows, self.meta, gone)
        self._release(gone)

    def new_elements(self) -> tuple[Int64s, Int64s]:
        """The candidates that the last sweep brought and left."""
        added = self._added[: self.meta[loops.ADDED]]
        self._added = self._added[:0]
        groups, ends = np.empty(len(added), np.int64), np.empty(len(added), np.int64)
        count = loops.asked(added, self.nodes, groups, ends)
        return groups[:count], ends[:count]

    def elements(self) -> tuple[Int64s, Int64s]:
        """All candidates."""
        groups, ends, _ = self._listed()
        return groups, ends

    def _listed(self) -> list[Int64s]:
        """Of each candidate: its group, its end and its code."""
        columns = [np.empty(self.state_rows, np.int64) for _ in range(3)]
        loops.listed(self.ends.rows, self.nodes, *columns)
        return columns

    def move(self, moved: Moved) -> None:
        """Candidates are those of the groups under their other slots."""
        self.ends.move(moved)

    def shrink(self) -> Mapping[int, Int64s]:
        """Give back the room of candidates and of values; no payload will come back."""
        new_codes = self.codes.compact()
        if new_codes is not None or self._lately.leaves_empty(len(self.nodes), self.state_rows):
            group, end, code = self._listed()
            self._put(group, end, code if new_codes is None else new_codes[code])
        return {}

    def segments(self) -> Segments:
        """The candidates, and what codes stand for."""
        candidates = pa.table(dict(zip(("group", "end", "code"), self._listed(), strict=True)))
        return {"candidates": candidates, **self.codes.segments()}

    def coded(self) -> list[CodeUse]:
        """In the candidates."""
        if not self.codes.is_pooled:
            return []
        return [CodeUse("pool", "candidates", "code", None, payload=0)]

    def restore(self, segments: Segments) -> None:
        """Take back the candidates."""
        self.codes.restore(segments)
        self._reset()
        table = segments["candidates"]
        self._put(*(table[name].to_numpy() for name in ("group", "end", "code")))

    def _put(self, group: Int64s, end: Int64s, code: Int64s) -> None:
        """Have these candidates, and no others; they come by group and end."""
        self._allot(max(len(group), FIRST))
        self.ends.reach(int(group.max(initial=-1)) + 1)
        # Written one after the other in order, neighbours of one group are neighbours in place.
        places = np.arange(1, len(group) + 1)
        starts = np.concatenate([[True], group[1:] != group[:-1]])[: len(group)]
        stops = np.concatenate([group[1:] != group[:-1], [True]])[: len(group)]
        known = np.zeros(len(group), np.int64)
        rows = np.stack([end, code, (places - 1) * ~starts, (places + 1) * ~stops, known], axis=1)
        self.meta[:] = 0
        loops.chain(self.nodes, len(group) + 1, self.meta)
        self.nodes[1 : len(group) + 1] = rows
        self.meta[loops.LIVE] = len(group)
        self.ends.rows[group[starts], loops.FIRST] = places[starts]
        self.ends.rows[group[stops], loops.LAST] = places[stops]

    @property
    def state_rows(self) -> int:
        """The number of candidates."""
        return int(self.meta[loops.LIVE])

    @property
    def state_bytes(self) -> int:
        """Memory of the candidates and their values."""
        return self.nodes.nbytes + self.ends.rows.nbytes + self.codes.state_bytes
