"""The division of rows that were read among the lanes of each delivery."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.lane_host.routable_keys import key_columns
from penstock.state.lane_hash import lanes_of
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from penstock.algebra.expressions import Expression
    from penstock.lane_host.deliveries import Delivery


@dataclass(frozen=True)
class DeliveryDivision:
    """The division of rows by a delivery.

    Args:
        first: The code of its first lane.
        lanes: How many lanes there are; a single one is `first`.
        keys: What divides the rows; None if each goes to all lanes.
    """

    first: int
    lanes: int
    keys: tuple[Expression, ...] | None

    @staticmethod
    def of(delivery: Delivery, first: int) -> DeliveryDivision:
        """The division of a delivery whose codes begin with one."""
        if delivery.route is None:
            return DeliveryDivision(first + delivery.task, 1, None)
        return DeliveryDivision(first, delivery.lanes, delivery.keys)

    @property
    def codes(self) -> range:
        """The codes of its rows."""
        return range(self.first, self.first + self.lanes)

    def shares(
        self, columns: Mapping[str, pa.Array], rows: pa.Table, own: range | None
    ) -> Iterator[tuple[int, pa.Table]]:
        """The rows of each code that has any.

        Args:
            columns: The declared columns, by which rows are divided.
            rows: The rows, as they are handed on.
            own: The codes that are wanted, if not all are.
        """
        codes = [one for one in self.codes if own is None or one in own]
        if not len(rows):
            return
        if self.keys is None or self.lanes == 1:
            yield from ((code, rows) for code in codes)
            return
        lanes = lanes_of(key_columns(self.keys, columns), len(rows), self.lanes)
        if own is not None:
            for code in codes:
                chosen = np.flatnonzero(lanes == code - self.first)
                if len(chosen):
                    yield code, rows.take(pa.array(chosen))
            return
        order = order_of(lanes)
        sorted_rows = rows.take(pa.array(order))
        ends = np.cumsum(np.bincount(lanes, minlength=self.lanes)).tolist()
        for code, start, stop in zip(codes, [0, *ends], ends, strict=False):
            if stop > start:
                yield code, sorted_rows.slice(start, stop - start)


def load_loops() -> None:
    """Load the loops by which rows are divided: those of each kind of key, and the sorting."""
    keys = [pa.array([1], type_) for type_ in (pa.int64(), pa.int32())]
    lanes_of([*keys, pa.array(["a"])], 1, 2)
    order_of(np.arange(1000)[::-1])
