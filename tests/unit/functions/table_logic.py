"""Results of arithmetic, comparisons, logic and choices."""

from __future__ import annotations

from penstock.algebra.expressions import Literal
from penstock.algebra.types import BOOLEAN, INT, INTERVAL, STRING
from unit.functions.rows import (
    AN_ERROR,
    FAILS,
    INF,
    MAX_BIGINT,
    MAX_INT,
    MIN_BIGINT,
    MIN_INT,
    NAN,
    REFUSES,
    Plain,
    Row,
    Table,
    at,
    big,
    const,
    day,
    dec,
    null,
    row,
)

WRAPS = "wraps around"
HOUR = Literal(3_600_000_000, INTERVAL)
TWO_DAYS = Literal(2 * 86_400_000_000, INTERVAL)
NINES = "9" * 38
UNKNOWN = null(BOOLEAN)

ARITHMETIC: Table = {
    "+": [
        row(1, 2, 3),
        row(1, big(2), big(3)),
        row(1, 0.5, 1.5),
        row(MAX_INT, 1, FAILS, spark=WRAPS),
        row(big(MAX_BIGINT), 1, FAILS, spark=WRAPS),
        row(1e308, 1e308, INF),
        row(INF, -INF, NAN),
        row(dec("1.25"), dec("2.5"), dec("3.75")),
        row(dec("1.25"), 1, dec("2.25")),
        row(dec("1.5"), 0.25, 1.75),
        row(dec(NINES), dec("1"), FAILS),
        row(day("2024-02-28"), 2, day("2024-03-01")),
        row(1, day("2024-02-28"), day("2024-02-29")),
        row(day("2024-02-28"), TWO_DAYS, day("2024-03-01")),
        row(day("2024-02-28"), HOUR, at("2024-02-28 01:00:00")),
        row(at("2024-02-28 23:30:00"), HOUR, at("2024-02-29 00:30:00")),
        row(HOUR, at("2024-02-28 23:30:00"), at("2024-02-29 00:30:00")),
    ],
    "-": [
        row(1, 2, -1),
        row(MIN_INT, 1, FAILS, spark=WRAPS),
        row(0.5, 1, -0.5),
        row(dec("1.25"), dec("2.5"), dec("-1.25")),
        row(day("2024-03-01"), 1, day("2024-02-29")),
        row(day("2024-03-01"), day("2024-02-01"), 29, spark="gives an INTERVAL"),
        row(day("2024-03-01"), const("2024-02-01"), 29, spark=REFUSES),
        row(at("2024-03-01 00:30:00"), HOUR, at("2024-02-29 23:30:00")),
    ],
    "*": [
        row(6, 7, 42),
        row(65536, 65536, FAILS, spark=WRAPS),
        row(big(2**62), 2, FAILS, spark=WRAPS),
        row(1e200, 1e200, INF),
        row(dec("1.5"), dec("1.5"), dec("2.25")),
        row(
            dec("0." + "1" * 38),
            dec("0." + "1" * 38),
            dec("0.0123456790123456790123456790123456790"),
        ),
        row(dec(NINES), dec("10"), FAILS),
    ],
    "/": [
        row(7, 2, 3.5),
        row(big(1), big(4), 0.25),
        row(-7, 2, -3.5),
        row(1, 0, FAILS),
        row(0.0, 0.0, FAILS),
        row(1.0, -0.0, FAILS),
        row(1e308, 0.1, INF),
        row(INF, INF, NAN),
        row(dec("1.00"), dec("3"), dec("0.333333")),
        row(dec("2.00"), dec("3"), dec("0.666667")),
        row(dec("1"), dec("0.0"), FAILS),
    ],
    "div": [
        row(7, 2, big(3)),
        row(-7, 2, big(-3)),
        row(7, -2, big(-3)),
        row(7, 0, FAILS),
        row(big(MIN_BIGINT), -1, FAILS, spark=WRAPS),
        row(dec("7.5"), dec("2"), big(3)),
        row(dec("-7.5"), dec("0.7"), big(-10)),
        row(dec("7.5"), dec("0"), FAILS),
    ],
    "%": [
        row(7, 3, 1),
        row(-7, 3, -1),
        row(7, -3, 1),
        row(7, 0, FAILS),
        row(big(7), 4, big(3)),
        row(-7.5, 2.0, -1.5),
        row(7.5, 0.0, FAILS),
        row(INF, 2.0, NAN),
        row(2.5, INF, 2.5),
        row(NAN, 2.0, NAN),
        row(dec("-7.5"), dec("2"), dec("-1.5")),
        row(dec("7.5"), dec("0"), FAILS),
    ],
    "pmod": [
        row(7, 3, 1),
        row(-7, 3, 2),
        row(-7, -3, -1),
        row(7, 0, FAILS),
        row(-7.5, 2.0, 0.5),
        row(dec("-7.5"), dec("2"), dec("0.5")),
    ],
    "negate": [
        row(5, -5),
        row(MIN_INT, FAILS, spark=WRAPS),
        row(big(MIN_BIGINT), FAILS, spark=WRAPS),
        row(0.0, 0.0),
        row(2.5, -2.5),
        row(dec(NINES), dec("-" + NINES), spark=AN_ERROR),
    ],
}

