"""A change of a relation is dated by the clock of the queries that read it, whoever runs beside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from penstock.store.result_files import result_blocks
from store.driving import Driver

if TYPE_CHECKING:
    from pathlib import Path

DECLARED = (
    "CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts)",
    "CREATE STREAM t (ts BIGINT, k INT, WATERMARK FOR ts AS ts)",
    "CREATE RELATION r (k INT)",
)
ASKED = "CREATE QUERY a AS SELECT k FROM r UNION ALL SELECT k FROM s [NOW]"
OTHERS = {
    "relations only": "CREATE QUERY b AS SELECT k FROM r",
    "another stream": "CREATE QUERY b AS SELECT r.k FROM r, t [RANGE 5]",
}


def change(driver: Driver, k: int, at: int | None, sign: int = 1) -> None:
    columns = {"k": [k], "_sign": [sign], "_at": pa.array([at], pa.int64())}
    driver.ledger.change_relation("r", pa.table(columns))


def shown(driver: Driver, query: str) -> list[tuple[int, int, int]]:
    """Row, instant and sign of what a query has said, all records together."""
    return sorted(
        (row, int(ts), int(sign))
        for record in driver.home.chain.since(0)
        for block in result_blocks(driver.home, record, query)
        for row, ts, sign in zip(block.columns[0].to_pylist(), block.ts, block.signs, strict=True)
    )


@pytest.mark.parametrize("beside", ["", *OTHERS])
def test_an_overdue_change_is_dated_by_each_query_for_itself(beside: str, tmp_path: Path) -> None:
    others = [OTHERS[beside]] if beside else []
    names = ["a", "b"] if beside else ["a"]
    with Driver(tmp_path / "home", (*DECLARED, ASKED, *others), names) as driver:
        driver.batch({"t": [{"ts": 200, "k": 1}]} if beside == "another stream" else {})
        change(driver, 1, 100)
        driver.batch({})
        change(driver, 2, 50)
        driver.batch({})
        driver.flush()
        assert shown(driver, "a") == [(1, 100, 1), (2, 50, 1)]
        if beside == "relations only":
            assert shown(driver, "b") == [(1, 100, 1), (2, 101, 1)], "its batch was committed"


def test_an_undated_change_takes_effect_at_the_clock_of_each_query(tmp_path: Path) -> None:
    both = (
        "CREATE QUERY a AS SELECT r.k FROM r, s [RANGE 1000]",
        "CREATE QUERY b AS SELECT r.k FROM r, t [RANGE 1000]",
    )
    with Driver(tmp_path / "home", (*DECLARED, *both), ["a", "b"]) as driver:
        driver.batch({"s": [{"ts": 10, "k": 1}], "t": [{"ts": 90, "k": 1}]})
        driver.batch({})
        change(driver, 7, None)
        driver.batch({"s": [{"ts": 95, "k": 1}], "t": [{"ts": 95, "k": 1}]})
        driver.batch({})
        assert min(shown(driver, "a")) == (7, 10, 1)
        assert min(shown(driver, "b")) == (7, 90, 1)
