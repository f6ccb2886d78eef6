"""Numbers by which elements are told apart, even equal ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.patterns import Pattern
from penstock.errors import InternalError
from penstock.operators.block import Block, rows_by_time
from penstock.operators.declared_state.state_part import DeclaredState, StatePart
from penstock.operators.join.join_chains import Chains
from penstock.operators.join.join_loose import LooseSide
from penstock.operators.join.join_sides import no_rows
from penstock.operators.join.side_state import KeyState, SideState
from penstock.operators.join.withdrawal_index import identity
from penstock.operators.operator import Inputs, Operator, Segments
from penstock.operators.window.element_numbers_loops import follow
from penstock.operators.window.merged_numbers import NUMBERS
from penstock.state.expiry import DEFAULT_PARTITIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.operators.division import Division
    from penstock.operators.join.join_loops import Incoming
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
        self.next = place * NUMBERS
        self._chains = Chains(1)
        self._rows = LooseSide([*types, pa.int64()], 0, span, partitions, strict=False)
        self.state = DeclaredState(
            elements=SideState(self._rows, self._chains, self._known, port=None, by_key=True),
            keys=KeyState(self._chains, [self._rows]),
            next=_NextNumber(self),
        )

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
        self._chains.drop_empty(self._rows.expire(incoming, clock, self._chains.heads))
        return results

    def _known(self, block: Block) -> Incoming:
        """Bring elements back that have their numbers."""
        keys, _ = self._chains.numbers(identity(block.with_columns(block.columns[:-1])))
        return self._rows.accept(block, keys)

    def _new_numbers(self, count: int) -> Ints:
        self.next += count
        return np.arange(self.next - count, self.next)

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


class _NextNumber(StatePart):
    """The number that the next element gets; other lanes go on behind all there are."""

    def __init__(self, owner: Number) -> None:
        self._owner = owner

    def segments(self) -> Segments:
        """The number in a table."""
        return {"known": pa.table({"number": [self._owner.next]})}

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Go on numbering."""
        self._owner.next = segments["known"]["number"][0].as_py()

    def divided(self, parts: Sequence[Segments], division: Division) -> list[Segments]:
        """The same for all lanes: elements come together whose numbers must differ."""
        number = division.numbers.next(self._owner.next)
        return [{"known": pa.table({"number": [number]})} for _ in range(division.lanes)]


def _numbered(block: Block, numbers: Ints) -> Block:
    return block.with_columns((*block.columns, pa.array(numbers)))
