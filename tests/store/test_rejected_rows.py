"""Rows that were not taken in are kept, in few files, until they are very many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from penstock.algebra.types import BIGINT, INT, STRING, Field, Schema
from penstock.store.bundles import write_bundle
from penstock.store.layout import Home
from penstock.store.rejected_rows import (
    MOST_FILES,
    POSITION,
    REASON,
    TEXT,
    kept_with,
    read_rejected,
    rejected_part,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from penstock.store.records import RejectedFile

SCHEMA = Schema((Field("ts", BIGINT), Field("k", INT)))


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path / "home")
    made.open()
    yield made
    made.close()


def written(home: Home, number: int, *streams: str, kind: pa.DataType | None = None) -> str:
    """A file with a row of each stream."""
    tables = {
        rejected_part(one): pa.table(
            {
                "ts": pa.array([number], pa.int64()),
                "k": pa.array([number], kind or pa.int32()),
                POSITION: pa.array(["here"]),
                TEXT: pa.nulls(1, pa.string()),
                REASON: pa.array(["late"]),
            }
        )
        for one in streams
    }
    name = home.new_segment(number, 0, "aside")
    write_bundle(home.segments / name, tables, durable=True)
    return name


def keys(home: Home, files: tuple[RejectedFile, ...], stream: str) -> list[int]:
    found: list[int] = read_rejected(home, files, stream, SCHEMA)["k"].to_pylist()
    return found


def test_all_rows_are_kept_in_order_in_a_few_files(home: Home) -> None:
    files: tuple[RejectedFile, ...] = ()
    for number in range(500):
        names = [written(home, number, "a", "b")] if number % 2 else [written(home, number, "a")]
        files, forgotten = kept_with(home, number, files, names)
        assert not forgotten
        assert len(files) <= MOST_FILES
    assert keys(home, files, "a") == list(range(500))
    assert keys(home, files, "b") == list(range(1, 500, 2))
    assert keys(home, files, "c") == []
    assert kept_with(home, 500, files, []) == (files, {})


def test_the_oldest_are_forgotten_and_counted(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    size = (home.segments / written(home, 0, "a", "b")).stat().st_size
    monkeypatch.setattr("penstock.store.rejected_rows.MOST_BYTES", 10 * size)
    files: tuple[RejectedFile, ...] = ()
    lost = 0
    for number in range(30):
        files, forgotten = kept_with(home, number, files, [written(home, number, "a", "b")])
        assert forgotten.get("a", 0) == forgotten.get("b", 0)
        lost += forgotten.get("a", 0)
    assert lost >= 19
    assert keys(home, files, "a") == list(range(lost, 30))


def test_a_stream_that_was_declared_otherwise_is_another(home: Home) -> None:
    files: tuple[RejectedFile, ...] = ()
    for number in range(100):
        kind = pa.int64() if number < 90 else pa.int32()
        files, _ = kept_with(home, number, files, [written(home, number, "a", kind=kind)])
    assert keys(home, files, "a") == list(range(90, 100))
    before = Schema((Field("ts", BIGINT), Field("k", BIGINT)))
    assert read_rejected(home, files, "a", before)["k"].to_pylist() == list(range(90))
    other = Schema((Field("ts", BIGINT), Field("name", STRING)))
    assert len(read_rejected(home, files, "a", other)) == 0
