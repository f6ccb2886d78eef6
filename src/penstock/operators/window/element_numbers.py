"""Numbers by which elements are told apart, even equal ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.patterns import Pattern
from penstock.errors import InternalError
from penstock.operators.block import Block, rows_by_time
from penstock.operators.join.join_chains import Chains
from penstock.operators.join.join_loops import Incoming, keep_all
from penstock.operators.join.join_loose import LooseSide
from penstock.operators.join.join_sides import block_of_table, no_rows, shrink_sides, side_table
from penstock.operators.join.withdrawal_index import identity
from penstock.operators.operator import Inputs, Operator, Segments
from penstock.operators.window.element_numbers_loops import follow
from penstock.operators.window.merged_numbers import NUMBERS
from penstock.state.expiry import DEFAULT_PARTITIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.operators.division import Division
    from penstock.state.arrays import Ints


class Number(Operator):
    """Appends a BIGINT column: a number that no other element of this operator has.

    Nor has one of another operator, if its `place` is another: rows of several may come together.

    Of strict input, a negative row has the number of the element it withdraws; of several equal
    ones, any. Only for that are elements remembered, until they are withdrawn or end. `span` is
    how long elements live, about.
    """

    meets = False

    def __init__(
        self,
        types: Sequence[pa.DataType],
        pattern: Pattern,
        span: int = 1 << 20,
        partitions: int = DEFAULT_PARTITIONS,
        place: int = 0,
    ) -> None:
        self._strict = pattern is Pattern.STR
        self._next = place * NUMBERS
        self._chains = Chains(1)
        self._rows = LooseSide([*types, pa.int64()], 0, None, span, partitions)

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Number the rows: those of strict input by time, others as they came."""
        (blocks,) = inputs
        if not self._strict:
            return [_numbered(block, self._new_numbers(len(block))) for block in blocks]
        results: list[Block] = []
        incoming = no_rows()
        block = rows_by_time(blocks)
        if block is not None:
            incoming, numbers = self._follow(block)
            results.append(_numbered(block, numbers))
        self._chains.drop_empty(self._rows.settle(incoming, clock, self._chains.heads))
        return results

    def shrink(self) -> None:
        """Give back room that has been empty for a while."""
        shrink_sides(self._chains, [self._rows])

    def segments(self) -> Segments:
        """The next number, and the elements with theirs."""
        return {"next": pa.table({"number": [self._next]}), "elements": side_table(self._rows)}

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Go on numbering, and know these elements."""
        self._next = segments["next"].column("number")[0].as_py()
        block = block_of_table(segments["elements"])
        keys, _ = self._chains.numbers(identity(block.with_columns(block.columns[:-1])))
        incoming = self._rows.accept(block, keys)
        keep_all(incoming, self._rows.kept(), self._chains.heads, 0)

    def divided(self, parts: Sequence[Segments], division: Division) -> list[Segments]:
        """Elements where they may be withdrawn; numbers go on behind all there are."""
        made = division.rows(parts, {"elements": division.results}, by_key=True)
        following = pa.table({"number": [division.numbers.next(self._next)]})
        return [segments | {"next": following} for segments in made]

    @property
    def state_rows(self) -> int:
        """Elements that may be withdrawn."""
        return len(self._rows)

    @property
    def state_bytes(self) -> int:
        """Elements and their index."""
        return self._rows.nbytes + self._chains.nbytes

    def _new_numbers(self, count: int) -> Ints:
        self._next += count
        return np.arange(self._next - count, self._next)

    def _follow(self, block: Block) -> tuple[Incoming, Ints]:
        """The numbers of rows in the order of time: new ones, and known ones of negative rows."""
        keys, _ = self._chains.numbers(identity(block))
        positive = block.signs > 0
        numbers = np.zeros(len(block), np.int64)
        numbers[positive] = self._new_numbers(int(positive.sum()))
        incoming = self._rows.accept(_numbered(block, numbers), keys)
        if not follow(incoming, self._rows.kept(), self._chains.heads):
            msg = "a negative row withdraws an element that is not there"
            raise InternalError(msg)
        numbers[~positive] = self._rows.take(incoming.place[~positive])[-1].to_numpy()
        return incoming, numbers


def _numbered(block: Block, numbers: Ints) -> Block:
    return block.with_columns((*block.columns, pa.array(numbers)))
