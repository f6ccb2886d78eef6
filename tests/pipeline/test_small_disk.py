"""A disk smaller than what is to be retained: the pipeline goes on, and answers are right."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from penstock.connection.questions.one_time_query import asked
from penstock.errors import Refused
from penstock.pipeline.sweeping import Retention
from penstock.spark.home_view import view_of
from penstock.store.layout import Home
from store.driving import Driver
from tiers import only_long

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STATEMENTS = (
    "CREATE STREAM s (ts BIGINT, k BIGINT, WATERMARK FOR ts AS ts) RETAIN UNBOUNDED;",
    "CREATE QUERY q AS SELECT COUNT(*) AS n FROM s [RANGE 100];",
)
MB = 1 << 20
SCARCE = Retention(
    records=5, fold_records=2, seal_bytes=MB // 2, grace=0.0, warn_free=10 * MB, least_free=6 * MB
)
ROWS = 4000


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system for a part of the rows."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a file system")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


@only_long
def test_the_oldest_rows_make_place_for_those_that_come(small_disk: Path) -> None:
    with Driver(small_disk / "home", STATEMENTS, ["q"], least_log=MB // 2) as driver:
        for first in range(0, 250 * ROWS, ROWS):
            driver.batch({"s": [{"ts": ts, "k": -ts} for ts in range(first, first + ROWS)]})
            driver.housekeeping.clean(SCARCE)
        assert "make space there" in driver.faults[0]
        assert "are given up" in driver.faults[-1]
        view = view_of(Home(small_disk / "home"))
        last, since = view.stream("s").watermark - 1, view.stream("s").since
        assert 0 < since < last - 10 * ROWS
        kept = asked(f"SELECT SUM(k) AS k FROM s [RANGE {last - since + 1}]", view.plan.session,
                     view, ()).to_pylist()  # fmt: skip
        assert kept == [{"k": -sum(range(since, last + 1))}]
        with pytest.raises(Refused, match="needs all rows"):
            asked("SELECT COUNT(*) AS n FROM s", view.plan.session, view, ())
        view.release()
