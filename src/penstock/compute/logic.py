"""Three-valued logic and tests for NULL, TRUE and FALSE."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.compute.datum import made, numbers, truths, valid_in_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.algebra.failures import Failures
    from penstock.compute.datum import Datum
    from penstock.compute.kernels import Maker


def _of(function: Callable[..., pa.Array]) -> Maker:
    """A kernel of Arrow that means just what the function means."""
    return lambda _: lambda args, __: function(*args)


def _is_nan(args: Sequence[Datum], _: Failures) -> pa.Array:
    nan = np.isnan(numbers(args[0]))
    valid = valid_in_all(args)
    return made(pa.bool_(), nan if valid is None else nan & truths(valid), None)


LOGIC: dict[str, Maker] = {
    "and": _of(pc.and_kleene),
    "or": _of(pc.or_kleene),
    "not": _of(pc.invert),
    "is null": _of(pc.is_null),
    "is not null": _of(pc.is_valid),
    "is true": _of(lambda truth: pc.fill_null(truth, False)),
    "is false": _of(lambda truth: pc.invert(pc.fill_null(truth, True))),
    "is not true": _of(lambda truth: pc.invert(pc.fill_null(truth, False))),
    "is not false": _of(lambda truth: pc.fill_null(truth, True)),
    "isnan": lambda _: _is_nan,
}
"""Functions that look at NULLs themselves."""
