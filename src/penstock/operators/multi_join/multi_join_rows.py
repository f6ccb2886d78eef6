"""The rows that a join of many inputs remembers of one of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from penstock.algebra.patterns import Pattern
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.errors import InternalError
from penstock.operators.block import Block, concatenated
from penstock.operators.declared_state.state_part import RowsPart
from penstock.operators.join.join_loops import FIFO
from penstock.operators.join.join_sides import block_of_table, rows_of_side, table_of_rows
from penstock.operators.multi_join.multi_join_columns import Gathered
from penstock.operators.multi_join.multi_join_loops import FOREVER, enter
from penstock.operators.multi_join.multi_join_tables import CODES, PORT, Table
from penstock.state.fingerprints import fingerprints
from penstock.state.row_store import grown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.join.join_sides import JoinSide
    from penstock.operators.multi_join.multi_join_columns import ColumnsAt
    from penstock.operators.multi_join.multi_join_probes import Agreements
    from penstock.state.arrays import Ints, Signs, Words

_SHARE = 20
"""Rows that have ended are forgotten when one of so many parts of a window has come since."""
_FEW = 1024
"""So many new rows are no reason to look for ended ones."""


@dataclass(frozen=True)
class Sizing:
    """The number of rows an input will have, about, and of buckets, if that is given."""

    expected: int = 0
    buckets: int | None = None


class InputRows(RowsPart):
    """The rows that are remembered of one input.

    All its tables give a row the same place. Only the first has the columns, and finds what
    negative rows withdraw.

    Args:
        port: Which input it is.
        side: The input.
        agreements: To which equality class each of its key columns belongs.
        keys: By which its rows are to be found, at least one: some of its agreements.
        sizing: How large its tables are.

    Attributes:
        clock: How far steps have come.
        ranks: Of the rows of the portion.
        entered: How many of these are kept; the others withdraw some.
        lives: Between which ranks kept rows are there; of a FIFO those of the portion.
    """

    def __init__(
        self,
        port: int,
        side: JoinSide,
        agreements: Agreements,
        keys: Sequence[Agreements],
        sizing: Sizing,
    ) -> None:
        self.port: int = port
        self.clock = BEGINNING
        self._side = side
        self._agreements = agreements
        self.tables = [_table(side, key, place == 0, sizing) for place, key in enumerate(keys)]
        self.first = self.tables[0]
        self.ranks: Ints = np.zeros(0, np.int64)
        self.entered = 0
        self.lives: Ints = np.zeros((0, 2), np.int64)
        self._expired = BEGINNING
        self._since_expiry = 0

    def __len__(self) -> int:
        return len(self.first.rows)

    def arrange(self, blocks: Sequence[Block]) -> tuple[Ints, Signs]:
        """Take the rows of a step; their times and signs, in the order they are processed in."""
        if not blocks:
            return np.zeros(0, np.int64), np.zeros(0, np.int8)
        block, keys, _ = self._side.parted(self.first.rows.arranged(concatenated(blocks)))
        for table in self.tables:
            table.arrange(block, self._words(keys, table.agreements, len(block)))
        return block.ts, block.signs

    def _words(self, keys: Sequence[pa.Array], agreements: Agreements, length: int) -> Words:
        """Fingerprints of the key columns that belong to some agreements."""
        return fingerprints([keys[self._agreements.index(one)] for one in agreements], length)

    def enter(self, start: int, stop: int, ranks: Ints) -> None:
        """Keep a portion of the step.

        Raises:
            InternalError: A negative row withdraws what is not there.
        """
        before = len(self)
        for table in self.tables:
            table.accept(start, stop)
        self.ranks, self.entered = ranks, len(self) - before
        self._since_expiry += stop - start
        first = self.first
        if first.kept.kind == FIFO:
            self.lives = np.empty((stop - start, 2), np.int64)
            self.lives[:, 0], self.lives[:, 1] = ranks, FOREVER
        else:
            self._make_room_for_lives(len(first.kept.records))
        if not enter(first.incoming, ranks, first.kept, first.heads, PORT, self.lives):
            msg = "a negative row withdraws an element that is not there"
            raise InternalError(msg)
        for table in self.tables[1:]:
            table.follow(first.incoming.place)

    def _make_room_for_lives(self, room: int) -> None:
        """Between portions nobody is dead, and all have been born: it is all one who is where."""
        if len(self.lives) > 2 * room:
            self.lives = self.lives[:room].copy()
        self.lives = grown(self.lives, room)

    def expire(self, clock: int, is_eager: bool) -> None:
        """Forget what was withdrawn and, if it is worth it, what has ended at the clock."""
        is_due = is_eager or self._is_due(clock)
        if is_due:
            self._expired, self._since_expiry = clock, 0
        elif self._side.pattern is not Pattern.STR or not len(self.first.incoming.ts):
            return
        for table in self.tables:
            table.expire(clock if is_due else BEGINNING, self.lives)
            table.shrink()

    def shrink(self) -> None:
        """Give back room that has been empty for a while."""
        for table in self.tables:
            table.shrink()

    def _is_due(self, clock: int) -> bool:
        if clock == INFINITY or self._since_expiry > len(self) // _SHARE + _FEW:
            return True
        return clock - self._expired > self._side.span // _SHARE

    def spots(self, places: Ints) -> Ints:
        """The spots of the rows of places in the arrays of tables."""
        at, room = places - self.first.kept.base, len(self.first.kept.records)
        return np.where(at < room, at, at - room)

    def take(self, places: Ints) -> tuple[pa.Array, ...]:
        """The rows at places."""
        return self.first.rows.take(places, self.first.width)

    def weights(self, places: Ints) -> list[Ints]:
        """The lengths of long strings at places, see `RowStore`."""
        return self.first.rows.weights(places)

    def key_column(self, places: Ints, agreement: int) -> pa.Array:
        """The column of an agreement of the rows at places."""
        nothing = np.zeros(len(places), np.int64)
        # It is read as a tuple is, and only where the keys read it.
        columns = cast("tuple[pa.Array, ...]", Gathered([self.columns_at(places)]))
        keys = self._side.keys(Block(columns, nothing, nothing))
        return keys[self._agreements.index(agreement)]

    def columns_at(self, places: Ints) -> ColumnsAt:
        """The number of columns, and what gathers one of them, of the rows at places."""
        return self.first.width, lambda number: self.first.rows.column(number, places)

    def table_over(self, agreements: Agreements) -> Table:
        """The table over some agreements."""
        return next(one for one in self.tables if one.agreements == agreements)

    def table(self) -> pa.Table:
        """The rows that have not ended at the clock."""
        columns, ends = self.first.rows.contents()
        table = table_of_rows(columns[: self.first.width], ends)
        live = ends > self.clock
        return table if bool(live.all()) else table.filter(pa.array(live))

    def take_back(self, table: pa.Table) -> None:
        """Take in saved rows; nobody meets them for being new."""
        ts, _ = self.arrange([block_of_table(table)])
        for each in self.tables:
            each.accept(0, len(ts))
            each.keep_all()
        if self.first.kept.kind != FIFO:
            self.lives = np.full((len(self.first.kept.records), 2), -1, np.int64)
            self.lives[:, 1] = FOREVER

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self.lives.nbytes + sum(table.nbytes for table in self.tables)


def _table(side: JoinSide, key: Agreements, is_first: bool, sizing: Sizing) -> Table:
    """An empty table of an input; all but the first only know the times of rows."""
    pattern = side.pattern
    if not is_first and pattern is Pattern.STR:
        # What is withdrawn is found by the first.
        pattern = Pattern.WK
    types = side.types if is_first else ()
    rows = rows_of_side(replace(side, types=(*types, *CODES), pattern=pattern), PORT)
    return Table(key, rows, len(types), sizing.expected, sizing.buckets)
