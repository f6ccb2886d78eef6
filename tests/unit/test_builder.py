"""The Python builder: the same plans as CQL, and what CQL cannot say."""

from __future__ import annotations

import pytest

from penstock.builder import relation, stream
from penstock.errors import PenstockError
from penstock.reference.inputs import Inputs
from penstock.reference.oracle import Oracle

CARS = stream("cars", "at BIGINT, lane INT, speed DOUBLE", time="at", unit="s")
A = stream("a", "ts BIGINT, x INT", time="ts").range(10).select("x")
B = stream("b", "ts BIGINT, x INT", time="ts").range(10).select("x")
INPUTS = Inputs({"a": [(1, 1), (1, 1), (1, 2)], "b": [(1, 1), (1, 3)]})


def test_a_chain_prints_as_a_tree() -> None:
    query = (
        CARS.range("15 minutes")
        .where("speed > 10")
        .aggregate(by=["lane"], average="AVG(speed)", n="COUNT(*)")
        .istream()
    )
    assert str(query) == (
        "IStream\n"
        "  Map lane, average = AVG(speed), n = COUNT(*)\n"
        "    Aggregate AVG(speed), COUNT(*) BY lane\n"
        "      Filter speed > 10.0\n"
        "        Window [RANGE 15 MINUTES]\n"
        "          Stream cars (at BIGINT, lane INT, speed DOUBLE)"
    )


@pytest.mark.parametrize(
    ("method", "rows"),
    [
        ("difference", {(1,): 1, (2,): 1}),
        ("intersection", {(1,): 1}),
        ("max_union", {(1,): 2, (2,): 1, (3,): 1}),
        ("strict_difference", {(2,): 1}),
        ("union_all", {(1,): 3, (2,): 1, (3,): 1}),
    ],
)
def test_bag_operations_count_copies(method: str, rows: dict[tuple[int], int]) -> None:
    query = getattr(A, method)(B)
    assert Oracle(INPUTS).timeline(query.plan).at(1) == rows


def test_group_into_divides_a_stream() -> None:
    odd = A.group_into("x % 2", 2)[1]
    assert Oracle(INPUTS).timeline(odd.plan).at(1) == {(1,): 2}


@pytest.mark.parametrize(
    ("side", "rows"),
    [
        ("LEFT", {(1, 1): 2, (2, None): 1}),
        ("RIGHT", {(1, 1): 2, (None, 3): 1}),
        ("FULL", {(1, 1): 2, (2, None): 1, (None, 3): 1}),
    ],
)
def test_outer_joins(side: str, rows: dict[tuple[int | None, int | None], int]) -> None:
    query = A.alias("a").outer_join(B.alias("b"), "a.x = b.x", side)
    assert Oracle(INPUTS).timeline(query.plan).at(1) == rows


def test_semi_and_anti_join_part_the_rows() -> None:
    a, b = A.alias("a"), B.alias("b")
    assert Oracle(INPUTS).timeline(a.semi_join(b, "a.x = b.x").plan).at(1) == {(1,): 2}
    assert Oracle(INPUTS).timeline(a.anti_join(b, "a.x = b.x").plan).at(1) == {(2,): 1}


def test_a_non_retroactive_relation_is_read_on_arrival() -> None:
    names = relation("names", "x INT, name STRING", retroactive=False).alias("n")
    query = A.alias("a").join(names, "a.x = n.x")
    assert str(query).startswith("OnArrival\n  Join a.x = n.x\n")


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: CARS.where("sped > 1"), 'the plan has no column "sped"'),
        (lambda: CARS.where("speed"), "takes a condition"),
        (lambda: CARS.where("speed >"), "something is missing after"),
        (lambda: CARS.window("RAGNE 5"), 'Did you mean "RANGE"?'),
        (lambda: CARS.range("5 months"), "has no fixed length"),
        (lambda: CARS.aggregate(n="speed + 1"), "is not an aggregate"),
        (lambda: CARS.group_into("speed", 2), "not an integer"),
        (lambda: CARS.cross(A), "share one time unit"),
        (lambda: stream("s", "a STRING", time="a"), "an event time is TIMESTAMP, INT or BIGINT"),
        (lambda: CARS.split(5), "never ends"),
        (lambda: CARS.rows(2).split(5), "never ends"),
        (lambda: CARS.range(5).aggregate(n="COUNT(*)").split(5), "never ends"),
        (lambda: CARS.range(5).split(0), "pieces of length 0"),
        (lambda: CARS.range(5).istream(restore=True), "needs a periodic query"),
        (lambda: CARS.range(5).rstream().istream(), "already sends out a stream"),
        (lambda: CARS.range(5).dstream().final(), "EMIT FINAL has no meaning with DSTREAM"),
        (lambda: CARS.window("RANGE 3 INTERNAL"), "end the chain with .internal()"),
        (lambda: CARS.range(5).distinct().internal(), "no meaning under DISTINCT"),
        (lambda: A.alias("a").outer_join(B.alias("b"), "a.x = b.x", "UP"), 'with side "UP"'),
        (lambda: CARS.group_into("lane", 0), "into 0 streams"),
        (lambda: A.join(B, "x = x"), 'both plans have a column called "x"'),
        (lambda: A.cross(B), 'both plans have a column called "x"'),
    ],
)
def test_mistakes_are_told(build: object, said: str) -> None:
    with pytest.raises(PenstockError) as caught:
        build()  # type: ignore[operator]  # every row is a function without arguments
    assert said in str(caught.value)


def test_internal_windows_let_results_stay() -> None:
    a, b = A.alias("a"), B.alias("b")
    joined = a.join(b, "a.x = b.x").internal()
    assert Oracle(INPUTS).timeline(joined.plan).at(1000) == {(1, 1): 2}
