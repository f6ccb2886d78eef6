"""Looking at some of the rows that pass: how many values columns have, what predicates let pass.

Looking takes a share of a lane's time, and no more: when it has taken too much, rows pass unseen
until the lane has worked for longer. What was seen is only in memory, and nothing depends on it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.failures import Failures
from penstock.algebra.positions import positions
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.compute.evaluate import compile_expression, holds
from penstock.operators.block import Block
from penstock.runtime.operator_report import StreamReport
from penstock.state.arrays import validity_of
from penstock.state.lane_hash import hashes_of
from penstock.state.sketches import Sketch

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import pyarrow as pa

    from penstock.planner.physical.graph import Predicate

SHARE = 0.002
"""Of a lane's time, for looking."""
FREE_LOOKS = 4
"""The first looks do not ask for the time: what little comes is to be seen, too."""
SAMPLE = 1024
"""Rows that are looked at together; more cost more, fewer are not worth the call."""


@dataclass
class Budget:
    """The time that a lane has worked, and that it has looked."""

    worked: float = 0.0
    looked: float = 0.0

    @property
    def is_left(self) -> bool:
        """There is time to look."""
        return self.looked <= SHARE * self.worked


class Looks:
    """Looks at a sample of the rows of a block, if there is time."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._done = 0
        # Seeded, so that runs differ by no more than the time they have.
        self._random = np.random.default_rng(0)

    def at(self, block: Block) -> None:
        """Look at some rows of a block, or at none."""
        is_free = self._done < FREE_LOOKS
        if not len(block) or not (is_free or self._budget.is_left):
            return
        began = time.perf_counter()
        self._look(sample(block, self._random))
        self._done += 1
        # A first look may have to compile loops: that says nothing about looking.
        if not is_free:
            self._budget.looked += time.perf_counter() - began

    def _look(self, rows: Block) -> None:
        raise NotImplementedError


class StreamMeter(Looks):
    """The rows of a stream that come into a lane: how many, when, and how many values they have."""

    def __init__(self, name: str, columns: tuple[str, ...], budget: Budget) -> None:
        super().__init__(budget)
        self._name = name
        self._columns = columns
        self._sketches = [Sketch() for _ in columns]
        self._rows = 0
        self._first = INFINITY
        self._latest = BEGINNING

    def take_in(self, block: Block, watermark: int) -> None:
        """Rows that are not late."""
        if not len(block):
            return
        self._rows += len(block)
        self._latest = max(self._latest, int(block.ts.max()))
        if watermark < self._first:
            self._first = min(self._first, int(block.ts.min()))
        self.at(block)

    def _look(self, rows: Block) -> None:
        for sketch, column in zip(self._sketches, rows.columns, strict=True):
            valid = validity_of(column)
            hashes = hashes_of([column], len(rows))
            sketch.add(hashes if valid is None else hashes[valid])

    def report(self, whole: Collection[str]) -> StreamReport | None:
        """The rows that have come; None before the first."""
        if not self._rows:
            return None
        named = zip(self._columns, self._sketches, strict=True)
        columns = {name: sketch.to_json() for name, sketch in named}
        is_whole = self._name in whole
        return StreamReport(self._name, self._rows, self._first, self._latest, is_whole, columns)


class PredicateMeter(Looks):
    """Of how many rows each part of a predicate lets how many pass, apart from the other parts."""

    def __init__(self, predicate: Predicate, budget: Budget) -> None:
        super().__init__(budget)
        schema = positions(predicate.types)
        self._parts = {key: compile_expression(part, schema) for key, part in predicate.parts}
        self._passed = dict.fromkeys(self._parts, 0)
        self._rows = 0

    def at_pairs(self, columns: Sequence[pa.Array], length: int) -> None:
        """Look at some pairs of rows, which have no time of their own yet."""
        never = np.zeros(length, np.int64)
        self.at(Block(tuple(columns), never, never))

    def _look(self, rows: Block) -> None:
        self._rows += len(rows)
        for key, part in self._parts.items():
            # What fails here is counted where it counts.
            flags = holds(part, rows.columns, len(rows), Failures())
            self._passed[key] += int(np.count_nonzero(flags))

    def report(self) -> dict[str, tuple[int, int]]:
        """By part: rows that were looked at, and rows that passed."""
        return {key: (self._rows, passed) for key, passed in self._passed.items()}


def sample(block: Block, random: np.random.Generator) -> Block:
    """Rows from all over a block, at uneven distances: what is periodic is not missed."""
    if len(block) <= SAMPLE:
        return block
    starts = np.arange(SAMPLE, dtype=np.int64) * len(block) // SAMPLE
    return block.take(starts + random.integers(0, len(block) // SAMPLE, SAMPLE))
