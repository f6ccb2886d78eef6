"""A row of numbers per group slot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.state.row_store import grown

if TYPE_CHECKING:
    from penstock.state.moving import Moved

FIRST = 16


class GroupSlots:
    """`width` numbers for each group slot, all zero for a group without rows.

    >>> slots = GroupSlots(2)
    >>> slots.reach(1)
    >>> slots.rows[0] = 5, 6
    >>> slots.table().to_pydict(), slots.in_use
    ({'group': [0], 'n0': [5], 'n1': [6]}, 1)
    """

    def __init__(self, width: int = 1, dtype: type[np.int64 | np.uint64] = np.int64) -> None:
        self.rows: npt.NDArray[Any] = np.zeros((FIRST, width), dtype)

    def reach(self, slots: int) -> None:
        """Make room."""
        self.rows = grown(self.rows, slots)

    def move(self, moved: Moved) -> None:
        """Groups have been given other slots; those not reached have only zeros."""
        reached = moved.kept[moved.kept < len(self.rows)]
        self.rows = grown(self.rows[reached], FIRST)

    @property
    def in_use(self) -> int:
        """The number of groups with a number other than zero."""
        return len(self._used())

    @property
    def nbytes(self) -> int:
        """Memory allocated."""
        return int(self.rows.nbytes)

    def _used(self) -> npt.NDArray[np.intp]:
        return np.flatnonzero(self.rows.any(axis=1))

    def table(self) -> pa.Table:
        """The groups in use."""
        used = self._used()
        columns = {f"n{i}": self.rows[used, i] for i in range(self.rows.shape[1])}
        return pa.table({"group": used.astype(np.int64), **columns})

    def restore(self, table: pa.Table) -> None:
        """Take back a table."""
        groups = table["group"].to_numpy()
        self.rows = np.zeros_like(self.rows)
        self.reach(int(groups.max(initial=-1)) + 1)
        for i in range(self.rows.shape[1]):
            self.rows[groups, i] = table[f"n{i}"].to_numpy()
