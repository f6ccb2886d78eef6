"""The anti-join: rows whose key is not covered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.block import Block, concatenated, stored_blocks
from penstock.operators.declared_state.state_part import DeclaredState
from penstock.operators.join.anti_coverage import KeyCoverage
from penstock.operators.join.anti_loops import uncovered
from penstock.operators.join.join_chains import Chains
from penstock.operators.join.join_loops import Incoming, Pairs
from penstock.operators.join.join_pairs import PAIRS_AT_ONCE, portions
from penstock.operators.join.join_sides import no_rows, rows_of_side
from penstock.operators.join.side_state import KeyState, LoopRoom, SideState
from penstock.operators.operator import Inputs, Operator
from penstock.operators.withdrawals_loops import close_within
from penstock.state.fingerprints import fingerprints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.join.join_sides import JoinSide

LEFT, COVERAGE = 0, 1
"""The ports."""


class AntiJoinOperator(Operator):
    """Left rows (port 0) while their key is not covered.

    Coverage (port 1) is made of rows of the key columns, at every instant each at most once:
    the distinct keys of the right side. The result is strict: a row goes out when its key
    becomes covered, and comes back if the cover ends before the row does; what comes and goes out
    again in one step is sent with its interval. What counts is the end of each instant: a cover
    that ends while another begins changes nothing. A row with a NULL in its key is never covered,
    unless the left side's `null_matches` says otherwise.
    """

    def __init__(
        self,
        left: JoinSide,
        coverage: JoinSide,
        rows_at_once: int = PAIRS_AT_ONCE,
    ) -> None:
        self._left = left
        self._rows_at_once = rows_at_once
        self._chains = Chains(1)
        self._rows = rows_of_side(left, 0)
        self._coverage = KeyCoverage(coverage, self._chains, COVERAGE)
        self._opened = LoopRoom(np.int32, lambda: len(self._rows.kept().records))
        self.state = DeclaredState(
            left=SideState(self._rows, self._chains, lambda one: self._accept(one)[0], port=LEFT),
            coverage=self._coverage,
            keys=KeyState(self._chains, [self._rows], self._coverage.move),
            opened=self._opened,
        )

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Rows that enter or leave the result in this step."""
        left, coverage = inputs
        results: list[Block] = []
        incoming = no_rows()
        if left:
            incoming, free = self._accept(concatenated(left))
            results.append(free)
        changes = self._coverage.changes(coverage, clock)
        kept, heads, counts = self._rows.kept(), self._chains.heads, self._coverage.counts
        found = portions(
            lambda cursor, pairs: uncovered(incoming, kept, changes, heads, counts, cursor, pairs),
            len(incoming.ts),
            len(changes.ts),
            self._rows_at_once,
        )
        results += [block for pairs in found for block in self._blocks(pairs)]
        self._coverage.drop_unused(
            np.concatenate([self._rows.expire(incoming, clock, heads), changes.key])
        )
        return results

    @property
    def structures(self) -> tuple[str, ...]:
        """The place of the left rows; of the right side, only which keys are covered is kept."""
        return (self._rows.structure,)

    def _accept(self, block: Block) -> tuple[Incoming, Block]:
        """Keep the rows that may be covered; the others, which pass, are returned as well."""
        block = self._rows.arranged(block)
        block, keys, free = self._left.parted(block)
        numbers = self._coverage.numbers(keys, fingerprints(keys, len(block)))
        passing = Block(free.columns, free.ts, free.te, free.signs)
        return self._rows.accept(block, numbers), passing

    def _blocks(self, pairs: Pairs) -> list[Block]:
        left = close_within(pairs.first, pairs.ts, pairs.te, pairs.sign, self._opened.ready())
        if not left.all():
            pairs = Pairs._make(one[left] for one in pairs)
        return stored_blocks(self._rows, pairs.first, pairs.ts, pairs.te, pairs.sign)
