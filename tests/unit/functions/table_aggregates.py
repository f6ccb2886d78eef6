"""Results of the aggregates: the column, in rows, and the result."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.algebra.expressions import Value
from penstock.algebra.types import BIGINT, BOOLEAN, DATE, DOUBLE, INT, STRING, Type, decimal
from unit.functions.rows import FAILS, INF, MAX_BIGINT, NAN, Plain, big, day, dec

Rows = list[tuple[Value, ...]]


@dataclass(frozen=True)
class Group:
    """An aggregate over columns of some types; `spark` says in which way Spark's is another."""

    types: tuple[Type, ...]
    rows: Rows
    expected: Plain
    distinct: bool = False
    constant: float | None = None
    spark: str = ""


def group(
    type_: Type,
    values: list[object],
    expected: Plain,
    *,
    distinct: bool = False,
    constant: float | None = None,
    spark: str = "",
) -> Group:
    """A group of one column."""
    rows: Rows = [(literal_value(value),) for value in values]
    return Group((type_,), rows, expected, distinct, constant, spark)


def literal_value(value: object) -> Value:
    """Decimals are written as texts like 'd1.50'."""
    if isinstance(value, str) and value.startswith("d") and value[1:2] in "-0123456789":
        return dec(value[1:]).value
    assert value is None or isinstance(value, bool | int | float | str)
    return value


MONEY = decimal(5, 2)
PAIRS: Rows = [(1, None), (1, "a"), (1, "a"), (None, "a"), (2, "a")]
HUGE = "d" + "9" * 38

AGGREGATES: dict[str, list[Group]] = {
    "count": [
        Group((), [(), (), ()], big(3)),
        Group((), [], big(0)),
        group(INT, [1, None, 1], big(2)),
        group(INT, [1, None, 1], big(1), distinct=True),
        group(DOUBLE, [0.0, -0.0, NAN, NAN], big(2), distinct=True),
        group(INT, [None], big(0)),
        Group((INT, STRING), PAIRS, big(2), distinct=True),
    ],
    "sum": [
        group(INT, [1, 2, None, 3], big(6)),
        group(INT, [2**31 - 1, 1], big(2**31)),
        group(BIGINT, [MAX_BIGINT, 1, -1], big(MAX_BIGINT)),
        group(BIGINT, [MAX_BIGINT, 1], FAILS, spark="wraps around"),
        group(INT, [2, 2, 3], big(5), distinct=True),
        group(INT, [], None),
        group(INT, [None], None),
        group(DOUBLE, [0.5, 0.25], 0.75),
        group(DOUBLE, [1e308, 1e308, -1e308], 1e308, spark="overflows on the way"),
        group(DOUBLE, [1e308, 1e308], INF),
        group(DOUBLE, [1e16, 1.0, -1e16], 1.0, spark="loses digits on the way"),
        group(DOUBLE, [INF, 1.0], INF),
        group(DOUBLE, [INF, -INF], NAN),
        group(DOUBLE, [NAN, 1.0], NAN),
        group(MONEY, ["d1.50", "d2.25"], dec("3.75")),
        group(decimal(38, 0), [HUGE, "d1"], FAILS),
    ],
    "avg": [
        group(INT, [1, 2], 1.5),
        group(INT, [1, 1, 4], 2.5, distinct=True),
        group(BIGINT, [MAX_BIGINT, MAX_BIGINT], float(MAX_BIGINT)),
        group(DOUBLE, [1e308, 1e308], 1e308, spark="overflows on the way"),
        group(DOUBLE, [-INF, 1.0], -INF),
        group(MONEY, ["d1.00", "d1.00", "d0.00"], dec("0.666667")),
        group(INT, [None], None),
    ],
    "min": [
        group(INT, [3, 1, None, 2], 1),
        group(DOUBLE, [NAN, INF], INF),
        group(STRING, ["b", "a", "B"], "B"),
        group(BOOLEAN, [True, False], False),
        group(DATE, [5, -5], day("1969-12-27")),
        group(INT, [], None),
    ],
    "max": [
        group(INT, [3, 1, None, 2], 3),
        group(DOUBLE, [NAN, INF], NAN),
        group(STRING, ["b", "a", ""], "b"),
        group(MONEY, ["d1.50", "d-2.25"], dec("1.50")),
        group(INT, [3, 3], 3, distinct=True),
        group(INT, [None], None),
    ],
    "var_samp": [
        group(INT, [1, 2, 3, 4], 5 / 3),
        group(INT, [7], None),
        group(INT, [7, None], None),
        group(INT, [1, 3, 3], 2.0, distinct=True),
        group(DOUBLE, [1e9 + 1, 1e9 + 2, 1e9 + 3], 1.0),
        group(DOUBLE, [1.0, INF], NAN),
        group(MONEY, ["d1.00", "d2.00"], 0.5),
        group(INT, [], None),
    ],
    "var_pop": [
        group(INT, [1, 2, 3, 4], 1.25),
        group(INT, [7], 0.0),
        group(DOUBLE, [NAN], NAN),
        group(INT, [], None),
    ],
    "stddev_samp": [
        group(INT, [1, 2, 3, 4], (5 / 3) ** 0.5),
        group(INT, [7], None),
        group(DOUBLE, [NAN, 1.0], NAN),
        group(INT, [], None),
    ],
    "stddev_pop": [
        group(INT, [1, 3], 1.0),
        group(INT, [7], 0.0),
        group(DOUBLE, [INF, 1.0], NAN),
        group(INT, [], None),
    ],
    "median": [
        group(INT, [3, 1, 2], 2.0),
        group(INT, [4, 1, 2, 3], 2.5),
        group(INT, [1, 1, 4], 2.5, distinct=True),
        group(INT, [5], 5.0),
        group(MONEY, ["d1.50", "d2.00"], 1.75),
        group(DOUBLE, [1.0, NAN], NAN),
        group(DOUBLE, [1.0, 2.0, NAN], 2.0),
        group(DOUBLE, [INF, INF], INF),
        group(DOUBLE, [-INF, INF], NAN),
        group(BIGINT, [MAX_BIGINT, MAX_BIGINT], float(MAX_BIGINT)),
        group(INT, [None], None),
    ],
    "quantile": [
        group(INT, [1, 2, 10], 1.5, constant=0.25),
        group(INT, [1, 2, 10], 1.0, constant=0.0),
        group(INT, [1, 2, 10], 10.0, constant=1.0),
        group(INT, [10, 2, 2, 1], 6.0, constant=0.75, distinct=True),
        group(DOUBLE, [float(x) for x in range(11)], 1.0, constant=0.1),
        group(INT, [], None, constant=0.5),
    ],
    "count_if": [
        group(BOOLEAN, [True, False, None, True], big(2)),
        group(BOOLEAN, [True, True], big(1), distinct=True),
        group(BOOLEAN, [], big(0)),
        group(BOOLEAN, [None], big(0)),
    ],
    "bool_and": [
        group(BOOLEAN, [True, None], True),
        group(BOOLEAN, [True, False], False),
        group(BOOLEAN, [None], None),
        group(BOOLEAN, [], None),
    ],
    "bool_or": [
        group(BOOLEAN, [False, None], False),
        group(BOOLEAN, [True, False], True),
        group(BOOLEAN, [], None),
    ],
}
