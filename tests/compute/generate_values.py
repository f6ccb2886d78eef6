"""Random values of every type, with what is special about it, and columns of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from penstock.algebra.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    Type,
    decimal,
)
from penstock.catalog.functions.widening import scaled_decimal

if TYPE_CHECKING:
    from penstock.algebra.expressions import Value

DECIMALS = (decimal(5, 2), decimal(12, 4), decimal(18, 0), decimal(38, 0), decimal(38, 10))
ODD_DECIMALS = (decimal(1, 1), decimal(3, 3), decimal(20, 19), decimal(38, 38))
TYPES = (BOOLEAN, INT, BIGINT, DOUBLE, STRING, DATE, TIMESTAMP, *DECIMALS, *ODD_DECIMALS)

DAY = 86_400_000_000
TEXTS = [
    "", " ", "a", "abc", "ABC", "aB c", "hello WORLD", "ab,cd,,e", "  x y  ", "%", "_", "\\",
    "a%b", "a_b", "a\nb", "\n", "straße", "Ärger", "ŉ", "ﬁ", "İ", "e\u0301", "\U0001f600",
    "a\U0001f600b", "日本語", "\u00a0x\u2003", "\x1c7\x1f", "\x000", "1", "0", "-0", "007", "+5",
    " 42 ", "12.50", "-1.5e3", "1e400", ".5", "5.", "1e-7", "9223372036854775807",
    "9223372036854775808", "-2147483649", "nan", "-inf", "Infinity", "TRUE", "f", "yes",
    "2024-02-29", "2023-02-29", "2024-1-5", "0000-01-01", "2024-01-31 24:00:00",
    "2024-01-31 23:59:59.123456", "2024-01-31T10:00:00Z", "1969-12-31 23:59:60",
    "2024-01-31 10:00:00.1234567+02", "2024", "12345678901234567890123456789012345678",
    "0.00000000000000000000000000000000000001", "99.995", "999.995", "٣", "(a)(b)?", "[a-c]+",
    "^a.*", "a|b", "$1", "x$0\\$y", "$", "(",
]  # fmt: skip


_FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 0.3, 1.005, 2.675, 27.0, 1e15, 1e16,
    -1e22, 1e300, 5e-324, 1.7976931348623157e308, float("inf"), float("-inf"), float("nan"),
    2.0**53, 2.0**63, -(2.0**63), 2.0**31, -(2.0**31) - 1, 9223372036854.775, 0.9999999999999999,
    1e-5, 123456.789, 99.995, 9999999999.5, 1e10,
]  # fmt: skip


def special(type_: Type) -> list[Value]:
    """Values at which something changes."""
    if type_.is_decimal:
        return [scaled_decimal(number, type_.scale) for number in _special_unscaled(type_)]
    return _SPECIAL[type_]


def _edges(bits: int, *more: int) -> list[Value]:
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return [least, least + 1, most, most - 1, 0, 1, -1, 2, -2, 3, -6, 7, 10, -10, 100, *more]


def _special_unscaled(type_: Type) -> list[int]:
    most, one = 10**type_.precision - 1, 10**type_.scale
    some = [0, 1, -1, most, -most, one, -one, one // 2, -(one // 2), 5, -15, 3 * one, most // 2]
    return [unscaled for unscaled in some if abs(unscaled) <= most]


_SPECIAL: dict[Type, list[Value]] = {
    BOOLEAN: [True, False],
    INT: _edges(32),
    BIGINT: _edges(64, 2**31, -(2**31) - 1, 9223372036854, -9223372036855, 2**53 + 1, 3037000500),
    DOUBLE: list(_FLOATS),
    STRING: list(TEXTS),
    DATE: _edges(32, -719_162, -719_163, 2_932_896, 2_932_897, 19782),
    TIMESTAMP: _edges(
        64, 253_402_300_799_999_999, 253_402_300_800_000_000, -62_135_596_800_000_001, DAY
    ),
}


def values(type_: Type) -> st.SearchStrategy[Value]:
    """Any value of the type, often a special one, never NULL."""
    often = st.sampled_from(special(type_))
    if type_.is_decimal:
        most = 10**type_.precision - 1
        short = min(most, 10**6)
        unscaled = st.one_of(st.integers(-most, most), st.integers(-short, short))
        return st.one_of(often, unscaled.map(lambda number: scaled_decimal(number, type_.scale)))
    return st.one_of(often, *_OTHERS[type_])


_OTHERS: dict[Type, list[st.SearchStrategy[Value]]] = {
    BOOLEAN: [],
    INT: [st.integers(-40, 40), st.integers(-(2**31), 2**31 - 1)],
    BIGINT: [st.integers(-40, 40), st.integers(-(2**63), 2**63 - 1)],
    DOUBLE: [
        st.floats(),
        st.floats(-1000, 1000),
        st.integers(-(10**9), 10**9).map(lambda number: number / 1000),
    ],
    STRING: [st.text(max_size=8), st.text("abAB ,%_\\.1é", max_size=6)],
    DATE: [st.integers(-(2**31), 2**31 - 1), st.integers(0, 30000)],
    TIMESTAMP: [
        st.integers(-(2**63), 2**63 - 1),
        st.integers(0, 30000 * DAY),
        st.integers(-1000, 10**9).map(lambda seconds: seconds * 1_000_000),
    ],
}


def column_of(type_: Type, length: int) -> st.SearchStrategy[list[Value]]:
    """So many values, some of them NULL."""
    value = st.one_of(st.none(), values(type_), values(type_), values(type_), values(type_))
    return st.lists(value, min_size=length, max_size=length)
