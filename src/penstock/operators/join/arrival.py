"""Streams that read a non-retroactive relation: each row once, as the relation is when it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import pyarrow as pa

from penstock.errors import InternalError
from penstock.operators.block import Block, rows_by_time
from penstock.operators.declared_state.state_part import DeclaredState
from penstock.operators.join.join_chains import Chains
from penstock.operators.join.join_loops import NOT_KEPT, Incoming, SideRows
from penstock.operators.join.join_pairs import PAIRS_AT_ONCE, pairs_of_step
from penstock.operators.join.join_sides import accept_rows, no_rows, rows_of_side
from penstock.operators.join.matching import Matching
from penstock.operators.join.side_state import KeyState, SideState
from penstock.state.arrays import joined
from penstock.state.cutting import portions_of_text
from penstock.state.fingerprints import fingerprints
from penstock.state.keys import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.operators.join.join import Residual
    from penstock.operators.join.join_loops import Pairs
    from penstock.operators.join.join_sides import JoinSide
    from penstock.operators.operator import Inputs
    from penstock.state.arrays import Ints

    Matches = Iterator[tuple[Ints, tuple[pa.Array, ...]]]
    """Stream rows by number, and the columns of the relation row that each matched."""

Mode = Literal["join", "semi", "anti", "aggregate"]
_NOTHING = np.zeros((0, 4), np.int64)
_STREAM = SideRows(_NOTHING, _NOTHING, _NOTHING, 0, 0, NOT_KEPT)


class Fold(Protocol):
    """Aggregates over the relation rows that each stream row matched."""

    def __call__(
        self, numbers: Ints, columns: tuple[pa.Array, ...], rows: int
    ) -> tuple[pa.Array, ...]:
        """Columns with one value for each stream row, numbered from 0 to before `rows`.

        Row i of `columns` is a relation row that stream row `numbers[i]` matched.
        """


class ReadOnArrival(Matching):
    """Stream rows (port 0) meet the relation (port 1) as it is at their own ts.

    Changes of the relation at that instant are seen. Results keep the interval of the stream row,
    whatever happens to the relation later, so nothing is remembered of the stream. They are, by
    mode: each stream row with each relation row it matches ("join"), the stream rows that match
    ("semi") or do not ("anti"), or each stream row with the values of `fold` ("aggregate"). The
    residual condition is given the columns of the stream, then those of the relation.
    """

    def __init__(
        self,
        stream: JoinSide,
        relation: JoinSide,
        mode: Mode,
        residual: Residual | None = None,
        fold: Fold | None = None,
        pairs_at_once: int = PAIRS_AT_ONCE,
    ) -> None:
        if (mode == "aggregate") != (fold is not None):
            msg = "a fold belongs to mode aggregate, and to no other"
            raise InternalError(msg)
        self._stream = stream
        self._relation = relation
        self._mode = mode
        self._residual = residual
        self._fold = fold
        self._pairs_at_once = pairs_at_once
        self._chains = Chains(2)
        self._rows = rows_of_side(relation, 0)
        self.state = DeclaredState(
            relation=SideState(
                self._rows, self._chains, lambda block: self._accept([block]), port=1
            ),
            keys=KeyState(self._chains, [self._rows]),
        )

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Answer the stream rows of this step."""
        stream, changes = inputs
        arrived = self._accept(changes)
        results: list[Block] = []
        rows = rows_by_time(stream)
        if rows is not None:
            results = self._answer(rows, self._matches(arrived, rows))
        else:
            self._apply(arrived)
        self._chains.drop_empty(self._rows.expire(arrived, clock, self._chains.heads))
        return results

    def _accept(self, changes: Sequence[Block]) -> Incoming:
        """Bring changes into the relation."""
        return accept_rows(self._relation, self._rows, self._chains, changes)

    def _answer(self, rows: Block, matches: Matches) -> list[Block]:
        if self._mode == "join":
            return [_beside(rows.take(numbers), columns) for numbers, columns in matches]
        if self._fold is not None:
            return [_beside(rows, self._folded(self._fold, rows, matches))]
        matched = np.zeros(len(rows), np.bool_)
        for numbers, _ in matches:
            matched[numbers] = True
        return [rows.take(matched if self._mode == "semi" else ~matched)]

    def _folded(self, fold: Fold, rows: Block, matches: Matches) -> tuple[pa.Array, ...]:
        none = np.zeros(0, np.int64)
        found = [(none, self._rows.take(none)), *matches]
        columns = zip(*(columns for _, columns in found), strict=True)
        return fold(
            np.concatenate([numbers for numbers, _ in found]),
            tuple(joined(parts) for parts in columns),
            len(rows),
        )

    def _apply(self, arrived: Incoming) -> None:
        """Changes of the relation that no stream row asks about in this step."""
        for _ in self._pairs(arrived, no_rows()):
            pass

    def _matches(self, arrived: Incoming, rows: Block) -> Matches:
        for pairs in self._pairs(arrived, self._known_rows(rows)):
            weights = [*rows.weights(pairs.second), *self._rows.weights(pairs.first)]
            for part in portions_of_text(len(pairs.ts), weights):
                yield self._matching(rows, pairs.second[part], pairs.first[part])

    def _matching(
        self, rows: Block, numbers: Ints, places: Ints
    ) -> tuple[Ints, tuple[pa.Array, ...]]:
        """Of pairs of stream and relation rows those that satisfy the residual condition."""
        columns = self._rows.take(places)
        if self._residual is None:
            return numbers, columns
        both = (*rows.take(numbers).columns, *columns)
        holds = np.flatnonzero(self._residual(both, len(numbers)))
        return numbers[holds], tuple(one.take(pa.array(holds)) for one in columns)

    def _pairs(self, arrived: Incoming, asking: Incoming) -> Iterator[Pairs]:
        # The relation is the first side: its changes come before stream rows of the instant.
        relation = arrived, self._rows.kept()
        return pairs_of_step(relation, (asking, _STREAM), self._chains.heads, self._pairs_at_once)

    def _known_rows(self, rows: Block) -> Incoming:
        """The stream rows whose key the relation has; their place is their number."""
        keys = self._stream.keys(rows)
        known = self._chains.index.find(fingerprints(keys, len(rows)))
        lost = self._stream.lost(keys, len(rows))
        if lost is not None:
            known[lost] = UNKNOWN
        numbers = np.flatnonzero(known != UNKNOWN)
        ts, te = rows.ts[numbers], rows.te[numbers]
        signs = np.ones(len(numbers), np.int8)
        return Incoming(ts, te, signs, known[numbers], numbers, numbers[:0])


def _beside(rows: Block, columns: tuple[pa.Array, ...]) -> Block:
    return rows.with_columns((*rows.columns, *columns))
