"""Every aggregate against its table of results and against exact arithmetic; their types."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.algebra.expressions import AggregateCall, Column, Expression, Literal, Value
from penstock.algebra.failures import Failures
from penstock.algebra.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    STRING,
    Type,
    decimal,
)
from penstock.catalog.functions import AGGREGATES, is_aggregate, resolve_aggregate
from penstock.catalog.functions.kinds import TRUTH
from penstock.errors import PenstockError
from penstock.reference.aggregate_values import MEANING, aggregate
from penstock.reference.expressions import evaluate
from unit.functions.rows import literal
from unit.functions.table_aggregates import AGGREGATES as TABLE
from unit.functions.table_aggregates import Group
from unit.test_functions import check

if TYPE_CHECKING:
    from random import Random

GROUPS = [(name, group) for name, groups in TABLE.items() for group in groups]
NUMBERS = st.floats(-1e12, 1e12)


def resolved(name: str, group: Group) -> AggregateCall:
    columns: list[Expression] = [Column(f"c{i}", type_) for i, type_ in enumerate(group.types)]
    if group.constant is not None:
        columns.append(Literal(group.constant, DOUBLE))
    return resolve_aggregate(name, tuple(columns), distinct=group.distinct)


def arguments(call: AggregateCall, group: Group) -> list[tuple[Value, ...]]:
    """The values of the arguments, implicit casts done."""
    rows = [{f"c{i}": value for i, value in enumerate(row)} for row in group.rows]
    return [tuple(evaluate(arg, row, Failures()) for arg in call.args) for row in rows]


@pytest.mark.parametrize(("name", "group"), GROUPS, ids=str)
def test_aggregate(name: str, group: Group) -> None:
    call = resolved(name, group)
    failures = Failures()
    value = aggregate(call, arguments(call, group), failures)
    check(value, call.of, failures, literal(group.expected))


def test_every_aggregate_has_a_table_and_a_meaning() -> None:
    assert set(TABLE) == set(AGGREGATES) == set(MEANING)


def test_a_failure_needs_no_counter() -> None:
    call = resolve_aggregate("sum", (Column("x", BIGINT),))
    assert aggregate(call, [(2**63 - 1,), (1,)]) is None


@given(st.lists(NUMBERS, min_size=1))
def test_sum_and_mean_are_the_exact_ones_rounded_once(values: list[float]) -> None:
    rows = [(value,) for value in values]
    exact = sum(map(Fraction, values))
    assert aggregate(resolve_aggregate("sum", (Column("x", DOUBLE),)), rows) == float(exact)
    mean = float(exact / len(values))
    assert aggregate(resolve_aggregate("avg", (Column("x", DOUBLE),)), rows) == mean


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=2))
def test_spread_and_middle_as_in_the_standard_library(values: list[int]) -> None:
    rows = [(float(value),) for value in values]
    expected = {
        "var_samp": statistics.variance(map(Fraction, values)),
        "var_pop": statistics.pvariance(map(Fraction, values)),
        "median": statistics.median(map(Fraction, values)),
        "stddev_samp": statistics.stdev(map(Fraction, values)),
        "stddev_pop": statistics.pstdev(map(Fraction, values)),
    }
    for name, exact in expected.items():
        value = aggregate(resolve_aggregate(name, (Column("x", DOUBLE),)), rows)
        assert isinstance(value, float)
        assert math.isclose(value, float(exact), rel_tol=1e-15)


@given(st.lists(NUMBERS, min_size=2), st.integers(1, 99))
def test_quantile_as_in_the_standard_library(values: list[float], percent: int) -> None:
    call = resolve_aggregate("quantile", (Column("x", DOUBLE), Literal(percent / 100, DOUBLE)))
    exact = statistics.quantiles(map(Fraction, values), n=100, method="inclusive")[percent - 1]
    assert aggregate(call, [(value, percent / 100) for value in values]) == float(exact)


@given(st.lists(NUMBERS, min_size=1), st.randoms())
def test_the_order_of_rows_does_not_matter(values: list[float], random: Random) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)
    of_numbers = {name for name, one in AGGREGATES.items() if one.kind is not TRUTH}
    for name in of_numbers - {"count", "quantile"}:
        call = resolve_aggregate(name, (Column("x", DOUBLE),))
        one, two = (aggregate(call, [(v,) for v in order]) for order in (values, shuffled))
        assert one == two


@pytest.mark.parametrize(
    ("name", "type_", "result"),
    [
        ("sum", INT, "BIGINT"),
        ("sum", BIGINT, "BIGINT"),
        ("sum", DOUBLE, "DOUBLE"),
        ("sum", decimal(5, 2), "DECIMAL(15, 2)"),
        ("sum", decimal(38, 2), "DECIMAL(38, 2)"),
        ("avg", INT, "DOUBLE"),
        ("mean", decimal(5, 2), "DECIMAL(9, 6)"),
        ("avg", decimal(38, 36), "DECIMAL(38, 38)"),
        ("min", DATE, "DATE"),
        ("max", decimal(5, 2), "DECIMAL(5, 2)"),
        ("count", STRING, "BIGINT"),
        ("var", decimal(5, 2), "DOUBLE"),
        ("std", INT, "DOUBLE"),
        ("median", INT, "DOUBLE"),
        ("every", BOOLEAN, "BOOLEAN"),
        ("some", BOOLEAN, "BOOLEAN"),
        ("any", BOOLEAN, "BOOLEAN"),
    ],
)
def test_types(name: str, type_: Type, result: str) -> None:
    call = resolve_aggregate(name, (Column("x", type_),), distinct=True)
    assert str(call.of) == result
    assert call.function in AGGREGATES
    assert is_aggregate(name.upper())


X = Column("x", INT)
Y = Column("y", STRING)


@pytest.mark.parametrize(
    ("name", "args", "distinct", "text"),
    [
        ("sum", (Y,), False, "SUM takes a number, not a STRING\n  Write CAST(y AS DOUBLE)."),
        ("sum", (X, X), False, "SUM takes 1 argument, not 2"),
        ("bool_or", (X,), False, "BOOL_OR takes a BOOLEAN, not an INT\n  Write x <> 0."),
        ("min", (Literal(1, INTERVAL),), False, "MIN takes a value, not an INTERVAL"),
        (
            "count", (X, Y), False,
            "COUNT takes at most 1 argument, not 2\n  COUNT(DISTINCT a, b) takes several.",
        ),
        (
            "count", (), True,
            "COUNT(DISTINCT *) does not say which columns make a row different\n"
            "  Write COUNT(DISTINCT a, b) with the columns.",
        ),
        (
            "percentile", (X, X), False,
            "PERCENTILE takes a constant between 0 and 1 as argument 2, not x",
        ),
        (
            "quantile", (X, Literal(1.5, DOUBLE)), False,
            "QUANTILE takes a constant between 0 and 1 as argument 2, not 1.5",
        ),
        ("quantile", (X,), False, "QUANTILE takes 2 arguments, not 1"),
        ("summ", (X,), False, 'there is no function SUMM\n  Did you mean "SUM"?'),
        ("upper", (Y,), False, "UPPER is not an aggregate"),
        (
            "any_value", (X,), False,
            "ANY_VALUE is refused: the answer would depend on the order of the rows\n"
            "  Use MIN or MAX.",
        ),
    ],
)  # fmt: skip
def test_errors(name: str, args: tuple[Expression, ...], distinct: bool, text: str) -> None:
    with pytest.raises(PenstockError) as caught:
        resolve_aggregate(name, args, distinct=distinct)
    assert str(caught.value) == text
