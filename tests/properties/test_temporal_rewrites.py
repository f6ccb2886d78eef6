"""The rewrites of the temporal algebra hold in the oracle, for any input, at every instant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.algebra.time import TimeUnit
from penstock.builder import QueryBuilder, stream
from penstock.reference.compare import compare_timelines
from penstock.reference.inputs import Inputs
from penstock.reference.oracle import Oracle
from penstock.session import Session

small = st.one_of(st.none(), st.integers(0, 3))
rows = st.lists(st.tuples(st.integers(-12, 25), small, small), max_size=7)
inputs = st.fixed_dictionaries({"a": rows, "b": rows, "c": rows}).map(Inputs)

TIME_WINDOWS = [
    "RANGE 5",
    "RANGE 7 SLIDE 3",
    "RANGE 2 SLIDE 5",
    "FIXED 4",
    "NOW",
    "UNBOUNDED",
    "SINCE 6",
    "BETWEEN 3 AND 9",
]
ROW_WINDOWS = ["ROWS 2", "ROWS 3 SLIDE 2", "PARTITION BY k ROWS 1", "PARTITION BY k ROWS 2 SLIDE 2"]
windows = st.sampled_from(TIME_WINDOWS + ROW_WINDOWS)


def source(name: str) -> QueryBuilder:
    return stream(name, "ts BIGINT, k INT, v INT", time="ts")


A, B, C = source("a"), source("b"), source("c")


def assert_same(left: QueryBuilder, right: QueryBuilder, given_inputs: Inputs) -> None:
    """Snapshot-equivalence: at every instant both hold the same rows."""
    schema = left.plan.schema
    expected, actual = (Oracle(given_inputs).timeline(one.plan) for one in (left, right))
    difference = compare_timelines(expected, actual, schema, TimeUnit.TICK)
    assert difference is None, f"{left}\n\n{right}\n\n{difference}"


@given(inputs, windows, windows, windows)
def test_product_is_associative(data: Inputs, x: str, y: str, z: str) -> None:
    a, b, c = A.window(x).alias("a"), B.window(y).alias("b"), C.window(z).alias("c")
    assert_same(a.cross(b).cross(c), a.cross(b.cross(c)), data)


@given(inputs, windows, windows)
def test_filter_over_union_is_union_of_filters(data: Inputs, x: str, y: str) -> None:
    a, b = A.window(x), B.window(y)
    above = a.union_all(b).where("v > 1 OR k = 0")
    below = a.where("v > 1 OR k = 0").union_all(b.where("v > 1 OR k = 0"))
    assert_same(above, below, data)


@given(inputs, windows, windows)
def test_distinct_over_product_is_product_of_distincts(data: Inputs, x: str, y: str) -> None:
    a = A.window(x).select("k").alias("a")
    b = B.window(y).select("v").alias("b")
    assert_same(a.cross(b).distinct(), a.distinct().cross(b.distinct()), data)


@pytest.mark.parametrize("window", TIME_WINDOWS)
@given(data=inputs)
def test_filter_commutes_with_time_windows(window: str, data: Inputs) -> None:
    assert_same(A.window(window).where("v >= 1"), A.where("v >= 1").window(window), data)


@pytest.mark.parametrize("window", TIME_WINDOWS)
@given(data=inputs)
def test_map_commutes_with_time_windows(window: str, data: Inputs) -> None:
    after = A.window(window).select(sum="k + v", k="k")
    before = A.select(sum="k + v", k="k").window(window)
    assert_same(after, before, data)


@pytest.mark.parametrize("window", TIME_WINDOWS)
@given(data=inputs)
def test_group_commutes_with_time_windows(window: str, data: Inputs) -> None:
    after = A.window(window).group_into("k % 3", 3)
    before = A.group_into("k % 3", 3)
    for windowed, grouped in zip(after, before, strict=True):
        assert_same(windowed, grouped.window(window), data)


@pytest.mark.parametrize("window", ROW_WINDOWS)
@given(data=inputs)
def test_map_that_keeps_the_partition_key_commutes_with_row_windows(
    window: str, data: Inputs
) -> None:
    after = A.window(window).select(k="k", double="v * 2")
    before = A.select(k="k", double="v * 2").window(window)
    assert_same(after, before, data)


def test_filter_does_not_commute_with_rows() -> None:
    # The last row of a, and of it only rows with v >= 1, is not the last row with v >= 1.
    data = Inputs({"a": [(1, 0, 5), (2, 0, 0)]})
    after, before = A.rows(1).where("v >= 1"), A.where("v >= 1").rows(1)
    assert not Oracle(data).timeline(after.plan).at(2)
    assert Oracle(data).timeline(before.plan).at(2)


@given(inputs, windows)
def test_grouped_aggregation_is_a_union_of_aggregations_over_groups(data: Inputs, x: str) -> None:
    def total(group: QueryBuilder) -> QueryBuilder:
        return group.aggregate(row_over_nothing=False, n="COUNT(*)", sum="SUM(v)", k="MAX(k)")

    a = A.window(x).where("k IS NOT NULL")
    first, *others = map(total, a.group_into("k", 4))
    grouped = a.aggregate(by=["k"], n="COUNT(*)", sum="SUM(v)").select("n", "sum", "k")
    assert_same(grouped, first.union_all(*others), data)


def stations(count: int, *, pushed: bool) -> str:
    """The query over many measuring stations, its filter above or below the union."""
    having = " HAVING AVG(speed) < 15" if pushed else ""
    branches = [
        f"SELECT AVG(speed) AS avgSpeed, {n} AS sectionID FROM Highway{n} [RANGE 9]{having}"
        for n in range(1, count + 1)
    ]
    union = " UNION ALL ".join(branches)
    where = "" if pushed else " WHERE avgSpeed < 15"
    return f"SELECT sectionID FROM ({union}){where}"


speeds = st.lists(st.tuples(st.integers(0, 20), st.integers(5, 25).map(float)), max_size=4)


@given(st.lists(speeds, min_size=20, max_size=20))
def test_twenty_stations_with_the_filter_pushed_below_the_union(readings: list[object]) -> None:
    session = Session()
    names = [f"Highway{n}" for n in range(1, 21)]
    for name in names:
        session.execute(f"CREATE STREAM {name} (ts BIGINT, speed DOUBLE, WATERMARK FOR ts AS ts)")
    data = Inputs(dict(zip(names, readings, strict=True)))  # type: ignore[arg-type]  # rows of two values
    above, below = (session.bind(stations(20, pushed=pushed)).plan for pushed in (False, True))
    assert_same(QueryBuilder(above), QueryBuilder(below), data)
