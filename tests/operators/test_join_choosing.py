"""How withdrawn rows are found follows how many there are, and among how many others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.patterns import Pattern
from penstock.algebra.time import INFINITY
from penstock.operators.block import Block
from penstock.operators.join.join import JoinOperator
from penstock.operators.join.join_loops import SCANNED, STRICT
from penstock.operators.join.join_sides import JoinSide
from penstock.operators.operator import stepped

if TYPE_CHECKING:
    from penstock.operators.join.join_loose import LooseSide

ROWS = 2000


class Driven:
    """A join whose left rows are withdrawn in part, in the order they came."""

    def __init__(self, keys: int) -> None:
        strict, plain = (
            JoinSide([pa.int64()], self._key, (False,), pattern, finding="auto")
            for pattern in (Pattern.STR, Pattern.WKS)
        )
        self._keys = keys
        self._join = JoinOperator(strict, plain)
        self._now = 0
        self._waiting: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []

    def _key(self, block: Block) -> list[pa.Array]:
        return [pa.array(block.columns[0].to_numpy() % self._keys)]

    def step(self, withdrawn: float) -> None:
        """Rows come, and a share of those that came before is withdrawn."""
        self._waiting.append(np.arange(self._now, self._now + ROWS))
        blocks = [self._block(self._waiting[-1], 1)]
        if len(self._waiting) > 1:
            oldest = self._waiting.pop(0)
            blocks.append(self._block(oldest[: int(withdrawn * ROWS)], -1))
        self._now += ROWS
        stepped(self._join, [[block for block in blocks if len(block)], []], self._now)

    def _block(self, rows: np.ndarray[tuple[int], np.dtype[np.int64]], sign: int) -> Block:
        ts, te = np.full(len(rows), self._now), rows + 3 * ROWS
        te[te > INFINITY] = INFINITY
        signs = np.full(len(rows), sign, np.int8)
        return Block((pa.array(rows),), ts, te, signs)

    @property
    def kind(self) -> int:
        side: LooseSide = self._join._rows[0]  # type: ignore[assignment]
        return side.kept().kind


def test_few_withdrawals_need_no_index() -> None:
    driven = Driven(keys=10)
    for _ in range(10):
        driven.step(withdrawn=0.0)
    assert driven.kind == SCANNED


def test_withdrawals_among_few_keys_bring_the_index_and_their_absence_takes_it_away() -> None:
    driven = Driven(keys=2)
    for _ in range(5):
        driven.step(withdrawn=0.5)
    assert driven.kind == STRICT
    for _ in range(20):
        driven.step(withdrawn=0.0)
    assert driven.kind == SCANNED


def test_withdrawals_that_are_found_at_once_need_no_index() -> None:
    driven = Driven(keys=10**9)
    for _ in range(10):
        driven.step(withdrawn=0.5)
    assert driven.kind == SCANNED
