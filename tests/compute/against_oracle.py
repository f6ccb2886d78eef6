"""An expression computed for a block, compared with the reference evaluator row by row."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.failures import Failures
from penstock.algebra.types import DOUBLE, Field, Schema, Type, to_arrow
from penstock.algebra.values import canonical
from penstock.compute.evaluate import compile_expression
from penstock.compute.python_functions import plain
from penstock.reference.expressions import evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.expressions import Expression, Value

Columns = dict[str, tuple[Type, list["Value"]]]
"""Columns by name: their types and values."""


def schema_of(columns: Mapping[str, tuple[Type, list[Value]]]) -> Schema:
    return Schema(tuple(Field(name, type_) for name, (type_, _) in columns.items()))


def array_of(values: Sequence[Value], type_: Type, *, padding: int = 0) -> pa.Array:
    """The canonical values as a slice of a longer array with other values around them.

    Behind each NULL is one of the values, as an engine's kernels leave them there.
    """
    around = [value for value in values[:padding] for _ in range(padding)]
    all_values = [canonical(value) for value in (*around, *values, *around)]
    hidden = next((value for value in reversed(all_values) if value is not None), None)
    filled = [hidden if value is None else value for value in all_values]
    known = pa.array([value is not None for value in all_values], pa.bool_())
    buffers = pa.array(filled, to_arrow(type_)).buffers()
    array = pa.Array.from_buffers(to_arrow(type_), len(filled), [known.buffers()[1], *buffers[1:]])
    return array.slice(len(around), len(values))


def check(expression: Expression, columns: Columns, length: int, *, padding: int = 0) -> None:
    """The block's values and failure counts are the oracle's."""
    arrays = [array_of(values, type_, padding=padding) for type_, values in columns.values()]
    failures, oracle = Failures(), Failures()
    found = compile_expression(expression, schema_of(columns))(arrays, length, failures)
    assert found.type == to_arrow(expression.type)
    assert len(found) == length
    found.validate(full=True)
    expected = [
        evaluate(expression, {name: column[1][i] for name, column in columns.items()}, oracle)
        for i in range(length)
    ]
    assert list(map(spelled, plain(found))) == list(map(spelled, expected)), expression
    assert failures.by_function == oracle.by_function, expression
    if expression.type == DOUBLE:
        check_bits(found)


def spelled(value: Value) -> str:
    """Tells 0.0 from -0.0 and 1 from TRUE. The oracle's decimals may have a zero below zero."""
    return repr(value.copy_abs() if isinstance(value, Decimal) and not value else value)


def check_bits(doubles: pa.Array) -> None:
    """There is one NaN."""
    known = doubles.drop_null().to_numpy()
    bits = known.view(np.int64)[np.isnan(known)]
    assert (bits == np.array(np.nan).view(np.int64)).all()
