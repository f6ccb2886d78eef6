"""The time it takes to ask a condition, by the functions in it.

Arrow and NumPy compute most of them for a block of rows at once; a few go through Python, row by
row, and take a thousand times as long. These are what an order of conditions has to know of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.expressions import Call, Cast, Column, Literal, walk
from penstock.algebra.types import STRING

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression

NUMBER, TEXT, TIME = 1.0, 8.0, 30.0
"""Nanoseconds for a function of numbers, of texts, of dates."""
PATTERN = {"like": 13.0, "rlike": 45.0}
"""To search for a pattern that is the same for all rows."""
PATTERN_OF_ROW = 30_000.0
"""If each row has its own, which is to be understood first."""
BY_ROW = 1_500.0
"""A function in Python."""
IN_PYTHON = frozenset({
    "cbrt", "initcap", "regexp_extract", "regexp_replace", "repeat", "split_part", "translate",
})  # fmt: skip
NEED_CONSTANTS = frozenset({
    "contains", "endswith", "instr", "left", "lpad", "position", "replace", "right", "rpad",
    "startswith", "substring",
})  # fmt: skip
"""In Python unless all but one of their arguments are constants."""
OF_DATES = frozenset({
    "add_months", "date_format", "date_trunc", "day", "dayofweek", "dayofyear", "last_day",
    "make_date", "month", "quarter", "trunc", "weekday", "weekofyear", "year",
})  # fmt: skip


def condition_cost(condition: Expression) -> float:
    """Nanoseconds to ask a condition of one combination of rows whose columns are there."""
    return sum(map(_own_cost, walk(condition)))


def _own_cost(part: Expression) -> float:
    match part:
        case Column() | Literal():
            return 0.0
        case Cast(arg, to):
            return 2 * TEXT if STRING in (arg.type, to) else NUMBER
        case Call(function, args):
            return _call_cost(function, args)
    return NUMBER


def _call_cost(function: str, args: tuple[Expression, ...]) -> float:
    variable = sum(not isinstance(one, Literal) for one in args)
    if function in PATTERN:
        return PATTERN[function] if isinstance(args[1], Literal) else PATTERN_OF_ROW
    if function in IN_PYTHON or (function in NEED_CONSTANTS and variable > 1):
        return BY_ROW
    if function in OF_DATES:
        return TIME
    return TEXT if any(one.type == STRING for one in args) else NUMBER
