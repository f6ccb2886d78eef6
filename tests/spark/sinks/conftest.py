"""Connections with their sinks, on one Spark for the whole folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock.spark.spark_engine import spark_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from penstock.connection.connection import Connection
    from penstock.spark.sinks import Sinks

DECLARED = """
CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts);
CREATE QUERY counted AS SELECT k, COUNT(*) AS n FROM s [RANGE 7] GROUP BY k;
"""


@dataclass
class Opened:
    """A connection, its sinks, and the folder that tests write to."""

    db: Connection
    sinks: Sinks
    folder: Path

    def execute(self, text: str) -> None:
        """Run statements; sinks among them are opened."""
        self.db.execute(text)
        self.sinks.look()

    def feed(self, *rows: tuple[int, int, int]) -> None:
        """Bring rows of the stream in a commit of their own, and wait for all sinks."""
        self.db.insert("s", rows)
        self.db.wait_idle()
        assert self.sinks.wait_written(30)

    def close(self) -> None:
        """Close both."""
        if not self.db.is_closed:
            self.sinks.close()
            self.db.close()


@pytest.fixture
def opening(tmp_path: Path) -> Iterator[Callable[[], Opened]]:
    """Opens the home of this test; closed when the test has ended."""
    opened: list[Opened] = []

    def open_home() -> Opened:
        db = penstock.connect("local[2,4]", tmp_path / "home", 2)
        opened.append(Opened(db, spark_engine(db).sinks, tmp_path))
        return opened[-1]

    yield open_home
    for one in opened:
        one.close()


@pytest.fixture
def opened(opening: Callable[[], Opened]) -> Opened:
    one = opening()
    one.execute(DECLARED)
    return one


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """One home for tests that leave it as it is."""
    folder = tmp_path_factory.mktemp("shared")
    db = penstock.connect("local[2,4]", folder / "home", 2)
    one = Opened(db, spark_engine(db).sinks, folder)
    one.execute(f"{DECLARED} CREATE QUERY odd AS SELECT v AS _at FROM s [NOW];")
    yield one
    one.close()
