"""The rows that a join of many inputs remembers: of each input, in a chain for each of its keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.patterns import Pattern
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.errors import InternalError
from penstock.operators.block import Block, concatenated
from penstock.operators.join_chains import Chains
from penstock.operators.join_loops import FIFO, Incoming, Kept, keep_all
from penstock.operators.join_sides import (
    block_of_table,
    no_rows,
    rows_of_side,
    shrink_sides,
    side_table,
)
from penstock.operators.multi_join_loops import FOREVER, enter, follow, take_out
from penstock.state.fingerprints import fingerprints
from penstock.state.rows import grown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.join_sides import JoinSide, KeptRows
    from penstock.operators.multi_join_probes import Agreements
    from penstock.state.arrays import Ints, Signs, Words

_SHARE = 20
"""Rows that have ended are forgotten when one of so many parts of a window has come since."""
_FEW = 1024
"""So many new rows are no reason to look for ended ones."""


class Index:
    """The keys over some agreements, and where the chain of each begins in each input.

    Attributes:
        ports: The column of the heads of chains that belongs to an input.
    """

    def __init__(self, inputs: Sequence[int]) -> None:
        self.ports = {one: port for port, one in enumerate(inputs)}
        self.chains = Chains(len(inputs))

    def settle(self, tables: Sequence[Table], touched: Sequence[Ints]) -> None:
        """Forget those of the keys that have no rows, and give back room."""
        if touched:
            self.chains.drop_empty(np.concatenate(touched))
        shrink_sides(self.chains, [table.kept_rows for table in tables])


@dataclass
class Table:
    """The rows of one input by one of its keys.

    All tables of an input give a row the same place. Only the first has the columns, and finds
    what negative rows withdraw.
    """

    agreements: Agreements
    index: Index
    port: int
    kept_rows: KeptRows
    words: Words
    incoming: Incoming
    kept: Kept

    @property
    def heads(self) -> Ints:
        """Where chains begin."""
        return self.index.chains.heads


def table_of(side: JoinSide, number: int, agreements: Agreements, index: Index) -> Table:
    """An empty table of an input."""
    port = index.ports[number]
    rows = rows_of_side(side, port)
    return Table(agreements, index, port, rows, np.zeros((0, 2), np.uint64), no_rows(), rows.kept())


def without_columns(side: JoinSide) -> JoinSide:
    """An input of which only times matter: what is withdrawn is found elsewhere."""
    pattern = Pattern.WK if side.pattern is Pattern.STR else side.pattern
    return replace(side, types=(), pattern=pattern)


class InputRows:
    """What is remembered of one input.

    Args:
        side: The input.
        number: Which one it is.
        agreements: To which equality class each of its key columns belongs.
        indexes: By which its rows are found, at least one.
    """

    def __init__(
        self,
        side: JoinSide,
        number: int,
        agreements: Agreements,
        indexes: Sequence[tuple[Agreements, Index]],
    ) -> None:
        self._side = side
        self._agreements = agreements
        bare = without_columns(side)
        self.tables = [
            table_of(bare if place else side, number, *one) for place, one in enumerate(indexes)
        ]
        self.first = self.tables[0]
        self.ranks: Ints = np.zeros(0, np.int64)
        self.lives: Ints = np.zeros((0, 2), np.int64)
        self._step: Block | None = None
        self._expired = BEGINNING
        self._since_expiry = 0

    def __len__(self) -> int:
        return len(self.first.kept_rows)

    def arrange(self, blocks: Sequence[Block]) -> tuple[Ints, Signs]:
        """Take the rows of a step; their times and signs, in the order they are processed in."""
        self._step = None
        if not blocks:
            return np.zeros(0, np.int64), np.zeros(0, np.int8)
        block, keys, _ = self._side.parted(self.first.kept_rows.arranged(concatenated(blocks)))
        self._step = block
        for table in self.tables:
            table.words = self.words(keys, table.agreements, len(block))
        return block.ts, block.signs

    def words(self, keys: Sequence[pa.Array], agreements: Agreements, length: int) -> Words:
        """Fingerprints of the key columns that belong to some agreements."""
        chosen = [keys[self._agreements.index(one)] for one in agreements]
        return fingerprints(chosen, length)

    def enter(self, start: int, stop: int, ranks: Ints) -> None:
        """Keep a portion of the step.

        Raises:
            InternalError: A negative row withdraws what is not there.
        """
        self._accept(start, stop)
        self.ranks = ranks
        self._since_expiry += stop - start
        first = self.first
        if first.kept.kind == FIFO:
            self.lives = np.empty((stop - start, 2), np.int64)
            self.lives[:, 0], self.lives[:, 1] = ranks, FOREVER
        else:
            self._make_room_for_lives(len(first.kept.records))
        if not enter(first.incoming, ranks, first.kept, first.heads, first.port, self.lives):
            msg = "a negative row withdraws an element that is not there"
            raise InternalError(msg)
        for table in self.tables[1:]:
            follow(table.incoming, table.kept, table.heads, table.port)
            table.incoming.place[:] = first.incoming.place

    def _make_room_for_lives(self, room: int) -> None:
        """Between portions nobody is dead, and all have been born: it is all one who is where."""
        if len(self.lives) > 2 * room:
            self.lives = self.lives[:room].copy()
        self.lives = grown(self.lives, room)

    def _accept(self, start: int, stop: int) -> None:
        """Give the rows of a portion keys and places."""
        for table in self.tables:
            if self._step is None or start == stop:
                table.incoming = no_rows()
            else:
                block = self._step.stretch(start, stop)
                if table is not self.first:
                    block = block.with_columns(())
                numbers, _ = table.index.chains.numbers(table.words[start:stop])
                table.incoming = table.kept_rows.accept(block, numbers)
            table.kept = table.kept_rows.kept()

    def settle(self, clock: int, is_eager: bool, touched: dict[int, list[Ints]]) -> None:
        """Forget what was withdrawn and, if it is worth it, what has ended at the clock.

        Keys which may have no rows now are added to `touched`, by index.
        """
        due = is_eager or self._is_due(clock)
        if due:
            self._expired, self._since_expiry = clock, 0
        for table in self.tables:
            signed = self._side.pattern is Pattern.STR and len(table.incoming.ts) > 0
            if signed:
                take_out(table.incoming, table.kept, table.heads, table.port, self.lives)
            if due or signed:
                end = clock if due else BEGINNING
                keys = table.kept_rows.settle(table.incoming, end, table.heads)
                touched.setdefault(id(table.index), []).append(keys)

    def _is_due(self, clock: int) -> bool:
        if clock == INFINITY or self._since_expiry > len(self) // _SHARE + _FEW:
            return True
        return clock - self._expired > self._side.span // _SHARE

    def spots(self, places: Ints) -> Ints:
        """Where in the first table's arrays the rows of places are."""
        at = places - self.first.kept.base
        room = len(self.first.kept.records)
        return np.where(at < room, at, at - room)

    def take(self, places: Ints) -> tuple[pa.Array, ...]:
        """The rows at places."""
        return self.first.kept_rows.take(places)

    def weights(self, places: Ints) -> list[Ints]:
        """The lengths of long strings at places, see `RowStore`."""
        return self.first.kept_rows.weights(places)

    def key_column(self, places: Ints, agreement: int) -> pa.Array:
        """The column of an agreement of the rows at places."""
        nothing = np.zeros(len(places), np.int64)
        keys = self._side.keys(Block(self.take(places), nothing, nothing))
        return keys[self._agreements.index(agreement)]

    def table(self, agreements: Agreements) -> Table:
        """The table over some agreements."""
        return next(one for one in self.tables if one.agreements == agreements)

    def content(self, clock: int) -> pa.Table:
        """The rows that have not ended at the clock."""
        table = side_table(self.first.kept_rows)
        live = table.column("_te").to_numpy() > clock
        return table if bool(live.all()) else table.filter(pa.array(live))

    def restore(self, table: pa.Table) -> None:
        """Take in saved rows; nobody meets them for being new."""
        self.arrange([block_of_table(table)])
        self._accept(0, 0 if self._step is None else len(self._step))
        for each in self.tables:
            keep_all(each.incoming, each.kept, each.heads, each.port)
        if self.first.kept.kind != FIFO:
            self.lives = np.full((len(self.first.kept.records), 2), -1, np.int64)
            self.lives[:, 1] = FOREVER

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self.lives.nbytes + sum(table.kept_rows.nbytes for table in self.tables)


def indexes_of(tables: Sequence[Sequence[Agreements]]) -> dict[Agreements, Index]:
    """An index over each combination of agreements for the inputs that need it."""
    wanted = {agreements for one in tables for agreements in one}
    return {
        agreements: Index([number for number, one in enumerate(tables) if agreements in one])
        for agreements in sorted(wanted)
    }
