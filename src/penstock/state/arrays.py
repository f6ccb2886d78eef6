"""Between Arrow arrays and NumPy: the values and the validity of a column, without copying."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]
Signs = npt.NDArray[np.int8]
Lengths = npt.NDArray[np.int32]
Places = npt.NDArray[np.int32]
"""Slots, where there are many of them: no state has 2^31."""
Values = npt.NDArray[Any]

DECIMAL_WORDS = np.dtype((np.uint64, (2,)))
"""A decimal128: the low word, then the high word with the sign."""

MOST_TEXT = 2**31 - 1
"""Bytes of text that one Arrow array of strings can hold."""

_STRING = pa.lib.Type_STRING
_WIDTHS: dict[int, Any] = {8: np.int8, 32: np.int32, 64: np.int64, 128: DECIMAL_WORDS}


def storage_of(type_: pa.DataType) -> Any:
    """The NumPy type that holds the values of a fixed-width column."""
    if pa.types.is_boolean(type_):
        return np.dtype(np.uint8)
    if pa.types.is_floating(type_):
        return np.dtype(np.float64)
    return np.dtype(_WIDTHS[type_.bit_width])


def is_text(type_: pa.DataType) -> bool:
    """A type whose values have different lengths."""
    return bool(pa.types.is_string(type_))


def values_of(array: pa.Array) -> Values:
    """The values of a fixed-width column; what lies under a NULL is arbitrary."""
    if pa.types.is_boolean(array.type):
        return np.asarray(array.cast(pa.uint8()).fill_null(0).to_numpy(zero_copy_only=False))
    buffer = array.buffers()[1]
    storage = storage_of(array.type)
    if buffer is None or not len(array):
        return np.zeros(len(array), dtype=storage)
    flat = np.frombuffer(buffer, dtype=storage.base)
    width = storage.itemsize // storage.base.itemsize
    values = flat[array.offset * width : (array.offset + len(array)) * width]
    return values.reshape(len(array), width) if width > 1 else values


def validity_of(array: pa.Array) -> Flags | None:
    """The places of values that are not NULL; None if none is."""
    if not array.null_count:
        return None
    return np.asarray(array.is_valid().to_numpy(zero_copy_only=False))


def arrow_array(values: Values, valid: Flags | None, type_: pa.DataType) -> pa.Array:
    """A fixed-width column of the values; NULL where `valid` is False."""
    length = len(values)
    bitmap = None if valid is None or bool(valid.all()) else pa.py_buffer(_bits(valid))
    if pa.types.is_boolean(type_):
        data = pa.py_buffer(_bits(values.astype(np.bool_)))
    else:
        data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(type_, length, [bitmap, data])


def text_parts(array: pa.Array) -> tuple[Ints, npt.NDArray[np.uint8]]:
    """The beginning of each string (and the end of the last), and the bytes of all strings."""
    _, offsets, data = array.buffers()
    if offsets is None or not len(array):
        return np.zeros(len(array) + 1, np.int64), np.zeros(0, np.uint8)
    starts = np.frombuffer(offsets, dtype=np.int32)[array.offset : array.offset + len(array) + 1]
    content = np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, np.uint8)
    return starts.astype(np.int64), content


def text_array(starts: Ints, content: npt.NDArray[np.uint8], valid: Flags | None) -> pa.Array:
    """A string column from where each string begins and the bytes of all.

    Raises:
        DataError: An array cannot hold so much text.
    """
    check_text(int(starts[-1]))
    bitmap = None if valid is None or bool(valid.all()) else pa.py_buffer(_bits(valid))
    offsets = pa.py_buffer(starts.astype(np.int32))
    length = len(starts) - 1
    return pa.Array.from_buffers(pa.string(), length, [bitmap, offsets, pa.py_buffer(content)])


def joined(parts: Sequence[pa.Array]) -> pa.Array:
    """One column after the other, in one array.

    Raises:
        DataError: An array cannot hold so much text.
    """
    if is_text(parts[0].type):
        check_text(sum(map(text_bytes, parts)))
    return pa.concat_arrays(parts)


def text_lengths(column: pa.Array) -> Ints:
    """The number of bytes of each string."""
    starts, _ = text_parts(column)
    return np.diff(starts)


def text_bytes(column: pa.Array) -> int:
    """The number of bytes of all strings of a column."""
    _, offsets, _ = column.buffers()
    if offsets is None or not len(column):
        return 0
    starts = np.frombuffer(offsets, dtype=np.int32)
    return int(starts[column.offset + len(column)]) - int(starts[column.offset])


def column_bytes(column: pa.Array) -> int:
    """The number of bytes of the values of a column; Arrow's own property costs 6 us a column."""
    type_ = column.type
    if type_.id == _STRING:
        return text_bytes(column) + 4 * len(column)
    return len(column) * int(type_.bit_width) // 8


def check_text(size: int) -> None:
    """Say so if one array cannot hold so many bytes of text; ask before room is made for them.

    Raises:
        DataError: It cannot.
    """
    if size > MOST_TEXT:
        msg = f"{size} bytes of text meet in one column at one instant; {MOST_TEXT} are the most"
        raise DataError(msg, hint="Select fewer or shorter strings.")


def _bits(flags: Flags) -> npt.NDArray[np.uint8]:
    return np.packbits(flags, bitorder="little")
