"""Merging: the partial forms of sub-windows, and the answer that they make together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.text import plan_text
from penstock.algebra.types import to_arrow
from penstock.operators.saved_tables import arrays_of
from penstock.planner.merged_queries import PARTS
from penstock.state.arrays import joined
from penstock.transactions.instant_plan import InstantPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.planner.merged_queries import MergedQuery
    from penstock.planner.physical.building import Choices
    from penstock.store.sub_windows.sub_window import SubWindow
    from penstock.transactions.instant_plan import Columns


class Merging:
    """A merged query that can be computed.

    Args:
        query: The query.
        choices: How its operators run.

    Attributes:
        form: The partial form as text: where it is the same, queries share what was computed.
    """

    def __init__(self, query: MergedQuery, choices: Choices | None = None) -> None:
        self.query = query
        self.form = plan_text(query.part)
        self._part = InstantPlan(query.part, query.stream.name, choices)
        self._whole = InstantPlan(query.whole, PARTS, choices)
        self._names = query.stream.schema.names
        self.schema = query.whole.schema

    def part(self, sub_window: SubWindow) -> Columns:
        """The partial form of a sub-window.

        Raises:
            DataError: A file of it is missing or damaged.
        """
        table = sub_window.table(self._names)
        if not len(table):
            return self._nothing()
        return self.part_of(tuple(arrays_of(table.select(self._names))))

    def part_of(self, columns: Columns) -> Columns:
        """The partial form of rows of the stream."""
        return self._part.rows(columns, len(columns[0])) if len(columns[0]) else self._nothing()

    def whole(self, parts: Sequence[Columns]) -> pa.Table:
        """The answer, made of partial forms: rows in the order of their values."""
        columns = tuple(joined(several) for several in zip(self._nothing(), *parts, strict=True))
        if self.query.has_copies:
            *columns_of_values, copies = columns
            rows = pa.array(np.repeat(np.arange(len(copies)), copies.to_numpy()))
            columns = (*(one.take(rows) for one in columns_of_values), copies.take(rows))
        found = self._whole.rows(columns, len(columns[0]), in_order=True)
        return pa.table(list(found), names=list(self.schema.names))

    def _nothing(self) -> Columns:
        """No partial forms."""
        return tuple(pa.array([], to_arrow(one)) for one in self.query.part.schema.types)
