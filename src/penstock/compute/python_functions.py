"""Functions that only Python can compute: once per distinct combination of arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.types import Type, to_arrow
from penstock.algebra.values import canonical
from penstock.compute.datum import Datum, truths
from penstock.compute.kernels import Failed

if TYPE_CHECKING:
    from penstock.algebra.expressions import Call, Value
    from penstock.algebra.failures import Failures
    from penstock.compute.kernels import Kernel, Maker

Definition = Callable[..., Any]
"""From plain values, none of them NULL, to a value; raises `Failed`."""


def in_python(define: Definition) -> Maker:
    """The maker of a kernel that computes each distinct combination of arguments."""

    def make(call: Call) -> Kernel:
        return lambda args, failures: per_distinct(args, define, call.type, call.function, failures)

    return make


def per_distinct(
    args: Sequence[Datum], define: Definition, to: Type, function: str, failures: Failures
) -> pa.Array:
    """The definition's value for every row; NULL where an argument is NULL."""
    codes, columns = _combinations([arg for arg in args if isinstance(arg, pa.Array)])
    values: list[Value] = []
    failed: list[bool] = []
    for row in zip(*_in_order(args, columns), strict=True):
        try:
            values.append(canonical(define(*row)))
            failed.append(False)
        except Failed:
            values.append(None)
            failed.append(True)
    if any(failed):
        where = pa.array(failed).take(codes)
        failures.add(function, int(np.count_nonzero(truths(where))))
    return pa.array(values, to_arrow(to)).take(codes)


def _combinations(arrays: Sequence[pa.Array]) -> tuple[pa.Array, list[list[Value]]]:
    """For every row the number of its combination, and the values of each, column by column."""
    codes, columns = _encoded(arrays[0])
    for array in arrays[1:]:
        codes, columns = _combined(codes, columns, *_encoded(array))
    return codes, columns


def _encoded(array: pa.Array) -> tuple[pa.Array, list[list[Value]]]:
    encoded = array.dictionary_encode()
    return encoded.indices.cast(pa.int64()), [plain(encoded.dictionary)]


def _combined(
    codes: pa.Array, columns: list[list[Value]], more: pa.Array, added: list[list[Value]]
) -> tuple[pa.Array, list[list[Value]]]:
    """Combinations of those before with the values of one more column."""
    size = max(len(added[0]), 1)
    both = pc.add(pc.multiply(codes, size), more).dictionary_encode()
    before, last = np.divmod(both.dictionary.to_numpy(), size)
    chosen = [[column[place] for place in before] for column in columns]
    return both.indices.cast(pa.int64()), [*chosen, [added[0][place] for place in last]]


def _in_order(args: Sequence[Datum], columns: list[list[Value]]) -> list[Sequence[Value]]:
    """The columns with the constants between them, in the order of the arguments."""
    left = iter(columns)
    count = len(columns[0])
    return [
        next(left) if isinstance(arg, pa.Array) else plain(pa.repeat(arg, 1)) * count
        for arg in args
    ]


def plain(array: pa.Array) -> list[Value]:
    """The values as the algebra holds them: times are integers."""
    if pa.types.is_date(array.type):
        array = array.view(pa.int32())
    elif pa.types.is_timestamp(array.type):
        array = array.view(pa.int64())
    found: list[Value] = array.to_pylist()
    return found
