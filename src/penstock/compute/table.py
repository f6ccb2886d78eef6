"""The one table of functions: from a name to the maker of its kernel.

CASE, IF and COALESCE are no kernels: they decide which rows their parts are computed for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.compute.arithmetic import ARITHMETIC
from penstock.compute.comparisons import COMPARISONS, COMPARISONS_WITH_NULLS
from penstock.compute.logic import LOGIC
from penstock.compute.numbers import NUMBERS
from penstock.compute.strings import STRINGS, STRINGS_WITH_NULLS
from penstock.compute.text_patterns import PATTERNS
from penstock.compute.times import TIMES

if TYPE_CHECKING:
    from penstock.compute.kernels import Maker

STRICT: dict[str, Maker] = {
    **ARITHMETIC,
    **COMPARISONS,
    **NUMBERS,
    **PATTERNS,
    **STRINGS,
    **TIMES,
}
"""Functions that are NULL when an argument is."""

NON_STRICT: dict[str, Maker] = {**LOGIC, **COMPARISONS_WITH_NULLS, **STRINGS_WITH_NULLS}
"""Functions that look at NULL arguments themselves."""

BRANCHING = frozenset({"if", "coalesce"})
"""Functions that compute only the arguments they need."""

NEVER_FAILS = frozenset({
    *NON_STRICT, *COMPARISONS, *BRANCHING, "&", "|", "^", "~", "||", "concat", "length", "upper",
    "lower", "trim", "ltrim", "rtrim", "substring", "left", "right", "year", "month", "day",
    "hour", "minute", "second",
})  # fmt: skip
"""Cheap functions without failures: a branch of them may be computed for all rows."""
