"""State of joins: the rows of sides, the keys that their chains begin at, and room for loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.declared_state.state_part import RowsPart, StatePart
from penstock.operators.join.join_loops import keep_all
from penstock.operators.join.join_sides import block_of_table, table_of_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt
    import pyarrow as pa

    from penstock.operators.block import Block
    from penstock.operators.join.join_chains import Chains
    from penstock.operators.join.join_loops import Incoming
    from penstock.operators.join.join_sides import SideStore
    from penstock.state.moving import Moved


class SideState(RowsPart):
    """The rows that are kept of one side.

    Args:
        rows: The structure they are in.
        chains: Where the rows of each key begin.
        accept: Brings rows of a block into the structure.
        port: The input that they are rows of; None: results.
        head: The column of the side among the heads of chains.
        by_key: Whether only keys can say where they go.
    """

    def __init__(
        self,
        rows: SideStore,
        chains: Chains,
        accept: Callable[[Block], Incoming],
        *,
        port: int | None,
        head: int = 0,
        by_key: bool = False,
    ) -> None:
        self._rows = rows
        self._chains = chains
        self._accept = accept
        self._head = head
        self.port = port
        self.by_key = by_key

    def table(self) -> pa.Table:
        """Their columns, then their ends."""
        return table_of_rows(*self._rows.contents())

    def take_back(self, table: pa.Table) -> None:
        """Keep the rows; what was there together has met before."""
        incoming = self._accept(block_of_table(table))
        keep_all(incoming, self._rows.kept(), self._chains.heads, self._head)

    def shrink(self) -> None:
        """Give back room that has been empty for a while."""
        self._rows.shrink(self._chains.heads)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self._rows.nbytes


class KeyState(StatePart):
    """The keys of all sides, which follow from their rows.

    Args:
        chains: The keys.
        sides: The structures that name keys by number.
        moves: Is told when keys have been given other numbers.
    """

    def __init__(
        self,
        chains: Chains,
        sides: Sequence[SideStore],
        moves: Callable[[Moved], None] | None = None,
    ) -> None:
        self._chains = chains
        self._sides = sides
        self._moves = moves

    def shrink(self) -> None:
        """Give back room that has been empty for a while."""
        if not self._chains.is_spacious:
            return
        moved = self._chains.compact()
        for rows in self._sides:
            rows.renumber_keys(moved.numbers)
        if self._moves is not None:
            self._moves(moved)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self._chains.nbytes


class LoopRoom(StatePart):
    """Numbers that loops write to and leave at zero: as many as something else has entries."""

    def __init__(self, dtype: npt.DTypeLike, entries: Callable[[], int]) -> None:
        self._entries = entries
        self._values = np.zeros(0, dtype)

    def ready(self) -> npt.NDArray[np.signedinteger]:
        """Zeros, at least as many as there are entries now."""
        if len(self._values) < self._entries():
            self._values = np.zeros(self._entries(), self._values.dtype)
        return self._values

    def shrink(self) -> None:
        """Give back room that has been empty for a while."""
        if len(self._values) > 2 * self._entries():
            self._values = self._values[: self._entries()].copy()

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self._values.nbytes
