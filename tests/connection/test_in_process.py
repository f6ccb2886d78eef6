"""The inline connection: what a person does with it."""

from __future__ import annotations

import html
import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pandas as pd  # type: ignore[import-untyped]  # ships no types
import polars as pl
import pyarrow as pa
import pytest

import penstock
from connection.inside import NAMES, TRADES, batch_of, local_engine, trading
from penstock.errors import DataError, NotSupported, QueryError, QueryWarning, UnknownName

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.connection.connection import Connection


@pytest.fixture
def db() -> Connection:
    return trading()


def test_importing_penstock_imports_nothing_heavy() -> None:
    code = "import penstock, sys; print({'pyarrow', 'numba', 'sqlglot'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


def test_statements_show_their_rows(db: Connection) -> None:
    shown = db.execute("SHOW STREAMS")
    assert shown is not None
    assert shown["stream"].to_pylist() == ["trades"]
    described = db.execute("SET integer_division = true; DESCRIBE names")
    assert described is not None
    assert described.to_pylist()[0] == {"column": "sym", "type": "STRING"}
    explained = db.execute("EXPLAIN SELECT sym FROM trades [NOW]")
    assert explained is not None
    assert explained["plan"].to_pylist()[0] == "Map sym = trades.sym  [WKS]"
    assert db.execute("CREATE VIEW recent AS SELECT sym FROM trades [RANGE 9]") is None


def test_a_query_is_not_planned_anew(db: Connection) -> None:
    db.execute("CREATE QUERY q AS SELECT sym FROM trades [NOW]")
    with pytest.raises(NotSupported, match=r"(?s)plans a query once.*penstock\.connect\(\)"):
        db.execute("REPLAN q")
    with pytest.raises(NotSupported, match="plans a query once"):
        db["q"].replan()


def test_content_changes_and_clock_follow_the_watermark(db: Connection) -> None:
    query = db.query("SELECT sym, MAX(price) AS top FROM trades [RANGE 10] GROUP BY sym")
    assert query.clock is None
    assert query.snapshot().num_rows == 0
    db.insert("trades", [(1, "a", 2.0), (3, "a", 5.0)])
    assert query.changes().num_rows == 0, "within the slack nothing is final"
    db.advance("trades", 4)
    assert query.clock == 4
    assert query.snapshot().to_pylist() == [{"sym": "a", "top": 5.0}]
    assert query.changes().to_pylist() == [
        {"sym": "a", "top": 2.0, "_at": 1, "_sign": "+"},
        {"sym": "a", "top": 2.0, "_at": 3, "_sign": "-"},
        {"sym": "a", "top": 5.0, "_at": 3, "_sign": "+"},
    ]
    assert query.changes(since="last").num_rows == 3
    assert query.changes(since="last").num_rows == 0, "what was read does not come again"
    assert query.changes().num_rows == 3, "unless it is asked for"
    db.finish()
    assert query.changes(since="last").to_pylist() == [
        {"sym": "a", "top": 5.0, "_at": 13, "_sign": "-"}
    ]
    assert query.snapshot().num_rows == 0


def test_elements_come_before_they_are_final_and_say_how_long_they_hold(db: Connection) -> None:
    query = db.query("SELECT sym FROM trades [RANGE 10]")
    db.insert("trades", [(1, "a", 0.0), (9, "b", 0.0)])
    assert query.elements().to_pylist() == [{"sym": "a", "_ts": 1, "_te": 11, "_sign": "+"}]
    assert query.elements(since="last").num_rows == 1
    assert query.elements(since="last").num_rows == 0


def test_emissions_of_an_ordered_query_keep_their_order(db: Connection) -> None:
    query = db.query(
        "RSTREAM(SELECT sym, price FROM trades [RANGE 10 SLIDE 10] ORDER BY price DESC LIMIT 2)"
    )
    db.insert("trades", [(1, "a", 2.0), (2, "b", 9.0), (3, "c", 5.0), (30, "d", 0.0)])
    assert query.emissions().to_pylist() == [
        {"sym": "b", "price": 9.0, "_at": 10},
        {"sym": "c", "price": 5.0, "_at": 10},
    ]


def test_timestamps_are_timestamps_and_instants_may_be_dates() -> None:
    db = penstock.connect_inline()
    db.execute(
        "CREATE STREAM cars (passed TIMESTAMP, lane INT, WATERMARK FOR passed AS passed);" + NAMES
    )
    query = db.query("SELECT lane FROM cars [RANGE 1 MINUTE]")
    noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    db.insert("cars", [(noon, 1), ("2024-05-01 12:00:30", 2)])
    db.advance("cars", "2024-05-01 12:01:01")
    assert query.changes().to_pylist()[-1] == {
        "lane": 1, "_at": datetime(2024, 5, 1, 12, 1), "_sign": "-"  # noqa: DTZ001 - as Arrow gives it
    }  # fmt: skip
    db.update("names", insert=[("a", "b")], at=noon)
    reasons = db.late("names")["_reason"].to_pylist()
    assert reasons == ["overdue: takes effect at 1714564861000000"]


