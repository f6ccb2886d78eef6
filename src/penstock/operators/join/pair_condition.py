"""Conditions of a join on pairs of rows beyond equal keys, and how often they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.compute.evaluate import Evaluator, holds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from penstock.algebra.failures import Failures
    from penstock.state.arrays import Flags

    Watch = Callable[[Sequence[pa.Array], int], None]


class PairCondition:
    """Tells which pairs satisfy a condition; counts those it was asked of, and those it holds for.

    Attributes:
        tested: Pairs it was asked of, those that withdraw others included.
        held: Those of them that satisfy it.
        watch: Is shown all pairs it is asked of.
    """

    def __init__(self, predicate: Evaluator, failures: Failures) -> None:
        self._predicate = predicate
        self._failures = failures
        self.tested = 0
        self.held = 0
        self.watch: Watch | None = None

    def __call__(self, columns: Sequence[pa.Array], length: int) -> Flags:
        """The pairs, of so many, that satisfy it; the columns of the left rows come first."""
        flags = holds(self._predicate, columns, length, self._failures)
        # Counted for whole blocks: that takes a thousandth of what asking does.
        self.tested += length
        self.held += int(np.count_nonzero(flags))
        if self.watch is not None:
            self.watch(columns, length)
        return flags
