"""The meaning of every scalar function: the oracle's definitions, on plain Python values.

A definition in `STRICT` never sees NULL: a NULL argument gives NULL before it is called. It
returns the exact result, which the evaluator then fits to the result type, or raises `Failure`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.reference.failure import Exact, Failure
from penstock.reference.functions.arithmetic import ARITHMETIC
from penstock.reference.functions.logic import COMPARISONS, WITH_NULLS
from penstock.reference.functions.numbers import NUMBERS
from penstock.reference.functions.strings import STRINGS, concat_ws
from penstock.reference.functions.times import TIMES

if TYPE_CHECKING:
    from collections.abc import Callable

STRICT: dict[str, Callable[..., Exact]] = {
    **ARITHMETIC,
    **COMPARISONS,
    **NUMBERS,
    **STRINGS,
    **TIMES,
}
"""Functions that are NULL when an argument is."""

NON_STRICT: dict[str, Callable[..., Exact]] = {**WITH_NULLS, "concat_ws": concat_ws}
"""Functions that look at NULL arguments themselves."""

MEANING: dict[str, Callable[..., Exact]] = {**STRICT, **NON_STRICT}
"""Every scalar function by its canonical name."""

__all__ = ["MEANING", "NON_STRICT", "STRICT", "Failure"]
