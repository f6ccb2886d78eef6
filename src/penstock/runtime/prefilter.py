"""Gates: rows that all filters behind a stream's entry drop need not wait for their time.

To wait, and to be cut into steps, costs more than to be filtered. Where a stream is read by
filters only, and they let few rows pass, the others are left out when they come.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.failures import Failures
from penstock.algebra.windows import Range
from penstock.compute.evaluate import holds
from penstock.operators.stateless import FilterOperator, MapOperator
from penstock.operators.window.time_windows import TimeWindow

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from penstock.compute.datum import Truths
    from penstock.operators.block import Block
    from penstock.operators.operator import Operator
    from penstock.runtime.station import Station

WORTH = 0.25
"""A gate that lets pass a greater share is left open: rows that pass are filtered twice."""
OPEN_BLOCKS = 16
"""For so many blocks; then it is tried again."""
LEAST_ROWS = 1000
"""Fewer rows are not worth the call."""


@dataclass(frozen=True)
class _PrefilterStep:
    """A filter or, before some, a map or a window."""

    station: Station
    behind: tuple[_PrefilterStep, ...] = ()

    def passes(self, columns: Sequence[pa.Array], length: int, failures: Failures) -> Truths:
        """The rows that a filter lets pass."""
        operator = self.station.operator
        if isinstance(operator, FilterOperator):
            return holds(operator.predicate, columns, length, failures)
        if isinstance(operator, MapOperator):
            columns = [column(columns, length, failures) for column in operator.columns]
        each = (one.passes(columns, length, failures) for one in self.behind)
        return reduce(np.logical_or, each)

    def count(self, rows: int) -> None:
        """Rows that no filter lets pass."""
        self.station.count(rows, rows if self.behind else 0)
        for one in self.behind:
            one.count(rows)


class Prefilter:
    """Leaves out rows of a stream that no filter lets pass."""

    def __init__(self, entry: Station, readers: Sequence[_PrefilterStep]) -> None:
        self._entry = entry
        self._readers = readers
        self._open_for = 0

    def let_in(self, block: Block) -> Block:
        """The rows that some filter lets pass, or all."""
        if len(block) < LEAST_ROWS:
            return block
        if self._open_for:
            self._open_for -= 1
            return block
        failures = Failures()
        passes = np.zeros(len(block), np.bool_)
        for one in self._readers:
            passes |= one.passes(block.columns, len(block), failures)
        # What fails is counted by the operators, which have to see it.
        if failures.count or np.count_nonzero(passes) > WORTH * len(block):
            self._open_for = OPEN_BLOCKS
            return block
        kept = block.take(passes)
        left_out = len(block) - len(kept)
        self._entry.count(left_out, left_out)
        for one in self._readers:
            one.count(left_out)
        return kept


def _is_passed(operator: Operator) -> bool:
    """Each row passes on its own, and none vanishes."""
    if isinstance(operator, TimeWindow):
        return isinstance(operator.spec, Range) and not operator.spec.slide
    return isinstance(operator, MapOperator)


def prefilter_of(
    entry: int, readers: Sequence[Sequence[int]], stations: Sequence[Station], results: set[int]
) -> Prefilter | None:
    """The gate of a stream; None if something else than filters reads it.

    Args:
        entry: Where the stream enters.
        readers: For each node, the nodes that read it and are needed.
        stations: The stations of all nodes.
        results: The nodes whose results are wanted.
    """

    def found(number: int) -> _PrefilterStep | None:
        station = stations[number]
        if isinstance(station.operator, FilterOperator):
            # Where parts of a predicate are measured, all rows are looked at.
            return None if station.is_sampling else _PrefilterStep(station)
        if not _is_passed(station.operator) or number in results:
            return None
        behind = [found(one) for one in readers[number]]
        kept = [one for one in behind if one is not None]
        return _PrefilterStep(station, tuple(kept)) if kept and len(kept) == len(behind) else None

    direct = [found(one) for one in readers[entry]]
    kept = [one for one in direct if one is not None]
    if entry in results or not kept or len(kept) < len(direct):
        return None
    return Prefilter(stations[entry], kept)
