"""The choice of how withdrawn rows are found, an index or a search: by what was less work.

Each step is charged for what it costs with the structure in use, and credited for what it would
cost with the other. When the difference has grown to the price of building the other, that is
built: so the work is never much more than twice that of knowing better from the beginning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.join.join_loops import GONE, SCANNED, TE, depths
from penstock.operators.join.withdrawal_index import ScannedWithdrawals

if TYPE_CHECKING:
    from penstock.operators.join.withdrawal_index import WithdrawalIndex
    from penstock.state.arrays import Ints

INDEX = 110.0
"""Nanoseconds for each row that is brought into an index of twins, and taken out of it."""
LOOK, FAR_LOOK = 13.0, 35.0
"""Nanoseconds for each row that is looked at: while all of them fit into the cache, and beyond."""
CACHED = 25_000
"""Rows that fit into the cache, about."""
REBUILD = 150.0
"""Nanoseconds for each row that is there when another structure is built."""
_SAMPLE = 8
_DEEPEST = 1024


class SideEffort:
    """The work of one side so far."""

    def __init__(self) -> None:
        self._excess = 0.0
        self._looks_each = 1.0

    def is_other_better(
        self, twins: WithdrawalIndex, rows: int, withdrawn: int, kept: int, records: Ints
    ) -> bool:
        """The other structure is to take over, before so many rows come or go.

        Args:
            twins: The structure in use.
            rows: How many rows come or go in the step.
            withdrawn: How many of them are negative.
            kept: How many rows are there.
            records: What is known of them, by place.
        """
        searched = self._search_cost(twins, withdrawn, records)
        used, other = (searched, rows * INDEX)[:: 1 if twins.kind == SCANNED else -1]
        self._excess = max(self._excess + used - other, 0.0)
        if self._excess <= REBUILD * kept:
            return False
        self._excess = 0.0
        return True

    def _search_cost(self, twins: WithdrawalIndex, withdrawn: int, records: Ints) -> float:
        """The cost of a search for the rows to be withdrawn."""
        if not withdrawn or not len(records):
            return 0.0
        places = np.linspace(0, len(records) - 1, _SAMPLE, dtype=np.int64)
        there = places[records[places, TE] != GONE]
        each = depths(records, there, _DEEPEST) / max(len(there), 1)
        if isinstance(twins, ScannedWithdrawals):
            # Chains may be longer than a sample of them shows.
            each = max(each, self._looks_each)
        return withdrawn * each * (LOOK if len(records) < CACHED else FAR_LOOK)

    def looked(self, twins: WithdrawalIndex, withdrawn: int) -> None:
        """After a step in which so many rows were withdrawn."""
        if isinstance(twins, ScannedWithdrawals) and withdrawn:
            self._looks_each = twins.looked_at() / withdrawn
