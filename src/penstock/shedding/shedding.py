"""Shedding: which rows of a stream are left out because lanes have too much to do.

Who decides says one in how many rows may stay. Which ones these are depends on that and on the rows
of the stream that come together, and on nothing else: not on their order, lanes, or the engine.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.shedding.intake_rules import RANDOM, SEMANTIC
from penstock.state.arrays import validity_of
from penstock.state.lane_hash import hashes_of
from penstock.state.xxhash import hash_longs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.shedding.columns import SheddingColumns
    from penstock.state.arrays import Flags, Ints, Words

SHED = "shed"
"""The kind of rows that were left out, among those that are not taken in."""
MOST_ONE_IN = 1024
"""At least one row in so many stays, so that the others can be told from them."""
_MAX = (1 << 63) - 1


@dataclass(frozen=True)
class Shedding:
    """A decision for the rows that come together.

    Args:
        kind: `random`, or `semantic`.
        one_in: One row in so many may stay.
        keeps_rows: Whether those that are left out are kept aside.
    """

    kind: str
    one_in: int
    keeps_rows: bool = False

    @property
    def least_utility(self) -> float:
        """Rows below it are left out, if they are by how useful they are."""
        return 1 - 1 / self.one_in

    @property
    def reason(self) -> str:
        """The reason, for people."""
        if self.kind == RANDOM:
            return f"shed: one row in {self.one_in} was kept"
        return f"shed: its utility is below {self.least_utility:.10g}"

    def stay(
        self, columns: Sequence[pa.Array], rows: int, own: SheddingColumns, seed: int
    ) -> Flags:
        """The rows that stay, of those of a stream that come together.

        Args:
            columns: Of the rows.
            rows: How many there are.
            own: Which of the columns shedding goes by.
            seed: How many rows the stream had brought before.
        """
        if self.one_in == 1 or not rows:
            return np.ones(rows, np.bool_)
        if self.kind == SEMANTIC:
            if own.utility is None:
                return np.ones(rows, np.bool_)
            return _utilities(columns[own.utility]) >= self.least_utility
        below = np.uint64((1 << 64) // self.one_in)
        return np.asarray(_draws(columns, rows, seed) < below)

    def weighed(self, columns: tuple[pa.Array, ...], own: SheddingColumns) -> tuple[pa.Array, ...]:
        """The columns of rows that stay: by chance, each stands for more rows than before."""
        if self.one_in == 1 or self.kind != RANDOM or own.weight is None:
            return columns
        weights = columns[own.weight]
        if pa.types.is_integer(weights.type):
            # A weight that large means nothing, and must not become a negative one.
            weights = pc.min_element_wise(weights, _MAX // self.one_in, skip_nulls=False)
        scaled = pc.multiply(weights, pa.scalar(self.one_in, weights.type))
        return (*columns[: own.weight], scaled, *columns[own.weight + 1 :])

    def to_json(self) -> dict[str, Any]:
        """As it is written down."""
        return asdict(self)


def shedding_from(values: dict[str, Any] | None) -> Shedding | None:
    """The decision that was written down; None: all rows stay."""
    return None if values is None else Shedding(**values)


def _utilities(column: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Numbers; a row that does not say how useful it is, is not."""
    found = np.asarray(column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False))
    return np.where(np.isnan(found), 0.0, found)


def _draws(columns: Sequence[pa.Array], rows: int, seed: int) -> Words:
    """A number for each row, as if drawn: by its values, its place among equals, and the seed."""
    draws = hashes_of([*columns, _known(columns, rows)], rows)
    there = np.ones(rows, np.bool_)
    hash_longs(draws, _places_among_equals(draws).view(np.uint64), there)
    hash_longs(draws, np.full(rows, seed, np.uint64), there)
    return draws


def _known(columns: Sequence[pa.Array], rows: int) -> pa.Array:
    """The places of values that are no NULL, as a number: a NULL alone changes no hash."""
    known = np.zeros(rows, np.int64)
    for number, column in enumerate(columns):
        valid = validity_of(column)
        if valid is not None:
            known ^= np.where(valid, 0, np.int64(1) << (number % 63))
    return pa.array(known)


def _places_among_equals(hashes: Words) -> Ints:
    """Of each row, how many equal ones are before it."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff(np.append(begins, len(hashes)))
    places = np.empty(len(hashes), np.int64)
    places[order] = np.arange(len(hashes)) - np.repeat(begins, lengths)
    return places
