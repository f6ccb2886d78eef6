"""The rows that one side of a join remembers, in the structure that suits its update pattern."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa

from penstock.algebra.patterns import Pattern
from penstock.algebra.time import BEGINNING
from penstock.operators.block import Block, concatenated
from penstock.operators.join.join_fifo import FifoSide
from penstock.operators.join.join_loops import Incoming
from penstock.operators.join.join_loose import LooseSide
from penstock.operators.saved_tables import arrays_of
from penstock.state.expiry import DEFAULT_PARTITIONS
from penstock.state.fingerprints import any_null, fingerprints

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.operators.join.join_chains import Chains
    from penstock.operators.join.join_loops import SideRows
    from penstock.state.arrays import Flags, Ints, Values, Words


@dataclass(frozen=True)
class JoinSide:
    """One input of a join.

    `keys` gives the key columns of a block; the other side's have the same types. A row with a
    NULL in a key column never matches, unless `null_matches` says that this column is compared
    by IS NOT DISTINCT FROM. `span` is how long its rows live, about, and `partitions` into how
    many parts a calendar queue divides that time.
    """

    types: Sequence[pa.DataType]
    keys: Callable[[Block], Sequence[pa.Array]]
    null_matches: tuple[bool, ...]
    pattern: Pattern
    span: int = 1 << 20
    partitions: int = DEFAULT_PARTITIONS

    def lost(self, keys: Sequence[pa.Array], length: int) -> Flags | None:
        """The rows that can never match because of a NULL; None if there are none."""
        compared = [key for key, null in zip(keys, self.null_matches, strict=True) if not null]
        return any_null(compared, length)

    def parted(self, block: Block) -> tuple[Block, Sequence[pa.Array], Block]:
        """The rows that can match, their keys, and the others."""
        keys = self.keys(block)
        lost = self.lost(keys, len(block))
        if lost is None:
            return block, keys, block.stretch(0, 0)
        chosen = block.take(~lost)
        return chosen, self.keys(chosen), block.take(lost)

    def matchable(self, block: Block) -> tuple[Block, Words]:
        """The rows that can match, and the fingerprints of their keys."""
        block, keys, _ = self.parted(block)
        return block, fingerprints(keys, len(block))


class SideStore(Protocol):
    """The remembered rows of one side."""

    def arranged(self, block: Block) -> Block:
        """The rows of a step in the order in which they are to be processed."""

    def accept(self, block: Block, keys: Ints) -> Incoming:
        """Make room for the positive rows of an arranged block and write them there."""

    def kept(self) -> SideRows:
        """The arrays that the loops work on."""

    def due(self, incoming: Incoming, clock: int) -> tuple[Ints, Ints]:
        """Ends before the clock, by time, and where the rows are; the rows of the step included.

        Where rows are withdrawn, some may be gone. Those that are not, `expire` forgets.
        """

    def expire(self, incoming: Incoming, clock: int, heads: Ints) -> Ints:
        """Forget what was withdrawn or ended at the clock; keys which may have no rows now."""

    def shrink(self, heads: Ints) -> None:
        """Give back room that has been empty for a while."""

    def renumber_keys(self, numbers: Ints) -> None:
        """Key k has become key `numbers[k]`; between two steps."""

    def take(self, places: Ints, width: int | None = None) -> tuple[pa.Array, ...]:
        """The rows at places; `width`: only so many columns, the first ones."""

    def column(self, number: int, places: Ints) -> pa.Array:
        """A column of the rows at places."""

    def values(self, number: int) -> Values:
        """The values of columns of one width at all places."""

    def live(self) -> Ints:
        """The places that are in use; between two steps."""

    def weights(self, places: Ints) -> list[Ints]:
        """The lengths of long strings at places, see `RowStore`."""

    def contents(self) -> tuple[tuple[pa.Array, ...], Ints]:
        """All rows and their ends."""

    def __len__(self) -> int:
        """The number of rows."""

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""

    @property
    def structure(self) -> str:
        """The structure that keeps them now, in the words of EXPLAIN."""


def rows_of_side(side: JoinSide, port: int) -> SideStore:
    """An empty structure for a side; `port` is its column in the heads of chains."""
    if side.pattern in (Pattern.MON, Pattern.WKS):
        return FifoSide(side.types, port)
    strict = side.pattern is Pattern.STR
    return LooseSide(side.types, port, side.span, side.partitions, strict=strict)


def table_of_rows(columns: Sequence[pa.Array], ends: Ints) -> pa.Table:
    """Rows as a table: their columns, then their ends."""
    names = [*(f"c{number}" for number in range(len(columns))), "_te"]
    return pa.table([*columns, pa.array(ends)], names=names)


def block_of_table(table: pa.Table) -> Block:
    """The rows of a saved side; they have been there from the beginning."""
    *columns, ends = arrays_of(table)
    te = ends.to_numpy()
    return Block(tuple(columns), np.full(len(te), BEGINNING, np.int64), te)


def no_rows() -> Incoming:
    """A step in which nothing comes."""
    nothing = np.zeros(0, np.int64)
    return Incoming(nothing, nothing, np.zeros(0, np.int8), nothing, nothing, nothing)


def accept_rows(
    side: JoinSide, kept: SideStore, chains: Chains, blocks: Sequence[Block]
) -> Incoming:
    """Bring the rows of a step that can match into a side."""
    if not blocks:
        return no_rows()
    block, words = side.matchable(kept.arranged(concatenated(blocks)))
    numbers, _ = chains.numbers(words)
    return kept.accept(block, numbers)
