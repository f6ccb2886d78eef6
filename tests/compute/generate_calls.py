"""Random calls of every function of the registry, through random overloads, and casts."""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from compute.generate_values import TYPES, column_of, values
from penstock.algebra.expressions import Column, Expression, Literal
from penstock.algebra.types import INT, INTERVAL, STRING, Type, decimal
from penstock.catalog.functions import FUNCTIONS, resolve_call
from penstock.errors import PenstockError

if TYPE_CHECKING:
    from compute.against_oracle import Columns

MOST_ARGUMENTS = 4
FEW_TYPES = tuple(type_ for type_ in TYPES if not type_.is_decimal or type_ == decimal(12, 4))
LENGTHS = st.sampled_from([0, 1, 1, 7, 30, 60])

UNITS = ["year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond",
         "microsecond"]  # fmt: skip
PATTERNS = ["yyyy-MM-dd", "y yy yyy yyyyy Q QQ QQQ QQQQ", "M MM MMM MMMM D DDD d dd E EEEE",
            "a H HH h hh m mm s ss S SSSSSS SSSSSSSSS", "'at' h '''' a", ""]  # fmt: skip
LIKES = [
    "%",
    "",
    "a%",
    "%b",
    "%b%",
    "a_c",
    "_",
    "%a%b%",
    "a\\%b",
    "a\\b",
    "é%",
    "__%",
    "%\\_%",
    "\\",
]
REGULARS = [
    "a",
    "^a",
    "b$",
    "[a-c]+",
    "(a)(b)?",
    "a|b",
    "\\d+",
    "\\s",
    ".",
    "",
    "x*",
    "(?i)AB",
    "^.{2}",
]
REPLACEMENTS = ["", "x", "$1", "<$0>", "\\$", "$", "$9"]
INTERVALS = [0, 1, -1, 3_600_000_000, 2**63 - 1, -(2**63)]


def texts(some: list[str]) -> st.SearchStrategy[Expression]:
    return st.sampled_from(some).map(lambda text: Literal(text, STRING))


def whole(*some: int) -> st.SearchStrategy[Expression]:
    return st.sampled_from(some).map(lambda number: Literal(number, INT))


ONLY: dict[tuple[str, int], st.SearchStrategy[Expression]] = {
    ("date_trunc", 0): texts(UNITS),
    ("trunc", 1): texts(UNITS[:4]),
    ("date_format", 1): texts(PATTERNS),
    ("like", 2): texts(["\\", "!", "%", "a"]),
    ("round", 1): whole(*range(-25, 26), -400, 400, -39, 308, 2**31 - 1, -(2**31)),
}
"""What alone may stand in a place."""

OFTEN: dict[tuple[str, int], st.SearchStrategy[Expression]] = {
    ("like", 1): texts(LIKES),
    ("rlike", 1): texts(REGULARS),
    ("regexp_extract", 1): texts(REGULARS),
    ("regexp_extract", 2): whole(0, 1, 2, 3, -1),
    ("regexp_replace", 1): texts(REGULARS),
    ("regexp_replace", 2): texts(REPLACEMENTS),
    ("split_part", 1): texts([",", "a", "", ",,"]),
    ("split_part", 2): whole(0, 1, 2, 3, -1, -5),
    **{(name, 1): whole(*range(-4, 6)) for name in ("substring", "left", "right", "lpad", "rpad")},
    ("substring", 2): whole(*range(-2, 6)),
    ("position", 2): whole(*range(-1, 5)),
    ("repeat", 1): whole(-1, 0, 1, 2, 3),
    ("make_date", 0): whole(2024, 2023, 1900, -5, 5_881_580, -5_877_641),
    ("make_date", 1): whole(*range(0, 14)),
    ("make_date", 2): whole(0, 1, 28, 29, 30, 31, 32),
    ("+", 1): st.sampled_from(INTERVALS).map(lambda micros: Literal(micros, INTERVAL)),
    ("-", 1): st.sampled_from(INTERVALS).map(lambda micros: Literal(micros, INTERVAL)),
}
"""What may stand in a place besides columns and other constants."""


@lru_cache
def overloads(name: str) -> list[tuple[Type, ...]]:
    """The types of arguments that a function takes."""
    arity = FUNCTIONS[name].arity
    counts = range(arity.least, (arity.most or MOST_ARGUMENTS) + 1)
    found = []
    for count in counts:
        types = TYPES if count <= 2 else FEW_TYPES
        choices = [(STRING,) if (name, i) in ONLY else types for i in range(count)]
        found += [args for args in itertools.product(*choices) if _takes(name, args)]
    return found


def _takes(name: str, types: tuple[Type, ...]) -> bool:
    args = tuple(
        PLACEHOLDERS.get((name, place)) or Column(f"c{place}", type_)
        for place, type_ in enumerate(types)
    )
    try:
        resolve_call(name, args)
    except PenstockError:
        return False
    return True


PLACEHOLDERS = {
    ("date_trunc", 0): Literal("day", STRING),
    ("trunc", 1): Literal("year", STRING),
    ("date_format", 1): Literal("y", STRING),
    ("like", 2): Literal("!", STRING),
    ("round", 1): Literal(0, INT),
}


def some_overload(name: str) -> st.SearchStrategy[tuple[Type, ...]]:
    """One of them; the many DECIMALs do not crowd out the other types."""
    alike: dict[tuple[str, ...], list[tuple[Type, ...]]] = {}
    for types in overloads(name):
        alike.setdefault(tuple(type_.name for type_ in types), []).append(types)
    return st.sampled_from(list(alike.values())).flatmap(st.sampled_from)


@st.composite
def calls(draw: st.DrawFn, name: str) -> tuple[Expression, Columns, int]:
    """A call, the columns that it reads and how many rows they have."""
    types = draw(some_overload(name))
    length = draw(LENGTHS)
    columns: Columns = {}
    args = []
    for place, type_ in enumerate(types):
        args.append(draw(_argument(name, place, type_)))
        if isinstance(args[-1], Column):
            columns[f"c{place}"] = (type_, draw(column_of(type_, length)))
    try:
        return resolve_call(name, tuple(args)), columns, length
    except PenstockError:  # an INTERVAL beside a number, a text that is no time
        args = [Column(f"c{place}", type_) for place, type_ in enumerate(types)]
        args = [PLACEHOLDERS.get((name, place), arg) for place, arg in enumerate(args)]
        columns = {
            f"c{i}": (type_, draw(column_of(type_, length))) for i, type_ in enumerate(types)
        }
        return resolve_call(name, tuple(args)), columns, length


def _argument(name: str, place: int, type_: Type) -> st.SearchStrategy[Expression]:
    if (name, place) in ONLY:
        return ONLY[name, place]
    column: st.SearchStrategy[Expression] = st.just(Column(f"c{place}", type_))
    constant: st.SearchStrategy[Expression] = st.one_of(
        st.none(), values(type_), values(type_), values(type_)
    ).map(lambda value: Literal(value, type_))
    special = OFTEN.get((name, place))
    return st.one_of(column, column, constant, *([] if special is None else [special] * 2))