_ORDERED: list[tuple[Plain, Plain]] = [
    (1, 2),
    (1, 2.5),
    (dec("1.5"), 2),
    ("a", "b"),
    ("a", "ab"),
    ("Z", "a"),
    (False, True),
]
_ORDERED += [(day("2024-01-01"), at("2024-01-01 00:00:01")), (1e308, INF), (INF, NAN)]
_ORDERED += [(dec("1.05"), dec("1.1")), ("\uffff", "\U00010000"), (big(MIN_BIGINT), MIN_INT)]
_EQUAL: list[tuple[Plain, Plain]] = [
    (1, 1),
    (2, big(2)),
    (1, 1.0),
    (dec("1.50"), dec("1.5")),
    (0.0, -0.0),
    (NAN, NAN),
]
_EQUAL += [("a", "a"), (True, True), (day("2024-01-01"), at("2024-01-01 00:00:00"))]
_EQUAL += [(day("2024-01-01"), const("2024-01-01")), (dec("2.00"), 2)]


def _compared(less: bool, equal: bool, greater: bool) -> list[Row]:
    rows = [row(a, b, less) for a, b in _ORDERED] + [row(b, a, greater) for a, b in _ORDERED]
    return [*rows, *(row(a, b, equal) for a, b in _EQUAL)]


COMPARISONS: Table = {
    "=": [*_compared(False, True, False), row(null(INT), null(INT), None)],
    "<>": [*_compared(True, False, True), row(null(INT), 1, None)],
    "<": [*_compared(True, False, False), row(1, null(INT), None)],
    "<=": [*_compared(True, True, False), row(1, null(INT), None)],
    ">": [*_compared(False, False, True), row(1, null(INT), None)],
    ">=": [*_compared(False, True, True), row(1, null(INT), None)],
    "is distinct from": [
        *_compared(True, False, True),
        row(null(INT), 1, True),
        row(1, null(INT), True),
        row(null(INT), null(INT), False),
    ],
    "is not distinct from": [
        *_compared(False, True, False),
        row(null(INT), 1, False),
        row(1, null(INT), False),
        row(null(INT), null(INT), True),
    ],
}