@pytest.mark.parametrize(
    "rows",
    [
        pa.table({"price": [1.5], "sym": ["a"], "ts": [1]}),
        pa.table({"price": [1.5], "sym": ["a"], "ts": [1]}).to_batches()[0],
        pa.table({"price": [1.5], "sym": ["a"], "ts": [1]}).to_reader(),
        pd.DataFrame({"price": [1.5], "sym": ["a"], "ts": [1], "other": [0]}, index=[7]),
        pl.DataFrame({"price": [1.5], "sym": ["a"], "ts": [1]}),
        [(1, "a", 1.5)],
        [[1, "a", 1.5]],
        ({"price": 1.5, "sym": "a", "ts": 1},),
        iter([(1, "a", 1.5)]),
    ],
    ids=["table", "batch", "reader", "pandas", "polars", "tuples", "lists", "dicts", "iterator"],
)
def test_rows_come_in_many_forms(db: Connection, rows: object) -> None:
    query = db.query("SELECT ts, sym, price FROM trades [UNBOUNDED]")
    assert db.insert("trades", rows) == 1
    db.finish()
    assert query.snapshot().to_pylist() == [{"ts": 1, "sym": "a", "price": 1.5}]


def test_a_relation_holds_what_it_was_told_before_its_queries(db: Connection) -> None:
    db.update("names", insert=[("a", "Alpha"), ("b", "Beta")])
    db.update("names", delete=[("b", "Beta")], insert=[("b", "Bravo")])
    query = db.query("SELECT t.sym, name FROM trades [RANGE 9] t JOIN names ON t.sym = names.sym")
    db.insert("trades", [(10, "a", 1.0), (11, "b", 1.0), (20, "c", 1.0)])
    assert query.clock == 15
    db.update("names", delete=[("b", "Bravo")])
    db.advance("trades", 21)
    assert [tuple(row.values()) for row in query.changes().to_pylist()] == [
        ("a", "Alpha", 10, "+"),
        ("b", "Bravo", 11, "+"),
        ("b", "Bravo", 15, "-"),
        ("a", "Alpha", 19, "-"),
    ]


def test_a_change_that_is_dated_before_the_clock_is_kept_as_overdue(db: Connection) -> None:
    query = db.query("SELECT t.sym, name FROM trades [RANGE 9] t JOIN names ON t.sym = names.sym")
    db.insert("trades", [(10, "a", 1.0), (20, "a", 1.0)])
    db.update("names", insert=[("a", "Alpha")], at=3)
    db.finish()
    assert query.changes()["_at"].to_pylist()[0] == 15
    assert db.late("names")["_reason"].to_pylist() == ["overdue: takes effect at 15"]


def test_a_change_takes_effect_at_the_clock_of_each_query_that_reads_the_relation(
    db: Connection,
) -> None:
    db.execute("CREATE STREAM slow (ts BIGINT, WATERMARK FOR ts AS ts)")
    fast = db.query("SELECT t.sym, name FROM trades [RANGE 99] t JOIN names ON t.sym = names.sym")
    behind = db.query("SELECT ts, name FROM slow [RANGE 99], names")
    db.insert("slow", [(3,)])
    db.insert("trades", [(10, "a", 1.0), (20, "a", 1.0)])
    db.update("names", insert=[("a", "Alpha")])
    db.update("names", insert=[("a", "Again")], at=4)
    db.finish()
    assert fast.changes()["_at"].to_pylist()[:2] == [15, 15]
    assert behind.changes()["_at"].to_pylist()[:2] == [3, 4]


def test_a_row_at_the_watermark_is_not_late(db: Connection) -> None:
    db.insert("trades", [(20, "a", 1.0)])
    rows = [(14, "late", 1.0), (15, "just in time", 1.0), (30, "b", 1.0), (16, "same block", 1.0)]
    assert db.insert("trades", rows) == 4
    assert db.late("trades")["sym"].to_pylist() == ["late"]


