"""Old results are folded and old files go, and nothing that counts is lost."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from home.driving import Driver
from penstock.home.results import content_blocks, result_blocks
from penstock.operators.block import Block, concatenated
from penstock.pipeline.housekeeping import Retention, content_due, fold, sweep

if TYPE_CHECKING:
    from pathlib import Path

STATEMENTS = (
    "CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts)",
    "CREATE QUERY sums AS SELECT k, SUM(v) AS total FROM s [RANGE 30] GROUP BY k",
    "CREATE QUERY news AS ISTREAM(SELECT DISTINCT k FROM s [RANGE 10])",
)
AT_ONCE = Retention(seconds=0.0, grace=0.0, fold_bytes=2000)


def rows(number: int) -> dict[str, list[dict[str, object]]]:
    return {"s": [{"ts": number * 5 + i, "k": i % 3, "v": number} for i in range(4)]}


def content(driver: Driver, query: str) -> Counter[tuple[object, ...]]:
    """The rows of a query at its last final instant, from whatever is left in the home."""
    record = driver.ledger.record
    start, blocks = 0, list[Block]()
    if record.content is not None:
        start = record.content.record + 1
        blocks += content_blocks(driver.home, record.content, query)
    for one in driver.home.chain.since(start):
        blocks += result_blocks(driver.home, one, query)
    at = record.clocks[query] - 1
    block = concatenated(blocks)
    found: Counter[tuple[object, ...]] = Counter()
    columns = [column.to_pylist() for column in block.columns]
    for row, ts, te, sign in zip(
        zip(*columns, strict=True), block.ts, block.te, block.signs, strict=True
    ):
        if ts <= at < te:
            found[row] += int(sign)
    return Counter({row: copies for row, copies in found.items() if copies})


def test_disk_use_is_bounded_and_the_content_stays(tmp_path: Path) -> None:
    with (
        Driver(tmp_path / "kept", STATEMENTS, ["sums", "news"]) as untouched,
        Driver(tmp_path / "swept", STATEMENTS, ["sums", "news"]) as driver,
    ):
        sizes = []
        for number in range(60):
            untouched.batch(rows(number))
            driver.batch(rows(number))
            if content_due(driver.home, driver.ledger.record, AT_ONCE):
                driver.ledger.commit_content(fold(driver.home, driver.ledger, driver.ledger.record))
            sweep(driver.home, driver.ledger.record, AT_ONCE)
            sizes.append(sum(1 for _ in driver.home.segments.iterdir()))
            assert content(driver, "sums") == content(untouched, "sums")
        assert driver.ledger.record.content is not None
        logs = len(driver.ledger.record.lanes["0.0"].logs)
        # The logs since the last image stay; results and records do not pile up.
        assert sizes[-1] - logs < 15
        assert len(driver.home.chain.numbers()) < 15


def test_a_home_that_was_swept_can_be_opened_again(tmp_path: Path) -> None:
    with Driver(tmp_path / "kept", STATEMENTS, ["sums", "news"]) as untouched:
        for number in range(20):
            untouched.batch(rows(number))
        wanted = content(untouched, "sums")
    with Driver(tmp_path / "swept", STATEMENTS, ["sums", "news"]) as driver:
        for number in range(10):
            driver.batch(rows(number))
        driver.ledger.commit_content(fold(driver.home, driver.ledger, driver.ledger.record))
        sweep(driver.home, driver.ledger.record, AT_ONCE)
    with Driver(tmp_path / "swept") as driver:
        for number in range(10, 20):
            driver.batch(rows(number))
        assert content(driver, "sums") == wanted


def test_an_orphan_goes_when_its_grace_is_over(tmp_path: Path) -> None:
    with Driver(tmp_path, STATEMENTS, ["sums"]) as driver:
        driver.batch(rows(0))
        orphan = driver.home.segments / "000000000009.0.abc.log"
        orphan.write_bytes(b"half")
        assert sweep(driver.home, driver.ledger.record, Retention(grace=60.0)) == []
        assert sweep(driver.home, driver.ledger.record, Retention(grace=0.0)) == [orphan]
        driver.batch(rows(1))


def test_results_within_the_retention_stay(tmp_path: Path) -> None:
    with Driver(tmp_path, STATEMENTS, ["sums"]) as driver:
        for number in range(5):
            driver.batch(rows(number))
        driver.ledger.commit_content(fold(driver.home, driver.ledger, driver.ledger.record))
        before = driver.home.chain.numbers()
        sweep(driver.home, driver.ledger.record, Retention(seconds=3600.0, grace=0.0))
        assert driver.home.chain.numbers() == before
        assert all(
            (driver.home.segments / name).is_file()
            for record in driver.home.chain.since(0)
            for name in record.results
        )
