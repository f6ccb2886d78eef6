"""Values as 64-bit codes that compare as the values do, and back.

Most types map to integers of the same order. Texts and decimals of more than 18 digits are
numbered by a pool, and numbers compare as the texts in the pool.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.types import BOOLEAN, DOUBLE, STRING, Type, to_arrow
from penstock.operators.aggregate.accumulators.accumulator import CodeUse
from penstock.operators.aggregate.accumulators.counting import truth_of
from penstock.operators.aggregate.accumulators.decimal_words import from_words, words_of
from penstock.operators.aggregate.accumulators.events import owned
from penstock.operators.aggregate.accumulators.exact_sums import ONE_WORD
from penstock.operators.aggregate.accumulators.pool import Pool, binary_of
from penstock.state.arrays import check_text, text_array

if TYPE_CHECKING:
    from penstock.operators.aggregate.accumulators.events import Bools, Bytes, Doubles, Int64s

NO_TEXTS = np.zeros((0, 4), np.int64)
NO_BYTES = np.zeros(0, np.uint8)
SIGN = 2**63 - 1
DECIMAL_BYTES = 16


class Codes(ABC):
    """The codes of one column's values."""

    def __init__(self, type_: Type) -> None:
        self.type = type_
        self.arrow = to_arrow(type_)

    @abstractmethod
    def encode(self, array: pa.Array, known: Bools) -> Int64s:
        """The codes, anything where unknown. Each known one is held until it is released."""

    @abstractmethod
    def decode(self, codes: Int64s, known: Bools) -> pa.Array:
        """The values, NULL where unknown."""

    def release(self, codes: Int64s) -> None:  # noqa: B027  only pooled values are held
        """Let go of codes, once for each time they occur."""

    def compact(self) -> Int64s | None:
        """Give back room that has been empty for a while; if codes are others now, by old ones."""
        return None

    def used(
        self, pool: str, table: str, column: str, count: str | None, payload: int = 0
    ) -> list[CodeUse]:
        """That such codes are in the state of an accumulator; nothing if no pool has given them."""
        del pool, table, column, count, payload
        return []

    @property
    def order(self) -> tuple[Int64s, Bytes]:
        """The texts and bytes that loops compare codes by; none if codes compare directly."""
        return NO_TEXTS, NO_BYTES


class DirectCodes(Codes):
    """Integers, days, instants, booleans, doubles and decimals of up to 18 digits."""

    def encode(self, array: pa.Array, known: Bools) -> Int64s:
        """The codes; nothing has to be held."""
        if self.type.is_decimal:
            return owned(words_of(array)[:, 0])
        if self.type == DOUBLE:
            return ordered(array.fill_null(0.0).to_numpy(zero_copy_only=False))
        if self.type == BOOLEAN:
            return truth_of(array).astype(np.int64)
        plain = array.view(pa.int32() if self.arrow.bit_width == 32 else pa.int64())
        numbers: Int64s = plain.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        return numbers

    def decode(self, codes: Int64s, known: Bools) -> pa.Array:
        """The values of codes."""
        if self.type.is_decimal:
            return from_words(np.stack([codes, codes >> 63], axis=1), self.arrow, ~known)
        if self.type == DOUBLE:
            return pa.array(doubles_of(codes), self.arrow, mask=~known)
        if self.type == BOOLEAN:
            return pa.array(codes == 1, self.arrow, mask=~known)
        if self.arrow.bit_width == 64:
            return pa.array(codes, pa.int64(), mask=~known).view(self.arrow)
        # Where unknown the code is anything, also what 32 bits do not hold.
        return pa.array(codes.astype(np.int32), pa.int32(), mask=~known).view(self.arrow)


class PooledCodes(Codes):
    """Texts, and decimals of more than 18 digits as texts of 16 bytes in the same order."""

    def __init__(self, type_: Type) -> None:
        super().__init__(type_)
        self.pool = Pool()

    def encode(self, array: pa.Array, known: Bools) -> Int64s:
        """The numbers of the values in the pool."""
        if self.type == STRING:
            return self.pool.hold(*binary_of(array), known)
        data = words_of(array).view(np.uint8).reshape(-1, DECIMAL_BYTES)[:, ::-1].copy()
        data[:, 0] ^= 0x80
        offsets = np.arange(len(array) + 1, dtype=np.int64) * DECIMAL_BYTES
        return self.pool.hold(offsets, data.reshape(-1), known)

    def decode(self, codes: Int64s, known: Bools) -> pa.Array:
        """The values in the pool."""
        if self.type.is_decimal:
            return from_words(self.words(codes, known), self.arrow, ~known)
        check_text(int(self.pool.offsets(codes, known)[-1]))
        return text_array(*self.pool.take(codes, known), known)

    def words(self, codes: Int64s, known: Bools) -> Int64s:
        """The unscaled numbers of decimals as words (low, high)."""
        words = np.zeros((len(codes), 2), np.int64)
        _, data = self.pool.take(codes, known)
        data = data.reshape(-1, DECIMAL_BYTES)
        data[:, 0] ^= 0x80
        words[known] = data[:, ::-1].copy().view(np.int64)
        return words

    def release(self, codes: Int64s) -> None:
        """Let the pool forget values nobody holds."""
        self.pool.release(owned(codes))

    def compact(self) -> Int64s | None:
        """Number the values anew, if most room has been empty for a while."""
        return self.pool.compact() if self.pool.is_spacious else None

    def used(
        self, pool: str, table: str, column: str, count: str | None, payload: int = 0
    ) -> list[CodeUse]:
        """That they are there."""
        return [CodeUse(self.pool, pool, table, column, count, payload)]

    @property
    def order(self) -> tuple[Int64s, Bytes]:
        """The texts of the pool."""
        return self.pool.texts, self.pool.data


def codes_for(type_: Type) -> Codes:
    """Codes for the values of a type."""
    pooled = type_ == STRING or (type_.is_decimal and type_.precision > ONE_WORD)
    return PooledCodes(type_) if pooled else DirectCodes(type_)


def ordered(doubles: Doubles) -> Int64s:
    """Doubles as integers of the same order: NaN last, -0.0 as 0.0.

    >>> codes = ordered(np.array([-np.inf, -1.0, -0.0, 0.0, 5e-324, np.inf, np.nan]))
    >>> np.sign(np.diff(codes)).tolist(), doubles_of(codes).tolist()
    ([1, 1, 0, 1, 1, 1], [-inf, -1.0, 0.0, 0.0, 5e-324, inf, nan])
    """
    plain = np.where(np.isnan(doubles), np.nan, doubles + 0.0)
    bits = plain.view(np.int64)
    return np.where(bits < 0, bits ^ SIGN, bits)


def doubles_of(codes: Int64s) -> Doubles:
    """The doubles of `ordered` codes."""
    return np.where(codes < 0, codes ^ SIGN, codes).view(np.float64)
