"""Rows that are generated: the row of a number is always the same, and is what the options say."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import penstock
from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import Stream
from penstock.catalog.definitions import StreamDefinition
from penstock.connectors.generated_rows import Generator
from penstock.errors import NotSupported, PenstockError, QueryError
from penstock.reference.inputs import Inputs
from penstock.reference.oracle import Oracle
from penstock.session import Session

if TYPE_CHECKING:
    from penstock.reference.timeline import Row

COLUMNS = (
    "ts TIMESTAMP, k INT, wide BIGINT, name STRING, share DOUBLE, price DECIMAL(7, 2),"
    " is_new BOOLEAN, day DATE, other TIMESTAMP"
)
EVERYTHING = (
    "rows_per_second 250, disorder '2 seconds', seed 5, start '2025-03-01 12:00:00', k.min -3,"
    " k.different 20, k.skew '1.2', wide.different 5, name.nulls '0.25', name.different 7,"
    " share.min 10, share.max 20, price.different 40, is_new.skew '2', day.different 3"
)
SECOND = 1_000_000


def generator(columns: str, options: str, slack: str = "") -> Generator:
    session = Session()
    time = columns.split()[0]
    session.execute(
        f"CREATE STREAM s ({columns}, WATERMARK FOR {time} AS {time}{slack})"
        f" USING generate OPTIONS ({options})"
    )
    found = session.catalog.find("s", "stream")
    assert isinstance(found, StreamDefinition)
    return Generator(found)


def table(made: Generator, start: int, stop: int) -> pa.Table:
    return pa.table(made.rows(start, stop))


def test_rows_do_not_depend_on_how_they_are_divided() -> None:
    made = generator(COLUMNS, EVERYTHING)
    whole = table(made, 0, 5000)
    draw = random.Random(2)
    ends = sorted([0, 5000, *(draw.randrange(5000) for _ in range(12))])
    parts = [table(generator(COLUMNS, EVERYTHING), *one) for one in pairwise(ends)]
    assert pa.concat_tables(parts).combine_chunks().equals(whole)
    assert whole.schema.types[5] == pa.decimal128(7, 2)


def test_rows_are_as_the_options_say() -> None:
    rows = table(generator(COLUMNS, EVERYTHING), 0, 20_000)
    times = rows["ts"].cast(pa.int64()).to_numpy()
    first = 1_740_830_400 * SECOND
    due = first + np.arange(20_000) * SECOND // 250
    assert ((times <= due) & (times >= due - 2 * SECOND)).all()
    # No row is later than the slack behind one before it, and many are out of order.
    behind = np.maximum.accumulate(times) - times
    assert 0 < behind.max() <= 2 * SECOND
    assert (behind > 0).mean() > 0.9
    found = Counter(rows["k"].to_pylist())
    assert set(found) == set(range(-3, 17))
    # Zipf's law: the second is 2 ** 1.2 times less frequent than the first.
    assert found[-3] / found[-2] == pytest.approx(2**1.2, rel=0.1)
    assert set(rows["wide"].to_pylist()) == set(range(5))
    assert rows["name"].null_count / 20_000 == pytest.approx(0.25, abs=0.02)
    assert set(rows["name"].drop_null().to_pylist()) == {f"name_{one}" for one in range(7)}
    shares = rows["share"].to_numpy()
    assert shares.min() >= 10
    assert shares.max() < 20
    assert shares.mean() == pytest.approx(15, abs=0.1)
    assert {str(one) for one in rows["price"].to_pylist()} == {f"0.{one:02}" for one in range(40)}
    assert rows["is_new"].to_numpy().mean() == pytest.approx(0.8, abs=0.02)
    assert len(set(rows["day"].to_pylist())) == 3
    assert not table(generator(COLUMNS, f"{EVERYTHING}, rows 9"), 0, 100).equals(
        table(generator(COLUMNS, EVERYTHING.replace("seed 5", "seed 6")), 0, 100)
    )


def test_time_goes_on_evenly_in_every_unit() -> None:
    ticks = table(generator("ts BIGINT, k INT", "rows_per_tick '2.5'"), 0, 6)
    assert ticks["ts"].to_pylist() == [0, 0, 0, 1, 1, 2]
    millis = generator("ts BIGINT, k INT", "rows_per_second 3, time_unit 'ms', start 100")
    assert table(millis, 3, 7)["ts"].to_pylist() == [1100, 1433, 1766, 2100]
    late = table(millis, 10**12, 10**12 + 1)["ts"].to_pylist()
    assert late == [100 + 10**15 // 3]
    assert millis.due(2.5) == 7
    assert generator("ts BIGINT, k INT", "rows 5").due(100.0) == 5


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("rows 0", "rows is '0', not a whole number from 1 on"),
        ("rowz 3", 'no option "rowz"'),
        ("rows_per_second 0", "rows_per_second is '0', not a number above 0"),
        ("k.skw 1", 'Did you mean "k.skew"?'),
        ("k.skew 11", "k.skew is '11', not a number from 0 to 10"),
        ("share.different 3", "A column of type DOUBLE has min, max, nulls."),
        ("share.min 5, share.max 5", "share.max is '5', not above 5, the min"),
        ("name.nulls 2", "name.nulls is '2', not a number from 0 to 1"),
        ("ts.nulls 1", 'no option "ts.nulls"'),
        ("start 'noon'", "start is 'noon', not an instant of this stream"),
        ("disorder 3", "disorder '3' is no length of time"),
        ("rows_per_tick 3", 'no option "rows_per_tick"'),
        ("seed -1", "seed is '-1', not a whole number from 0 on"),
        ("k.min 2147483647, k.different 5", "not one that INT has room for"),
        ("k.different 20000000, k.skew 1", "at most 10,000,000 where there is a skew"),
    ],
)
def test_options_without_meaning_are_refused(option: str, sentence: str) -> None:
    with pytest.raises(PenstockError) as caught:
        generator(COLUMNS, option)
    assert sentence in str(caught.value)
    # So does a connection, before anything is declared.
    with penstock.connect_inline() as db:
        with pytest.raises(PenstockError):
            db.execute(
                f"CREATE STREAM s ({COLUMNS}, WATERMARK FOR ts AS ts)"
                f" USING generate OPTIONS (rows 5, {option})"
            )
        assert db.engine.catalog.get("s") is None


def test_a_relation_and_rows_without_end_are_refused_here() -> None:
    with penstock.connect_inline() as db:
        with pytest.raises(QueryError, match="only streams are generated"):
            db.execute("CREATE RELATION r (k INT) USING generate OPTIONS (rows 5)")
        with pytest.raises(NotSupported, match="is generated on and on"):
            db.execute("CREATE STREAM s (ts BIGINT, WATERMARK FOR ts AS ts) USING generate")
        db.execute("""
            CREATE STREAM s (ts BIGINT, WATERMARK FOR ts AS ts) USING generate OPTIONS (rows 5)
        """)
        with pytest.raises(QueryError, match="is generated: rows cannot be inserted"):
            db.insert("s", [(1,)])


QUERIES = {
    "grouped": "SELECT k, COUNT(*) AS n, SUM(v) AS total FROM s [RANGE 9] GROUP BY k",
    "joined": "SELECT s.k, v FROM s [RANGE 5] JOIN t [RANGE 3] ON s.k = t.k",
    "counted": "SELECT k, v FROM s [PARTITION BY k ROWS 2]",
    "missing": "SELECT k FROM t [RANGE 4] WHERE k NOT IN (SELECT k FROM s [RANGE 8])",
}


def plain(rows: pa.Table) -> list[Row]:
    return [tuple(one.values()) for one in rows.to_pylist()]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("query", QUERIES)
def test_a_connection_answers_what_the_oracle_says_of_the_same_rows(query: str, seed: int) -> None:
    draw = random.Random(seed)
    columns = {"s": "ts BIGINT, k INT, v INT", "t": "ts BIGINT, k INT"}
    made = {}
    with penstock.connect_inline(lanes=draw.choice([1, 3])) as db:
        for name, declared in columns.items():
            disorder = draw.randrange(6)
            options = (
                f"rows {draw.randrange(30, 90)}, rows_per_tick {draw.choice(['0.5', '2', '3'])},"
                f" disorder {disorder}, seed {draw.randrange(99)}, k.different 4,"
                f" k.skew {draw.choice(['0', '1.5'])}, k.nulls '0.1'"
            )
            made[name] = generator(declared, options, f" - {disorder}")
            db.execute(
                f"CREATE STREAM {name} ({declared}, WATERMARK FOR ts AS ts - {disorder})"
                f" USING generate OPTIONS ({options})"
            )
        db.execute(f"CREATE QUERY q AS {QUERIES[query]}")
        plan = db["q"].plan
        db.finish()
        found: list[Any] = plain(db["q"].changes().to_arrow())
        streams = {name: plain(table(one, 0, one.options.rows or 0)) for name, one in made.items()}
        read = {one.name for one in different_nodes(plan) if isinstance(one, Stream)}
        for name, facts in db.progress()["streams"].items():
            assert facts["rows"] == (len(streams[name]) if name in read else 0)
    timeline = Oracle(Inputs(streams, {})).timeline(plan)
    expected = [
        (*row, change.at, sign)
        for change in timeline.changes()
        for sign, rows in (("-", change.removed), ("+", change.inserted))
        for row in rows.elements()
    ]
    assert Counter(found) == Counter(expected)
    assert found