def test_queries_of_one_script_share_operators_and_a_dropped_one_stops(db: Connection) -> None:
    db.execute(
        "CREATE QUERY one AS SELECT sym FROM trades [RANGE 9];"
        "CREATE QUERY two AS SELECT price FROM trades [RANGE 9]"
    )
    one, two = db["one"], db["two"]
    assert batch_of(one) is batch_of(two)
    windows = [node for node in batch_of(one).graph.nodes if node.label.startswith("Window")]
    assert len(windows) == 1
    db.execute("DROP QUERY one")
    db.insert("trades", [(1, "a", 1.0), (9, "b", 1.0)])
    assert two.changes().num_rows == 1
    with pytest.raises(UnknownName, match='no query called "one"'):
        one.changes()
    assert repr(one).startswith('query "one", dropped')
    db.execute("DROP QUERY two; DROP STREAM trades;" + TRADES)
    engine = local_engine(db)
    assert engine.feeding.batches == []
    assert engine.registry.history.entries[-1].text.startswith("CREATE STREAM")
    assert len(engine.registry.history.entries) == 4


def test_replacing_a_query_stops_the_old_one(db: Connection) -> None:
    query = db.query("SELECT sym FROM trades [RANGE 9]", name="q")
    old = batch_of(query)
    db.execute("CREATE OR REPLACE QUERY q AS SELECT price FROM trades [RANGE 9]")
    assert db["Q"] is query
    assert query.columns == ("price",)
    assert query.snapshot().column_names == ["price"]
    assert local_engine(db).feeding.batches == [batch_of(query)]
    assert old is not batch_of(query)


def test_operators_report_rows_and_state(db: Connection) -> None:
    query = db.query("SELECT sym, COUNT(*) AS n FROM trades [RANGE 100] GROUP BY sym")
    db.insert("trades", [(n, str(n % 3), 0.0) for n in range(50)])
    reports = {row["operator"]: row for row in query.operators().to_pylist()}
    assert reports["Window [RANGE 100]"]["rows_out"] == 45 - 1
    assert next(one for name, one in reports.items() if "Aggregate" in name)["state_rows"] > 0


def test_failures_are_told(db: Connection) -> None:
    query = db.query("SELECT CAST(sym AS INT) AS n FROM trades [UNBOUNDED]")
    db.insert("trades", [(1, "x", 0.0), (2, "7", 0.0)])
    db.finish()
    assert query.failures == {"cast": 1}


def test_warnings_are_told(db: Connection) -> None:
    assert db.query("SELECT sym, COUNT(*) AS n FROM trades GROUP BY sym").warnings


def test_saved_and_restored_it_goes_on_as_if_nothing_had_happened(
    db: Connection, tmp_path: Path
) -> None:
    db.execute(
        "CREATE QUERY gone AS SELECT price FROM trades [RANGE 3];"
        "CREATE QUERY top AS SELECT sym, MAX(price) AS p FROM trades [RANGE 20] GROUP BY sym;"
    )
    db.execute("DROP QUERY gone; CREATE QUERY gone AS SELECT sym FROM trades [NOW]")
    db.query("SELECT CAST(sym AS INT) AS n FROM trades [RANGE 9]")
    db.insert("trades", [(1, "a", 3.0), (2, "b", 4.0), (20, "a", 1.0), (None, "z", 0.0)])
    db.insert("trades", [(3, "late", 0.0)])
    assert db["top"].changes().num_rows == 2
    db.save(tmp_path / "saved")
    db.save(tmp_path / "saved")
    again = penstock.connect_inline(restore=tmp_path / "saved")
    for one in (db, again):
        one.insert("trades", [(4, "late too", 0.0), (40, "c", 2.0)])
        one.finish()
    assert sorted(again.queries) == ["gone", "query_1", "top"]
    for name in db.queries:
        for read in ("changes", "elements", "snapshot"):
            left, right = getattr(db[name], read)(), getattr(again[name], read)()
            assert left.equals(right), (name, read)
        assert db[name].failures == again[name].failures
    assert db["query_1"].failures == {"cast": 4}
    assert again.progress()["streams"] == db.progress()["streams"]
    assert again.late("trades").equals(db.late("trades"))
    facts = db.progress()["streams"]["trades"]
    assert [facts[name] for name in ("rows", "late", "aside", "forgotten")] == [7, 2, 1, 0]


def test_memory_does_not_grow_with_the_stream() -> None:
    db = penstock.connect_inline(keep=1_000)
    db.execute(TRADES)
    query = db.query("SELECT sym, COUNT(*) AS n FROM trades [RANGE 50] GROUP BY sym")
    sizes = []
    for start in range(0, 20_000, 1_000):
        db.insert("trades", [(n, str(n), 0.0) for n in range(start, start + 1_000)])
        query.changes(since="last")
        sizes.append(sum(one.nbytes for one in batch_of(query).segments().values()))
    assert max(sizes[5:]) <= 1.2 * sizes[4]


