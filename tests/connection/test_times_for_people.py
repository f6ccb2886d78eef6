"""Times as people have them: progress in times, texts in tables, and which error comes first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest

import penstock
from penstock.errors import DataError, QueryError

if TYPE_CHECKING:
    from penstock.connection.connection import Connection


def opened() -> Connection:
    db = penstock.connect_inline()
    db.execute("CREATE STREAM s (at TIMESTAMP, k INT, WATERMARK FOR at AS at - INTERVAL 1 SECOND)")
    db.execute("CREATE STREAM n (at BIGINT, k INT, WATERMARK FOR at AS at)")
    return db


def test_progress_has_times_where_streams_have_timestamps() -> None:
    with opened() as db:
        query, plain = db.query("SELECT k FROM s [NOW]"), db.query("SELECT k FROM n [NOW]")
        db.insert("s", [("2026-01-01 00:00:05", 1)])
        db.insert("s", [("2026-01-01 00:00:00", 1)])
        db.insert("n", [(7, 1)])
        facts = db.progress()["streams"]
        assert facts["s"]["latest"] == datetime(2026, 1, 1, 0, 0, 5, tzinfo=UTC)
        assert facts["s"]["watermark"] == datetime(2026, 1, 1, 0, 0, 4, tzinfo=UTC)
        assert facts["s"]["late_by"] == timedelta(seconds=4)
        assert (facts["n"]["latest"], facts["n"]["late_by"]) == (7, 0)
        assert query.progress()["clock"] == datetime(2026, 1, 1, 0, 0, 4, tzinfo=UTC)
        assert plain.progress()["clock"] == 7


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"at": ["2026-01-01 00:00:05", "2026-01-01T00:00:06Z"], "k": [1, 2]}),
        pd.DataFrame({"at": ["2026-01-01 00:00:05", "2026-01-01T00:00:06Z"], "k": [1, 2]}).astype(
            {"at": "category"}
        ),
        pa.table({"at": ["2026-01-01 00:00:05", "2026-01-01 00:00:06"], "k": [1, 2]}),
    ],
)
def test_texts_of_times_in_tables_are_read_as_in_tuples(table: object) -> None:
    with opened() as db, opened() as other:
        found, same = (
            db.query("SELECT at, k FROM s [NOW]"),
            other.query("SELECT at, k FROM s [NOW]"),
        )
        db.insert("s", table)
        other.insert("s", [("2026-01-01 00:00:05", 1), ("2026-01-01 00:00:06", 2)])
        assert found.changes().to_arrow().equals(same.changes().to_arrow())


def test_a_text_that_is_no_time_is_named() -> None:
    with opened() as db, pytest.raises(DataError) as caught:
        db.insert("s", pd.DataFrame({"at": ["2026-01-01", "soon"], "k": [1, 2]}))
    assert "column \"at\": 'soon' in row 2 is not a value of type TIMESTAMP" in str(caught.value)


def test_a_wrong_query_gets_its_own_error_first_after_the_end() -> None:
    with opened() as db:
        db.finish()
        with pytest.raises(QueryError, match='no column "kk"'):
            db.query("SELECT kk FROM s [NOW]")
        with pytest.raises(QueryError, match="the input has come to its end"):
            db.query("SELECT k FROM s [NOW]")
