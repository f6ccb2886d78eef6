"""Bad input has a defined outcome that names the stream and the column, and loses nothing."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

import penstock
from connection.inside import local_engine
from penstock.errors import DataError
from penstock.runtime import jumps
from penstock.runtime.changes import due_from, read_changes
from penstock.runtime.local_run import LocalRun
from penstock.session import Session

if TYPE_CHECKING:
    from penstock.connection.connection import Connection

DECLARED = """CREATE STREAM s (ts BIGINT, i INT, d DOUBLE, m DECIMAL(6, 2), x STRING, b BOOLEAN,
day DATE, at TIMESTAMP, WATERMARK FOR ts AS ts)"""
GOOD: dict[str, pa.Array] = {
    "ts": pa.array([1], pa.int64()),
    "i": pa.array([1], pa.int32()),
    "d": pa.array([1.0]),
    "m": pa.array([Decimal("1.50")], pa.decimal128(6, 2)),
    "x": pa.array(["x"]),
    "b": pa.array([True]),
    "day": pa.array([1], pa.int32()).cast(pa.date32()),
    "at": pa.array([1], pa.int64()).cast(pa.timestamp("us")),
}


@pytest.fixture
def db() -> Connection:
    db = penstock.connect_inline()
    db.execute(DECLARED)
    return db


def keyed(**options: object) -> Connection:
    db = penstock.connect_inline(**options)  # type: ignore[arg-type]  # options of connect
    db.execute("CREATE STREAM k (ts BIGINT, key DOUBLE, x STRING, WATERMARK FOR ts AS ts)")
    return db


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("i", pa.array([1.0]), "declared INT, but double came"),
        ("i", pa.array([1.0]), 'pandas makes doubles of integers with gaps, and .astype("Int64")'),
        ("i", pa.array(["1"]), "declared INT, but string came"),
        ("i", pa.array([2**40]), "a value that came does not fit"),
        ("i", pa.array([True]), "declared INT, but bool came"),
        ("ts", pa.array([2**63], pa.uint64()), "a value that came does not fit"),
        ("ts", pa.array([1], pa.timestamp("us")), "declared BIGINT, but timestamp[us] came"),
        ("d", pa.array(["x"]).dictionary_encode(), "declared DOUBLE, but dictionary"),
        ("d", pa.array([2**60 + 1]), "a value that came does not fit"),
        ("m", pa.array([1.5]), "declared DECIMAL(6, 2), but double came"),
        ("m", pa.array([Decimal("12345.67")]), "a value that came does not fit"),
        ("m", pa.array([Decimal("1.234")]), "a value that came does not fit"),
        ("m", pa.array([123456]), "a value that came does not fit"),
        ("x", pa.array([1]), "declared STRING, but int64 came"),
        ("x", pa.array([b"\xff"], pa.binary()), "declared STRING, but binary came"),
        ("b", pa.array([1]), "declared BOOLEAN, but int64 came"),
        ("day", pa.array([1]), "declared DATE, but int64 came"),
        ("day", pa.array(["soon"]), "'soon' in row 1 is not a value of type DATE"),
        ("at", pa.array(["2024-13-01"]), "'2024-13-01' in row 1 is not a value of type TIMESTAMP"),
        ("at", pa.array([1]), "declared TIMESTAMP, but int64 came"),
        ("at", pa.array([1]), "pandas.to_datetime(numbers, unit='s')"),
        ("at", pa.array([1], pa.timestamp("ns")), "a value that came does not fit"),
        ("x", pa.array([["x"]]), "declared STRING, but list<"),
        ("x", pa.array([b"\xff\xfe"]).view(pa.string()), "a value that came does not fit"),
    ],
)
def test_a_column_of_another_type_is_refused_by_name_and_nothing_is_taken_in(
    db: Connection, column: str, values: pa.Array, message: str
) -> None:
    query = db.query("SELECT * FROM s [UNBOUNDED]")
    with pytest.raises(DataError) as caught:
        db.insert("s", pa.table(GOOD | {column: values}))
    assert f'stream "s", column "{column}"' in str(caught.value)
    assert message in str(caught.value)
    assert caught.value.hint
    assert db.progress()["streams"]["s"]["rows"] == 0
    db.insert("s", pa.table(GOOD))
    db.finish()
    assert query.snapshot().num_rows == 1


@pytest.mark.parametrize(
    ("column", "values", "read"),
    [
        ("i", pa.array([1], pa.int8()), 1),
        ("i", pa.array([1], pa.uint64()), 1),
        ("i", pa.array([None], pa.null()), None),
        ("d", pa.array([1]), 1.0),
        ("d", pa.array([1.5], pa.float32()), 1.5),
        ("d", pa.array([Decimal("1.5")]), 1.5),
        ("m", pa.array([1]), Decimal("1.00")),
        ("m", pa.array([Decimal("1.5")]), Decimal("1.50")),
        ("x", pa.array(["x"]).dictionary_encode(), "x"),
        ("x", pa.array(["x"], pa.large_string()), "x"),
        ("x", pa.array(["x"], pa.string_view()), "x"),
        ("day", pa.array(["1970-01-02"]), GOOD["day"][0].as_py()),
        ("at", pa.array([1000], pa.timestamp("ns")), GOOD["at"][0].as_py()),
        ("at", pa.array([1], pa.timestamp("us", "Europe/Berlin")), GOOD["at"][0].as_py()),
        ("day", pa.array([86_400_000]).cast(pa.date64()), GOOD["day"][0].as_py()),
    ],
)
def test_another_width_or_unit_of_the_declared_type_is_read(
    db: Connection, column: str, values: pa.Array, read: object
) -> None:
    query = db.query(f"SELECT {column} AS v FROM s [UNBOUNDED]")
    db.insert("s", pa.table(GOOD | {column: values}))
    db.finish()
    assert query.snapshot()["v"].to_pylist() == [read]


@pytest.mark.parametrize(
    ("column", "value"),
    [("i", 1.5), ("i", "7"), ("i", 2**31), ("i", True), ("d", "x"), ("x", 7), ("m", 1.5),
     ("m", Decimal("123456")), ("at", "soon"), ("day", "yesterday"), ("b", 1)],
)  # fmt: skip
def test_a_python_value_of_another_type_is_refused_with_its_row(
    db: Connection, column: str, value: object
) -> None:
    good = {name: values[0].as_py() for name, values in GOOD.items()}
    with pytest.raises(DataError) as caught:
        db.insert("s", [good, good | {column: value}])
    assert f'stream "s", column "{column}": {value!r} in row 2 is not a value' in str(caught.value)


def test_a_column_that_is_missing_or_there_twice_is_named(db: Connection) -> None:
    with pytest.raises(DataError, match='stream "s": the rows that came have no column "x"'):
        db.insert("s", pa.table({name: one for name, one in GOOD.items() if name != "x"}))
    twice = pa.table([*GOOD.values(), GOOD["x"]], names=[*GOOD, "x"])
    with pytest.raises(DataError, match='have 2 columns called "x"'):
        db.insert("s", twice)


def test_rows_without_an_event_time_or_outside_of_time_are_set_aside_and_counted() -> None:
    db = keyed()
    query = db.query("SELECT x FROM k [UNBOUNDED]")
    rows = [(None, 1.0, "no time"), (2, 1.0, "good"), (2**63 - 1, 1.0, "end"), (-(2**63), 1.0, "b")]
    assert db.insert("k", rows) == 4
    assert db.progress()["streams"]["k"]["aside"] == 3
    aside = db.late("k").to_pylist()
    assert [(row["x"], row["_reason"], row["_position"]) for row in aside] == [
        ("no time", "no event time", "0"),
        ("end", "outside of time", "2"),
        ("b", "outside of time", "3"),
    ]
    db.finish()
    assert query.snapshot().to_pylist() == [{"x": "good"}]


def test_negative_timestamps_are_instants_as_others() -> None:
    db = keyed()
    query = db.query("SELECT x FROM k [RANGE 3]")
    sliding = db.query("RSTREAM(SELECT COUNT(*) AS n FROM k [RANGE 4 SLIDE 4])")
    assert db.insert("k", [(-7, 0.0, "a"), (-5, 0.0, "b"), (1, 0.0, "c")]) == 3
    db.finish()
    changes = [(row["_at"], row["_sign"], row["x"]) for row in query.changes().to_pylist()]
    assert changes == [
        (-7, "+", "a"), (-5, "+", "b"), (-4, "-", "a"), (-2, "-", "b"), (1, "+", "c"), (4, "-", "c")
    ]  # fmt: skip
    assert [tuple(row.values()) for row in sliding.emissions().to_pylist()] == [
        (2, -4), (0, 0), (1, 4), (0, 8)
    ]  # fmt: skip


def test_nan_keys_are_one_group_and_so_are_both_zeros() -> None:
    db = keyed()
    query = db.query("SELECT key, COUNT(*) AS n FROM k [UNBOUNDED] GROUP BY key")
    other_nan = np.array([0xFFF8000000000001], np.uint64).view(np.float64)[0]
    keys = [float("nan"), other_nan, -0.0, 0.0, None, None]
    db.insert("k", [(1, key, "") for key in keys])
    db.finish()
    groups = query.snapshot()
    assert groups["n"].to_pylist() == [2, 2, 2]
    assert [str(key) for key in groups["key"].to_pylist()] == ["None", "0.0", "nan"]


def test_strings_of_megabytes_go_through_state_and_come_out_whole() -> None:
    db = keyed()
    query = db.query("SELECT x, COUNT(*) AS n FROM k [RANGE 2] GROUP BY x")
    long = "ü" * 5_000_000
    db.insert("k", [(1, 0.0, long), (2, 0.0, long + "!"), (2, 0.0, long)])
    db.advance("k", 3)
    assert query.snapshot().to_pylist() == [{"x": long, "n": 2}, {"x": long + "!", "n": 1}]
    db.finish()
    assert query.snapshot().num_rows == 0


@pytest.mark.parametrize("empty", [[], pa.table({"ts": pa.array([], pa.int64()),
    "key": pa.array([], pa.float64()), "x": pa.array([], pa.string())})])  # fmt: skip
def test_empty_blocks_and_blocks_of_one_row_change_nothing(empty: object) -> None:
    rows = [(n, float(n % 3), str(n)) for n in range(20)]
    text = "SELECT key, COUNT(*) AS n, MAX(x) AS x FROM k [RANGE 5] GROUP BY key"
    whole, cut = keyed(), keyed()
    queries = [whole.query(text), cut.query(text)]
    whole.insert("k", rows)
    assert cut.insert("k", empty) == 0
    for row in rows:
        cut.insert("k", [row])
        cut.insert("k", empty)
    assert local_engine(cut).feeding.watermarks == local_engine(whole).feeding.watermarks
    whole.finish()
    cut.finish()
    found = [query.changes().to_pylist() for query in queries]
    assert len(found[0]) > 20
    assert sorted(found[0], key=repr) == sorted(found[1], key=repr)


QUERIES = [
    "SELECT x FROM k [RANGE 10]",
    "SELECT x FROM k [RANGE 10 SLIDE 5]",
    "SELECT x FROM k [FIXED 10]",
    "SELECT key, COUNT(*) AS n FROM k [RANGE 10] GROUP BY key",
    "SELECT COUNT(*) AS n FROM k [RANGE 10 SLIDE 5]",
    "SELECT DISTINCT x FROM k [RANGE 10]",
    "SELECT a.x FROM k [RANGE 10] a, k [RANGE 5] b WHERE a.key = b.key",
    "SELECT x FROM k [RANGE 9] EXCEPT ALL SELECT x FROM k [RANGE 3]",
    "SELECT x FROM k [ROWS 2]",
]


@pytest.mark.parametrize("text", QUERIES)
def test_a_row_from_the_far_future_moves_the_watermark_and_later_rows_are_late(text: str) -> None:
    db = keyed()
    query = db.query(text)
    db.insert("k", [(1, 1.0, "a"), (2, 1.0, "b")])
    future = 2**63 - 3
    assert db.insert("k", [(future, 1.0, "far")]) == 1
    assert db.insert("k", [(3, 1.0, "late")]) == 1
    assert db.progress()["streams"]["k"]["late"] == 1
    assert db.late("k")["_reason"].to_pylist() == [
        f"late by {future - 3}: before the watermark {future}"
    ]
    assert query.clock is not None
    assert query.changes().num_rows >= 2
    db.finish()


PERIODIC = "RSTREAM(SELECT COUNT(*) AS n FROM k [RANGE 10 SLIDE 5])"


@pytest.mark.parametrize("rows", [[(10**15, 0.0, "far")], [(3, 0.0, "b"), (10**15, 0.0, "far")]])
def test_a_periodic_query_refuses_a_jump_over_too_many_slides_before_anything_happens(
    rows: list[tuple[int, float, str]],
) -> None:
    db = keyed()
    query = db.query(PERIODIC)
    db.insert("k", [(1, 0.0, "a")])
    with pytest.raises(DataError) as caught:
        db.insert("k", rows)
    assert 'stream "k", column "ts": a row at 1000000000000000 is 199999999999999 slides' in str(
        caught.value
    )
    assert db.progress()["streams"]["k"]["rows"] == 1, "no row was taken in, so none is lost"
    db.insert("k", [(7, 0.0, "b")])
    db.finish()
    assert [tuple(row.values()) for row in query.emissions().to_pylist()] == [
        (1, 5), (2, 10), (1, 15), (0, 20)
    ]  # fmt: skip


def test_a_jump_is_measured_from_the_latest_row_of_all_streams_of_the_query() -> None:
    db = keyed()
    db.execute("CREATE STREAM j (ts BIGINT, WATERMARK FOR ts AS ts - 1000000000000000000)")
    db.query("RSTREAM(SELECT x FROM k [RANGE 10 SLIDE 5], j [RANGE 10 SLIDE 5])")
    db.insert("k", [(1, 0.0, "a")])
    with pytest.raises(DataError, match='stream "j", column "ts": a row at'):
        db.insert("j", [(10**15,)])
    db.insert("k", [(5 * jumps.MOST_SLIDES, 0.0, "as far as may be")])


def test_running_queries_without_a_connection_are_as_careful() -> None:
    session = Session()
    session.execute("CREATE STREAM k (ts BIGINT, WATERMARK FOR ts AS ts)")
    session.execute("CREATE RELATION r (ts BIGINT)")
    text = "RSTREAM(SELECT k.ts FROM k [RANGE 10 SLIDE 5], r WHERE k.ts = r.ts)"
    running = LocalRun({"q": session.bind(text).plan})
    running.feed({"k": pa.table({"ts": [1]})})
    saved = running.save()
    with pytest.raises(DataError, match="slides after the row before it"):
        running.feed({"k": pa.table({"ts": [2, 10**15]}), "r": pa.table({"ts": [1], "_sign": [1]})})
    assert running.save().intakes == saved.intakes
    assert running.lanes.lanes[0].stations[0].report().rows_in == 1


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"_at": [1]}, 'relation "r": a change needs a "_sign" of 1 or -1'),
        ({"_at": [1], "_sign": [0]}, 'a change needs a "_sign" of 1 or -1'),
        ({"_at": [1], "_sign": [None]}, 'a change needs a "_sign" of 1 or -1'),
        ({"_at": ["x"], "_sign": [1]}, 'relation "r", column "_at": integers are expected'),
        ({"_at": [2**63 - 1], "_sign": [1]}, "outside of time"),
    ],
)
def test_changes_of_a_relation_need_a_sign_and_an_instant(
    columns: dict[str, list[object]], message: str
) -> None:
    session = Session()
    session.execute("CREATE RELATION r (a BIGINT)")
    plan = session.bind("SELECT a FROM r").plan
    with pytest.raises(DataError) as caught:
        read_changes("r", plan.schema, pa.table({"a": pa.array([1]), **columns}))
    assert message in str(caught.value)


def test_changes_without_a_date_take_effect_at_the_clock() -> None:
    session = Session()
    session.execute("CREATE RELATION r (a BIGINT)")
    table = pa.table({"a": [1, 2], "_sign": [1, 1], "_at": pa.array([None, 9], pa.int64())})
    changes = read_changes("r", session.bind("SELECT a FROM r").plan.schema, table)
    assert changes.block(5).ts.tolist() == [5, 9]
    assert due_from(changes.block(20), 20).ts.tolist() == [20, 20]
    assert [one.rows["a"].to_pylist() for one in changes.overdue(20)] == [[2]]
