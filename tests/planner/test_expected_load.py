"""Rates that are stated, seen in files or assumed: EXPLAIN and warnings say which they go by."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import penstock
from penstock.errors import PenstockError, QueryWarning
from penstock.planner.explain.explain import Explaining
from penstock.planner.statistics.statistics import ExpectedRate, Statistics
from penstock.session import Session

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.connection.connection import Connection

TAXI = "CREATE STREAM taxi (at TIMESTAMP, value INT, WATERMARK FOR at AS at)"
DAY = "SELECT AVG(value) AS average FROM taxi [RANGE 1 DAY]"
TIMES = [f"2014-07-{day:02} {hour:02}:{minute}:00"
         for day in (1, 2, 3) for hour in range(24) for minute in ("00", "30")]  # fmt: skip


def explained(declaration: str, query: str = DAY) -> str:
    session = Session()
    outcomes = session.execute(f"{declaration}; EXPLAIN {query}")
    assert outcomes[-1].message is not None
    return outcomes[-1].message


def test_assumed_rates_are_marked_as_assumed() -> None:
    text = explained(TAXI)
    assert "1k rows/s (assumed)" in text
    assert "86M rows of state, 3.5 GB (the rate of taxi is assumed)" in text


def test_stated_rates_give_sizes_and_are_marked_as_stated() -> None:
    text = explained(f"{TAXI} RATE 2 PER HOUR")
    assert "2 rows/h (stated)" in text
    assert "48 rows of state, 1.9 kB\n" in text
    assert "assumed" not in text


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_the_first_rows_of_files_say_a_rate(tmp_path: Path, kind: str) -> None:
    rows = [(at, number) for number, at in enumerate(TIMES)]
    path = tmp_path / f"taxi.{kind}"
    if kind == "csv":
        path.write_text("value,at\n" + "".join(f"{v},{at}\n" for at, v in rows))
    elif kind == "json":
        path.write_text("".join(json.dumps({"at": at, "value": v}) + "\n" for at, v in rows))
    else:
        times = pa.array(TIMES).cast(pa.timestamp("us"))
        pq.write_table(pa.table({"at": times, "value": range(len(rows))}), path)
    text = explained(f"{TAXI} USING {kind} OPTIONS (path '{path}')")
    assert "2 rows/h (first rows)" in text
    assert "48 rows of state, 1.9 kB\n" in text


@pytest.mark.parametrize(
    "content", ["", "value,at\n", "value,at\n1,2014-07-01\n", "other\n1\n", "value,at\n1,never\n"]
)
def test_files_that_say_no_rate_leave_it_assumed(tmp_path: Path, content: str) -> None:
    path = tmp_path / "taxi.csv"
    path.write_text(content)
    assert "(assumed)" in explained(f"{TAXI} USING csv OPTIONS (path '{path}')")


def test_a_large_file_is_read_in_part(tmp_path: Path) -> None:
    # Rows behind the part that is looked at come a hundred times as often, and are not seen.
    path = tmp_path / "taxi.csv"
    often = (f"{n},2015-01-01 00:{n % 60:02}:{n // 60 % 60:02}\n" for n in range(100_000))
    slow = (f"{n},{2000 + n // 12}-{n % 12 + 1:02}-01 00:00:00{' ' * 1000}\n" for n in range(300))
    path.write_text("value,at\n" + "".join(slow) + "".join(often))
    assert "0.0014 rows/h (first rows)" in explained(f"{TAXI} USING csv OPTIONS (path '{path}')")


def test_a_stated_rate_goes_before_the_first_rows_of_files(tmp_path: Path) -> None:
    path = tmp_path / "taxi.csv"
    path.write_text("value,at\n" + "".join(f"1,{at}\n" for at in TIMES))
    text = explained(f"{TAXI} USING csv OPTIONS (path '{path}') RATE 5 PER 10 MINUTES")
    assert "0.0083 rows/s" not in text
    assert "30 rows/h (stated)" in text


JOIN = "SELECT a.v FROM a [RANGE 9] a, b [RANGE 9] b, c [RANGE 9] c WHERE a.k = b.k AND b.k = c.k"
THREE = [f"CREATE STREAM {one} (at INT, k INT, v INT, WATERMARK FOR at AS at)" for one in "abc"]


def test_plans_are_chosen_by_stated_rates() -> None:
    # A row looks first where the fewest rows are.
    def probed(rates: list[int]) -> str:
        stated = ";".join(f"{one} RATE {n} PER 1" for one, n in zip(THREE, rates, strict=True))
        with penstock.connect_inline() as db:
            db.execute(f"SET joins = multiway; {stated}; CREATE QUERY q AS {JOIN}")
            return db["q"].explain().split("probing ")[1].splitlines()[0]

    assert "a: b c" in probed([10, 1, 1000])
    assert "a: c b" in probed([10, 1000, 1])


def test_what_was_chosen_by_stated_rates_is_chosen_again_when_a_folder_is_opened(
    tmp_path: Path,
) -> None:
    stated = ";".join(f"{one} RATE {n} PER 1" for one, n in zip(THREE, [1, 1, 9000], strict=True))
    with penstock.connect_inline() as db:
        db.execute(f"{stated}; CREATE QUERY q AS {JOIN}")
        db.insert("a", [(1, 1, 5)])
        before = db["q"].explain()
        db.save(tmp_path / "saved")
    with penstock.connect_inline(restore=tmp_path / "saved") as db:
        assert db["q"].explain().split("Strategy")[0] == before.split("Strategy")[0]
        db.insert("b", [(2, 1, 6)])
        db.insert("c", [(3, 1, 7)])
        db.finish()
        assert [row["v"] for row in db["q"].changes().to_arrow().to_pylist()] == [5, 5]


def test_programs_learn_where_a_rate_is_known_from() -> None:
    plan = Session().execute(f"{TAXI}; {DAY}")[-1].plan
    assert plan is not None
    for rates, origin in (({}, "assumed"), ({"taxi": ExpectedRate(1e-6, "stated")}, "stated")):
        node = Explaining({"q": plan}, rates=rates).json("q")["runs"]
        while node["inputs"]:
            (node,) = node["inputs"]
        assert (node["operator"], node["rate_origin"]) == ("Stream", origin)


def test_statistics_with_stated_rates_can_be_written_down() -> None:
    known = Statistics({"s": 2.5}, expected={"t": ExpectedRate(0.1, "stated")})
    assert Statistics.from_json(json.loads(json.dumps(known.to_json()))) == known
    assert (known.rate_origin("s"), known.rate_origin("t"), known.rate_origin("u")) == (
        "measured", "stated", "assumed",
    )  # fmt: skip


ENDLESS = "SELECT DISTINCT value FROM taxi"
TAKES = r'this takes about [0-9.]+ k?B, and it grows on, with 2 rows/h of "taxi" \(stated\)'


def declared() -> Connection:
    db = penstock.connect_inline()
    db.execute(f"{TAXI} RATE 2 PER HOUR")
    return db


def test_a_query_that_grows_warns_with_what_it_takes_when_it_is_created() -> None:
    with declared() as db:
        with pytest.warns(
            QueryWarning, match=f'(?s)"query_1": DISTINCT .* for ever.*{TAKES}'
        ) as one:
            query = db.query(ENDLESS)
        assert one[0].filename == __file__
        assert len(query.warnings) == 2
        with pytest.warns(QueryWarning, match=f'(?s)query "other": .*{TAKES}') as one:
            db.execute(f"CREATE QUERY other AS {ENDLESS}")
        assert one[0].filename == __file__


def test_a_query_with_windows_warns_of_nothing(recwarn: pytest.WarningsRecorder) -> None:
    with declared() as db:
        assert db.query(DAY).warnings == ()
    assert not recwarn.list


def test_what_an_answer_keeps_counts() -> None:
    with declared() as db:
        _, takes = db.query("SELECT value FROM taxi").warnings
    # Two rows of 40 bytes in an hour.
    assert takes.startswith("after an hour this takes about 80 B, and it grows on")


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        ("RATE 2", "expected PER and a length of time"),
        ("RATE PER HOUR", "RATE takes a number of rows"),
        ("RATE 0 PER HOUR", "RATE is a number of rows above 0"),
        ("RATE 1e300 PER HOUR", "RATE is a number of rows above 0"),
        ("RATE 2 PER 10", "a length of time needs its unit here"),
        ("RATE 2 PER MONTH", "a MONTH has no fixed length"),
        ("RATE 2 PER 0 HOURS", "RATE is a number of rows above 0"),
    ],
)
def test_a_rate_that_is_none_is_refused(rate: str, said: str) -> None:
    with pytest.raises(PenstockError, match=f"(?s)line 1, column .*: {said}.*\\^"):
        Session().execute(f"{TAXI} {rate}")


def test_a_relation_has_no_rate() -> None:
    with pytest.raises(PenstockError, match="a relation has no RATE"):
        Session().execute("CREATE RELATION r (k INT) RATE 2 PER HOUR")
