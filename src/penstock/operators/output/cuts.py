"""Operators that cut intervals anew and leave every snapshot as it is: split and coalesce."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.errors import Refused
from penstock.operators.block import Block, concatenated, rows_by_time
from penstock.operators.declared_state.state_part import DeclaredState
from penstock.operators.operator import Inputs, Operator
from penstock.operators.output.cuts_loops import merge_adjacent
from penstock.operators.waiting import Waiting
from penstock.operators.withdrawals import ended_elements
from penstock.state.fingerprints import fingerprints
from penstock.state.keys import KeyIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.state.arrays import Ints


MOST_PIECES = 10_000
"""An element is not cut into more pieces than that in one step."""


class SplitOperator(Operator):
    """Elements in pieces, cut at the multiples of a length; a piece is sent when it begins.

    An element that may be withdrawn is cut as time goes on, also if its end is not known.
    """

    meets = False

    def __init__(self, length: int) -> None:
        self._length = length
        self._rest = Waiting()
        self.state = DeclaredState(rest=self._rest)

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """The pieces that begin in this step; a withdrawal ends its element."""
        arrived = [block for block in map(rows_by_time, inputs) if block is not None]
        for block in arrived:
            if block.sign is None:
                _require_ends(block)
        known = [*self._rest.take(INFINITY), *arrived]
        if not known:
            return ()
        elements, withdrawn = _ended(concatenated(known))
        return [withdrawn, self._pieces(elements, clock)]

    def _pieces(self, block: Block, clock: int) -> Block:
        """Cut what lies before the clock; what is left waits."""
        length = self._length
        # The first cut behind the last piece that begins before the clock.
        end = np.minimum(min(-(-clock // length) * length, INFINITY), block.te)
        end = np.maximum(end, block.ts)
        counts = np.where(end > block.ts, -(-end // length) - block.ts // length, 0)
        # What was always there, has no end when all is over, or would fill the memory with its
        # pieces, is not cut any more.
        whole = (block.ts == BEGINNING) | (end == INFINITY) | (counts > MOST_PIECES)
        counts = np.where(whole, end > block.ts, counts)
        rows = np.repeat(np.arange(len(block)), counts)
        place = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        cut = (block.ts[rows] // length + place) * length
        pieces = Block(
            tuple(column.take(pa.array(rows)) for column in block.columns),
            np.where(whole[rows], block.ts[rows], np.maximum(cut, block.ts[rows])),
            np.where(whole[rows], end[rows], np.minimum(cut + length, block.te[rows])),
            None if block.sign is None else block.sign[rows],
        )
        left = Block(block.columns, end, block.te, block.sign).take(end < block.te)
        self._rest.push(left)
        return pieces


def _require_ends(block: Block) -> None:
    if len(block) and (int(block.te.max()) >= INFINITY or int(block.ts.min()) == BEGINNING):
        msg = "an interval that never ends cannot be split"
        raise Refused(msg, hint="Give the stream a window.")


def _ended(block: Block) -> tuple[Block, Block]:
    """Elements that their withdrawals have ended, and negative rows for pieces sent before.

    An element that waits begins at its next cut; a withdrawal before that reaches into the piece
    that ends there, which is out already. What does not wait any more is out to its end.
    """
    te, is_left = ended_elements(block)
    is_element = block.signs > 0
    pieces = is_element & (te < block.ts)
    begin, end = np.where(is_left, block.ts, te), np.where(is_left, block.te, block.ts)
    withdrawn = Block(block.columns, begin, end, np.full(len(block), -1, np.int8))
    sign = None if block.sign is None else np.ones(len(block), np.int8)
    elements = Block(block.columns, block.ts, te, sign).take(is_element & (block.ts < te))
    return elements, withdrawn.take(pieces | is_left)


class CoalesceOperator(Operator):
    """Equal rows whose intervals meet within a step become one element.

    An element sent out cannot grow any more, so intervals that meet across steps stay apart.
    """

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Merge the elements of the step."""
        (block,) = map(rows_by_time, inputs)
        if block is None:
            return ()
        te, is_left = ended_elements(block)
        elements = Block(block.columns, block.ts, te, block.sign).take(block.signs > 0)
        made, is_merged = merge_adjacent(*_places(elements), elements.te)
        merged = Block(elements.columns, elements.ts, made, elements.sign).take(~is_merged)
        return [block.take(is_left), merged]


def _places(block: Block) -> tuple[Ints, Ints]:
    """Numbers for where each element begins and ends, the same for rows alike at one instant."""
    rows, _ = KeyIndex(len(block)).find_or_add(fingerprints(block.columns, len(block)))
    instants = np.concatenate([block.ts, block.te])
    places = np.stack([np.tile(rows, 2), instants], axis=1).view(np.uint64)
    numbers, _ = KeyIndex(len(places)).find_or_add(places)
    return numbers[: len(block)], numbers[len(block) :]
