"""Outer joins by equal keys: the rows of each side are kept once, for pairs and for padding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import BEGINNING
from penstock.operators.block import Block, concatenated, stored_blocks
from penstock.operators.join.join import JoinOperator
from penstock.operators.join.join_loops import START, Pairs
from penstock.operators.join.join_pairs import PAIRS_AT_ONCE, filled
from penstock.operators.join.join_sides import no_rows
from penstock.operators.join.outer_loops import (
    OVER,
    PARTNER,
    PHASE,
    ROOM,
    OuterSide,
    OuterStep,
    meet_or_pad,
)
from penstock.operators.join.side_state import LoopRoom
from penstock.state.fingerprints import fingerprints

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.operators.join.join_loops import Incoming
    from penstock.operators.join.join_sides import JoinSide
    from penstock.operators.operator import Inputs


class OuterJoinOperator(JoinOperator):
    """All pairs of rows with equal keys; and rows alone, beside NULLs, while they have no partner.

    `padded` says for the left and the right side whether its rows may stand alone. The result is
    strict: a row alone is sent for as long as it is valid itself, goes out when a partner begins,
    and comes back if the last partner ends before it does. What counts is the end of each
    instant: a partner that ends while another begins changes nothing. A row with a NULL in its
    key is always alone, unless `null_matches` of its side says otherwise, and is not kept.
    """

    def __init__(
        self,
        left: JoinSide,
        right: JoinSide,
        padded: tuple[bool, bool],
        pairs_at_once: int = PAIRS_AT_ONCE,
    ) -> None:
        super().__init__(left, right, None, pairs_at_once)
        self._signed = True
        self._padded = padded
        self._marks = LoopRoom(np.int8, lambda: len(self._chains.heads))
        self.state.parts["marks"] = self._marks

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """The pairs that begin in this step, and the rows that are alone or no longer so."""
        results: list[Block] = []
        arrived = [self._come(port, blocks, results) for port, blocks in enumerate(inputs)]
        sides = [self._side(port, incoming, clock) for port, incoming in enumerate(arrived)]
        for pairs in self._found(sides[0], sides[1]):
            results += self._blocks(pairs)
        # What ends at the clock has to be there when the next step tells what begins then.
        until = max(clock - 1, BEGINNING)
        touched = [
            rows.expire(came, until, self._chains.heads)
            for rows, came in zip(self._rows, arrived, strict=True)
        ]
        self._chains.drop_empty(np.concatenate(touched))
        return results

    def _come(self, port: int, blocks: Sequence[Block], results: list[Block]) -> Incoming:
        """Bring the rows of a step into a side; those that never match are results as they are."""
        if not blocks:
            return no_rows()
        side, rows = self._inputs[port], self._rows[port]
        block, keys, free = side.parted(rows.arranged(concatenated(blocks)))
        if self._padded[port]:
            results.append(self._alone(port, free))
        numbers, _ = self._chains.numbers(fingerprints(keys, len(block)))
        return rows.accept(block, numbers)

    def _side(self, port: int, incoming: Incoming, clock: int) -> OuterSide:
        rows, padded = self._rows[port], self._padded
        ends = ending = incoming.ts[:0]
        if padded[1 - port]:
            ends, ending = rows.due(incoming, clock)
        return OuterSide(incoming, rows.kept(), ends, ending, padded[port])

    def _found(self, left: OuterSide, right: OuterSide) -> Iterator[Pairs]:
        rows = sum(len(side.incoming.ts) + len(side.ends) for side in (left, right))
        heads, touched = self._chains.heads, np.empty(rows, np.int64)
        marks = self._marks.ready()
        cursor = np.zeros(ROOM, np.int64)
        cursor[PARTNER] = START
        return filled(
            lambda cursor, pairs: meet_or_pad(
                left, right, OuterStep(heads, marks, touched, cursor, pairs)
            ),
            cursor,
            lambda: int(cursor[PHASE]) == OVER,
            rows,
            self._pairs_at_once,
        )

    def _blocks(self, pairs: Pairs) -> list[Block]:
        """Pairs, rows of the left side alone, and rows of the right side alone."""
        alone = (pairs.second < 0, pairs.first < 0)
        both = Pairs._make(one[~(alone[0] | alone[1])] for one in pairs)
        found = [self._result(part) for part in self._portions(both)]
        for port, places in enumerate((pairs.first, pairs.second)):
            mine = np.flatnonzero(alone[port])
            times = pairs.ts[mine], pairs.te[mine], pairs.sign[mine]
            blocks = stored_blocks(self._rows[port], places[mine], *times)
            found += [self._alone(port, block) for block in blocks]
        return found

    def _alone(self, port: int, block: Block) -> Block:
        """Rows of one side beside NULLs."""
        nulls = tuple(pa.nulls(len(block), one) for one in self._inputs[1 - port].types)
        columns = (*nulls, *block.columns) if port else (*block.columns, *nulls)
        return Block(columns, block.ts, block.te, block.signs)