LOGIC: Table = {
    "and": [
        row(True, True, True),
        row(True, False, False),
        row(False, False, False),
        row(True, UNKNOWN, None),
        row(UNKNOWN, UNKNOWN, None),
        row(UNKNOWN, False, False),
        row(False, UNKNOWN, False),
    ],
    "or": [
        row(True, True, True),
        row(True, False, True),
        row(False, False, False),
        row(True, UNKNOWN, True),
        row(UNKNOWN, UNKNOWN, None),
        row(UNKNOWN, False, None),
    ],
    "not": [row(True, False), row(False, True), row(UNKNOWN, None)],
    "is null": [row(1, False), row(null(INT), True), row(NAN, False), row("", False)],
    "is not null": [row(1, True), row(null(INT), False), row(NAN, True)],
    "is true": [row(True, True), row(False, False), row(UNKNOWN, False)],
    "is false": [row(True, False), row(False, True), row(UNKNOWN, False)],
    "is not true": [row(True, False), row(False, True), row(UNKNOWN, True)],
    "is not false": [row(True, True), row(False, False), row(UNKNOWN, True)],
    "in": [
        row(1, 1, 2, True),
        row(3, 1, 2, False),
        row(1, null(INT), 1, True),
        row(3, null(INT), 1, None),
        row(null(INT), 1, None),
        row(NAN, 1.0, NAN, True),
        row(1, 1.0, True),
        row(dec("2.0"), 1, 2, True),
        row(day("2024-01-01"), const("2024-01-01"), True),
    ],
    "like": [
        row("abc", "a%", True),
        row("abc", "a_", False),
        row("abc", "_b_", True),
        row("a\nc", "a%c", True),
        row("", "%", True),
        row("", "_", False),
        row("a.c", "a.c", True),
        row("abc", "a.c", False),
        row("50%", r"50\%", True),
        row("500", r"50\%", False),
        row("50%", "50!%", "!", True),
        row(r"a\b", r"a\\b", True),
        row("ABC", "abc", False),
        row("a", "a\\", FAILS, spark=AN_ERROR),
        row("ab", r"a\b", FAILS, spark=AN_ERROR),
        row("\U0001f600", "_", True),
        row("abc", null(STRING), None),
    ],
}

CHOICES: Table = {
    "coalesce": [
        row(null(INT), 2, 3, 2),
        row(1, null(INT), 1),
        row(null(INT), null(INT), None),
        row(null(INT), 2.5, 2.5),
        row(1, 2.5, 1.0),
        row(1, big(2), big(1)),
        row("a", "a"),
        row(1, dec("2.5"), dec("1.0")),
        row(day("2024-01-01"), at("2024-01-02 00:00:00"), at("2024-01-01 00:00:00")),
        row(null(INT), dec("2.50"), dec("2.50")),
    ],
    "ifnull": [row(null(INT), 2, 2), row(1, 2, 1), row(null(INT), null(INT), None)],
    "nvl2": [
        row(1, "a", "b", "a"),
        row(null(INT), "a", "b", "b"),
        row(NAN, 1, 2.5, 1.0),
        row("", null(INT), 2, None),
        row(UNKNOWN, 1, big(2), big(2)),
    ],
    "nullif": [
        row(1, 1, None),
        row(1, 2, 1),
        row(null(INT), 1, None),
        row(1, null(INT), 1),
        row(NAN, NAN, None),
        row("a", "b", "a"),
        row(dec("1.50"), 0, dec("1.50")),
    ],
    "if": [
        row(True, 1, 2, 1),
        row(False, 1, 2, 2),
        row(UNKNOWN, 1, 2, 2),
        row(True, 1, 2.5, 1.0),
        row(True, null(INT), 2, None),
    ],
    "greatest": [
        row(1, 3, 2, 3),
        row(1, null(INT), 1),
        row(null(INT), null(INT), None),
        row(INF, NAN, NAN),
        row(1, 2.5, 2.5),
        row("a", "b", "b"),
        row(day("2024-01-01"), const("2024-02-01"), day("2024-02-01"), spark=REFUSES),
    ],
    "least": [
        row(1, 3, 2, 1),
        row(3, null(INT), 3),
        row(null(INT), null(INT), None),
        row(INF, NAN, INF),
        row(dec("1.5"), 2, dec("1.5")),
    ],
}
