"""The anti-join: rows whose key is not covered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.block import Block, concatenated, stored_blocks
from penstock.operators.join.anti_coverage import Coverage
from penstock.operators.join.anti_loops import ended_within, uncovered
from penstock.operators.join.join_chains import Chains
from penstock.operators.join.join_loops import Incoming, Pairs, keep_all
from penstock.operators.join.join_pairs import PAIRS_AT_ONCE, portions
from penstock.operators.join.join_sides import (
    block_of_table,
    no_rows,
    rows_of_side,
    shrink_sides,
    side_table,
)
from penstock.operators.operator import Inputs, Operator, Segments
from penstock.state.fingerprints import fingerprints

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from penstock.operators.division import Division
    from penstock.operators.join.join_sides import JoinSide
    from penstock.state.arrays import Ints

LEFT, COVERAGE = 0, 1
"""The ports."""


class AntiJoin(Operator):
    """Left rows (port 0) while their key is not covered.

    Coverage (port 1) is made of rows of the key columns, at every instant each at most once:
    the distinct keys of the right side. The result is strict: a row goes out when its key
    becomes covered, and comes back if the cover ends before the row does; what comes and goes out
    again in one step is sent with its interval, if it has an end. What counts is the end of each
    instant: a cover that ends while another begins changes nothing. A row with a
    NULL in its key is never covered, unless the left side's `null_matches` says otherwise.
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
        self._coverage = Coverage(coverage, self._chains)
        self._opened: Ints = np.zeros(0, np.int64)

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
            np.concatenate([self._rows.settle(incoming, clock, heads), changes.key])
        )
        return results

    def shrink(self) -> None:
        """Give back room that has been empty for a while."""
        moved = shrink_sides(self._chains, [self._rows])
        if moved is not None:
            self._coverage.move(moved)
        room = len(self._rows.kept().records)
        if len(self._opened) > room:
            self._opened = np.zeros(room, np.int64)

    def segments(self) -> Segments:
        """The left rows, which keys are covered, and when that will change."""
        return {"left": side_table(self._rows), **self._coverage.segments()}

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Go on with these rows and this coverage."""
        incoming, _ = self._accept(block_of_table(segments["left"]))
        keep_all(incoming, self._rows.kept(), self._chains.heads, LEFT)
        self._coverage.restore(segments)

    def divided(self, parts: Sequence[Segments], division: Division) -> list[Segments]:
        """Left rows and coverage, each where the other is."""
        left, coverage = division.inputs
        spreads = {"left": left, "covered": coverage, "changes": coverage}
        return division.rows(parts, spreads)

    @property
    def structures(self) -> tuple[str, ...]:
        """Where the left rows are kept; of the right side, only which keys are covered is."""
        return (self._rows.structure,)

    @property
    def state_rows(self) -> int:
        """Left rows, and what is known of coverage."""
        return len(self._rows) + len(self._coverage)

    @property
    def state_bytes(self) -> int:
        """Left rows, keys and coverage."""
        own = self._chains.nbytes + self._opened.nbytes
        return own + self._rows.nbytes + self._coverage.nbytes

    def _accept(self, block: Block) -> tuple[Incoming, Block]:
        """Keep the rows that may be covered; the others, which pass, are returned as well."""
        block = self._rows.arranged(block)
        block, keys, free = self._left.parted(block)
        numbers = self._coverage.numbers(keys, fingerprints(keys, len(block)))
        passing = Block(free.columns, free.ts, free.te, free.signs)
        return self._rows.accept(block, numbers), passing

    def _blocks(self, pairs: Pairs) -> list[Block]:
        room = len(self._rows.kept().records)
        if len(self._opened) < room:
            self._opened = np.zeros(room, np.int64)
        left = ended_within(pairs, self._opened)
        if not left.all():
            pairs = Pairs._make(one[left] for one in pairs)
        return stored_blocks(self._rows, pairs.first, pairs.ts, pairs.te, pairs.sign)
