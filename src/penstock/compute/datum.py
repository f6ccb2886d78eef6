"""Arguments of kernels: arrays, or scalars for constants, and their values in NumPy.

Values behind a NULL are whatever the buffer holds; a kernel computes them along and must not
count their failures, which `without_failures` takes care of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.types import INTERVAL, NULL, Type, to_arrow
from penstock.algebra.values import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.algebra.expressions import Value
    from penstock.algebra.failures import Failures

Datum: TypeAlias = pa.Array | pa.Scalar
Numbers = np.ndarray[Any, np.dtype[Any]]
"""The values of an array, or of a scalar as an array without dimensions."""
Truths = np.ndarray[Any, np.dtype[np.bool_]]

_DTYPES: dict[pa.DataType, np.dtype[Any]] = {
    pa.int32(): np.dtype(np.int32),
    pa.int64(): np.dtype(np.int64),
    pa.float64(): np.dtype(np.float64),
    pa.date32(): np.dtype(np.int32),
    pa.timestamp("us"): np.dtype(np.int64),
}


def scalar_of(value: Value, type_: Type) -> pa.Scalar:
    """A constant; an INTERVAL is its microseconds."""
    special = {INTERVAL: pa.int64(), NULL: pa.null()}
    return pa.scalar(canonical(value), special.get(type_) or to_arrow(type_))


def broadcast(datum: Datum, length: int) -> pa.Array:
    """The datum as an array."""
    return pa.repeat(datum, length) if isinstance(datum, pa.Scalar) else datum


def numbers(datum: Datum) -> Numbers:
    """The values of a datum of numbers or times, without a copy."""
    dtype = _DTYPES[datum.type]
    if isinstance(datum, pa.Scalar):
        plain = datum.value if pa.types.is_temporal(datum.type) else datum.as_py()
        return np.asarray(plain, dtype)
    return _buffer(datum, dtype)


def _buffer(array: pa.Array, dtype: np.dtype[Any], per_value: int = 1) -> Numbers:
    buffer = array.buffers()[1]
    if buffer is None or len(array) == 0:
        return np.empty(0, dtype)
    count, offset = len(array) * per_value, array.offset * per_value * dtype.itemsize
    return np.frombuffer(buffer, dtype, count, offset)


def truths(array: pa.Array) -> Truths:
    """The places where a BOOLEAN array is TRUE; NULL is False."""
    known = pc.fill_null(array, False) if array.null_count else array
    if not known.true_count:
        # Bits are counted much faster than they are made bytes.
        return np.zeros(len(known), np.bool_)
    found: Truths = known.to_numpy(zero_copy_only=False)
    return found


def words(array: pa.Array) -> tuple[Numbers, Numbers]:
    """The unscaled values of a DECIMAL array: the lowest 64 bits and the highest, both signed."""
    per_value = array.type.bit_width // 64
    parts = _buffer(array, np.dtype(np.int64), per_value)
    return parts[0::per_value], parts[per_value - 1 :: per_value]


def valid_in_all(args: Sequence[Datum]) -> pa.Array | None:
    """The places where no argument is NULL; None: all of them. Scalars are taken not to be."""
    valid = None
    for arg in args:
        if isinstance(arg, pa.Array) and arg.null_count:
            known = pc.is_valid(arg)
            valid = known if valid is None else pc.and_(valid, known)
    return valid


def made(type_: pa.DataType, values: Numbers, valid: pa.Array | None) -> pa.Array:
    """An array of the values, NULL where not valid."""
    buffer = np.packbits(values, bitorder="little") if values.dtype == np.bool_ else values
    bitmap = None if valid is None else valid.buffers()[1]
    return pa.Array.from_buffers(type_, len(values), [bitmap, pa.py_buffer(buffer)])


def made_doubles(values: Numbers, valid: pa.Array | None) -> pa.Array:
    """An array of doubles in their one form: 0.0 for -0.0, one NaN for all of them."""
    values = values + 0.0
    nan = np.isnan(values)
    if nan.any():
        values[nan] = np.nan
    return made(pa.float64(), values, valid)


def without_failures(
    valid: pa.Array | None, failed: Truths, function: str, failures: Failures
) -> pa.Array | None:
    """The values that remain valid; failures of values that are not NULL are counted."""
    if not failed.any():
        return valid
    known = np.ones(len(failed), np.bool_) if valid is None else truths(valid)
    failures.add(function, int(np.count_nonzero(failed & known)))
    return made(pa.bool_(), known & ~failed, None)


def reinterpreted(datum: Datum, type_: pa.DataType) -> Datum:
    """The same bits as another type of the same width."""
    if datum.type == type_:
        return datum
    if isinstance(datum, pa.Scalar):
        return reinterpreted(pa.repeat(datum, 1), type_)[0]
    return pa.Array.from_buffers(type_, len(datum), datum.buffers(), offset=datum.offset)


def mended(
    array: pa.Array, wrong: Truths, compute: Callable[[Sequence[Datum]], pa.Array], *args: Datum
) -> pa.Array:
    """The array with its wrong places computed in another way, from the arguments there."""
    if not wrong.any():
        return array
    mask = made(pa.bool_(), wrong, None)
    some = [arg if isinstance(arg, pa.Scalar) else arg.filter(mask) for arg in args]
    return pc.replace_with_mask(array, mask, compute(some))