def test_results_that_nobody_reads_are_forgotten_and_that_is_told() -> None:
    db = penstock.connect_inline(keep=10)
    db.execute(TRADES)
    query = db.query("SELECT ts FROM trades [NOW]")
    for start in range(0, 100, 10):
        db.insert("trades", [(n, "a", 0.0) for n in range(start, start + 10)])
    assert query.elements()["_ts"].to_pylist() == list(range(83, 94)), "what was left at 83, and on"
    assert query.changes()["_at"].to_pylist()[:3] == [83, 84, 84]
    assert query.changes(since="last").num_rows
    for start in range(100, 200, 10):
        db.insert("trades", [(n, "a", 0.0) for n in range(start, start + 10)])
    with pytest.raises(DataError, match="90 results were forgotten before they were read"):
        query.changes(since="last")
    assert query.changes(since="last").equals(query.changes())
    with pytest.raises(QueryError, match="at 150 is not kept any more"):
        query.snapshot(at=150)
    assert query.snapshot(at=190).to_pylist() == [{"ts": 190}]
    db.insert("trades", [(1, "late", 0.0)] * 25)
    assert len(db.late("trades")) == 10
    assert db.progress()["streams"]["trades"]["forgotten"] == 15


def test_it_shows_itself_in_a_notebook(db: Connection) -> None:
    query = db.query("SELECT sym FROM trades [UNBOUNDED]")
    db.insert("trades", [(1, "<b>", 0.0), *((n, "x", 0.0) for n in range(2, 30))])
    assert repr(query).splitlines()[:3] == ['query "query_1": 23 rows, clock 24', "sym", "<b>"]
    assert repr(query).splitlines()[-1] == "... and 13 more"
    assert "<td>&lt;b&gt;</td>" in query._repr_html_()
    assert "<td>trades</td>" in db._repr_html_()
    sending = db.query("ISTREAM(SELECT sym FROM trades [NOW])")
    assert repr(sending) == 'query "query_2": clock 24, exact from 31'
    assert "<td>&lt;b&gt;</td>" in query.snapshot()._repr_html_()
    assert repr(query.changes()).splitlines()[:2] == ["sym | _at | _sign", "<b> | 1   | +"]
    assert repr(query.changes(follow=True)) == 'changes of query "query_1" as they come'


def test_a_plan_is_shown_in_full(db: Connection) -> None:
    joined = "SELECT a.sym, COUNT(*) AS n FROM trades [RANGE 9] a, trades [RANGE 5] b, names"
    shown = db.execute(f"EXPLAIN {joined} WHERE a.sym = b.sym AND a.sym = names.sym GROUP BY a.sym")
    assert shown is not None
    lines = shown["plan"].to_pylist()
    assert len(lines) > 15
    assert repr(shown).splitlines() == ["plan", *lines]
    assert shown._repr_html_() == f"<pre>{html.escape(chr(10).join(lines))}</pre>"


def test_a_source_that_is_not_read_here_is_told_of() -> None:
    db = penstock.connect_inline()
    db.execute(TRADES.replace(");", ") USING csv OPTIONS (path 'trades.csv');"))
    with pytest.warns(QueryWarning) as caught:
        db.query("SELECT sym FROM trades [NOW]", name="seen")
    assert str(caught[0].message) == (
        'query "seen": stream "trades" is not read from csv here: db.insert() brings its rows;'
        " penstock.connect() and penstock run read them"
    )


def test_a_closed_connection_answers_nothing() -> None:
    with penstock.connect_inline() as db:
        db.execute(TRADES)
        query = db.query("SELECT sym FROM trades [NOW]")
    for ask in (
        lambda: db.insert("trades", []),
        lambda: db.late("trades"),
        lambda: db["x"],
        db.finish,
    ):
        with pytest.raises(QueryError, match="the connection is closed"):
            ask()
    with pytest.raises(QueryError, match="the connection is closed"):
        query.snapshot()
    assert repr(db) == "penstock connection, closed"
    db.close()


def test_queries_run_under_the_strategy_that_was_set_before_them(
    db: Connection, tmp_path: Path
) -> None:
    db.execute(
        "CREATE QUERY one AS SELECT DISTINCT sym FROM trades [RANGE 9];"
        "SET strategy = negative;"
        "CREATE QUERY two AS SELECT DISTINCT sym FROM trades [RANGE 9]"
    )
    one, two = db["one"], db["two"]
    assert batch_of(one) is not batch_of(two)
    labels = [[node.label for node in batch_of(query).graph.nodes] for query in (one, two)]
    assert "Announced ends" not in labels[0]
    assert "Announced ends" in labels[1]
    db.save(tmp_path / "saved")
    again = penstock.connect_inline(restore=tmp_path / "saved")
    assert [node.label for node in batch_of(again["two"]).graph.nodes] == labels[1]
