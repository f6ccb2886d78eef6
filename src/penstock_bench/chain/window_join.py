"""The join of two streams by windows of rows, as an operator of a chart."""

from __future__ import annotations

from typing import NamedTuple

from penstock.scheduling.chart import MeasuredWork


class JoinInput(NamedTuple):
    """One side of a join.

    Args:
        rate: Rows that come in a unit of the streams' time.
        partners: Rows in the other window that a row joins.
        time: For a row: to compare heads, probe, send results, keep it.
    """

    rate: float
    partners: float
    time: float


def join_cost(left: JoinInput, right: JoinInput) -> MeasuredWork:
    """The cost of a row of either side: the same on the paths of both.

    >>> join_cost(JoinInput(2, 0.5, 10), JoinInput(1, 2, 40))
    MeasuredWork(time=20.0, selectivity=1.0)
    """
    rate = left.rate + right.rate
    return MeasuredWork(
        (left.rate * left.time + right.rate * right.time) / rate,
        (left.rate * left.partners + right.rate * right.partners) / rate,
    )
