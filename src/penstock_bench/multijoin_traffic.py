"""Streams as in the paper on multi-joins: one row in each step of time, of a random stream.

A stream's share of rows is its rate. In a unit of time come as many rows as the rates add up to.
The values of a stream are equally frequent, and all among those of streams that have more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.block import Block
from penstock.planner.cost.join_model import JoinModel, Side
from penstock_bench.data import SEED

if TYPE_CHECKING:
    from penstock.state.arrays import Ints

VALUE, INSTANT = pa.int64(), pa.int64()
"""The columns of a row: what is joined by, and when it came."""


@dataclass(frozen=True)
class TrafficStep:
    """Rows of each stream that come at once, and the instant behind them.

    Args:
        owners: The stream of each row, in the order in which they came.
        rows: What each is joined by, and when it came, in this order.
    """

    blocks: tuple[Block, ...]
    owners: Ints
    rows: Ints
    clock: int


@dataclass(frozen=True)
class StreamTraffic:
    """Streams and the windows over them.

    Args:
        rates: Rows of each stream in a unit of time.
        windows: The length of each window, in units of time.
        values: How many values each stream has.
        step_rows: Rows of all streams that come at once.
    """

    rates: tuple[int, ...]
    windows: tuple[int, ...]
    values: tuple[int, ...]
    step_rows: int

    @property
    def unit(self) -> int:
        """Instants of a unit of time: a row comes in each."""
        return sum(self.rates)

    @property
    def lengths(self) -> tuple[int, ...]:
        """The length of each window, in instants."""
        return tuple(window * self.unit for window in self.windows)

    @property
    def live(self) -> tuple[int, ...]:
        """The number of rows that each window holds."""
        return tuple(a * b for a, b in zip(self.rates, self.windows, strict=True))

    @property
    def steps_to_fill(self) -> int:
        """After so many steps all windows are full."""
        return -(-max(self.lengths) // self.step_rows)

    def scaled(self, by: int) -> StreamTraffic:
        """Windows that are longer, and as many more values: a row finds as many others."""
        windows = tuple(by * one for one in self.windows)
        return replace(self, windows=windows, values=tuple(by * one for one in self.values))

    def every(self, units: float) -> StreamTraffic:
        """The same with rows that come together for so many units of time."""
        return replace(self, step_rows=max(round(units * self.unit), 1))

    def step(self, number: int) -> TrafficStep:
        """The rows of a step, the same each time."""
        random = np.random.default_rng([SEED, number])
        shares = np.cumsum(self.rates) / self.unit
        owners = np.searchsorted(shares, random.random(self.step_rows), side="right")
        room = np.array(self.values)[owners]
        values = (random.random(self.step_rows) * room).astype(np.int64)
        instants = number * self.step_rows + np.arange(self.step_rows)
        blocks = []
        for stream, length in enumerate(self.lengths):
            here = np.flatnonzero(owners == stream)
            ts = instants[here]
            columns = (pa.array(values[here]), pa.array(ts))
            blocks.append(Block(columns, ts, ts + length))
        rows = np.stack([values, instants], axis=1)
        return TrafficStep(tuple(blocks), owners, rows, (number + 1) * self.step_rows)

    def model(self, buckets: tuple[float | None, ...]) -> JoinModel:
        """The cost model of a join of the windows."""
        each = zip(self.rates, self.live, self.values, buckets, strict=True)
        return JoinModel([Side(a, b, {0: float(c)}, count) for a, b, c, count in each])


TABLE_5 = StreamTraffic((10, 1, 1, 3), (100, 100, 200, 100), (500, 50, 40, 5), 15)
"""The parameters with which the paper measures orders."""


def alike(count: int, window: int, values: int, step_rows: int) -> StreamTraffic:
    """Windows that are all the same."""
    return StreamTraffic((1,) * count, (window,) * count, (values,) * count, step_rows)
