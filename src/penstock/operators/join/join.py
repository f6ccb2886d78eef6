"""Joins of two inputs: products, theta-joins and equi-joins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.patterns import Pattern
from penstock.operators.block import Block
from penstock.operators.declared_state.state_part import DeclaredState
from penstock.operators.join.join_chains import Chains
from penstock.operators.join.join_loops import Pairs
from penstock.operators.join.join_pairs import PAIRS_AT_ONCE, pairs_of_step
from penstock.operators.join.join_sides import accept_rows, rows_of_side
from penstock.operators.join.matching import Matching
from penstock.operators.join.side_state import KeyState, SideState
from penstock.state.cutting import portions_of_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from penstock.operators.join.join_loops import Incoming
    from penstock.operators.join.join_sides import JoinSide
    from penstock.operators.operator import Inputs
    from penstock.state.arrays import Flags

    Residual = Callable[[Sequence[pa.Array], int], Flags]


class JoinOperator(Matching):
    """All pairs of left and right rows with equal keys that satisfy the residual condition.

    A pair is valid where both rows are. `residual` is given the columns of both sides, left
    first, and tells which pairs satisfy it; None: all do. Without keys it is a product.
    """

    def __init__(
        self,
        left: JoinSide,
        right: JoinSide,
        residual: Residual | None = None,
        pairs_at_once: int = PAIRS_AT_ONCE,
    ) -> None:
        self._inputs = (left, right)
        self._signed = Pattern.STR in (left.pattern, right.pattern)
        self._residual = residual
        self._pairs_at_once = pairs_at_once
        self._chains = Chains(2)
        self._rows = tuple(rows_of_side(side, port) for port, side in enumerate(self._inputs))
        self.state = DeclaredState(
            left=self._side_state(0),
            right=self._side_state(1),
            keys=KeyState(self._chains, self._rows),
        )

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """The pairs that begin in this step."""
        arrived = [self._accept(port, blocks) for port, blocks in enumerate(inputs)]
        left, right = ((came, rows.kept()) for came, rows in zip(arrived, self._rows, strict=True))
        found = pairs_of_step(left, right, self._chains.heads, self._pairs_at_once)
        results = [self._result(part) for pairs in found for part in self._portions(pairs)]
        touched = [
            rows.expire(came, clock, self._chains.heads)
            for rows, came in zip(self._rows, arrived, strict=True)
        ]
        self._chains.drop_empty(np.concatenate(touched))
        return results

    def _side_state(self, port: int) -> SideState:
        def accept(block: Block) -> Incoming:
            return self._accept(port, [block])

        return SideState(self._rows[port], self._chains, accept, port=port, head=port)

    def _accept(self, port: int, blocks: Sequence[Block]) -> Incoming:
        """Bring rows into a side."""
        return accept_rows(self._inputs[port], self._rows[port], self._chains, blocks)

    @property
    def structures(self) -> tuple[str, ...]:
        """The places of the rows of each side."""
        return tuple(rows.structure for rows in self._rows)

    def _portions(self, pairs: Pairs) -> Iterator[Pairs]:
        """The pairs, as many at a time as an array can hold the strings of."""
        left, right = self._rows
        weights = [*left.weights(pairs.first), *right.weights(pairs.second)]
        for part in portions_of_text(len(pairs.ts), weights):
            yield pairs if not weights else Pairs._make(one[part] for one in pairs)

    def _result(self, pairs: Pairs) -> Block:
        left, right = self._rows
        columns = (*left.take(pairs.first), *right.take(pairs.second))
        block = Block(columns, pairs.ts, pairs.te, pairs.sign if self._signed else None)
        if self._residual is None:
            return block
        return block.take(self._residual(columns, len(block)))
