"""Old results are folded and old files go, and nothing that counts is lost."""

from __future__ import annotations

import os
import threading
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from penstock.operators.block import Block, concatenated
from penstock.pipeline.sweeping import Retention, sweep
from penstock.reference.inputs import Inputs
from penstock.reference.oracle import Oracle
from penstock.store.result_files import content_blocks, result_blocks
from store.driving import Driver

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.reference.timeline import Row

STREAM = "CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts)"
STATEMENTS = (
    STREAM,
    "CREATE QUERY sums AS SELECT k, SUM(v) AS total FROM s [RANGE 30] GROUP BY k",
    "CREATE QUERY news AS ISTREAM(SELECT DISTINCT k FROM s [RANGE 10])",
)
AT_ONCE = Retention(seconds=0.0, grace=0.0, fold_bytes=2000)


def values(number: int) -> list[Row]:
    return [(number * 5 + i, i % 3, number) for i in range(4)]


def rows(number: int) -> dict[str, list[dict[str, object]]]:
    return {"s": [dict(zip(("ts", "k", "v"), row, strict=True)) for row in values(number)]}


def content(driver: Driver, query: str) -> Counter[Row]:
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
    found: Counter[Row] = Counter()
    columns = [column.to_pylist() for column in block.columns]
    for row, ts, te, sign in zip(
        zip(*columns, strict=True), block.ts, block.te, block.signs, strict=True
    ):
        if ts <= at < te:
            found[row] += int(sign)
    return Counter({row: copies for row, copies in found.items() if copies})


def judged(driver: Driver, query: str, taken: list[Row]) -> Counter[Row]:
    """The rows of a query at its last final instant, as the reference evaluator sees it."""
    (plan,) = [
        group.plans[query] for group in driver.ledger.plan.groups.values() if query in group.plans
    ]
    timeline = Oracle(Inputs({"s": taken})).timeline(plan)
    return Counter(timeline.at(driver.ledger.record.clocks[query] - 1))


def test_disk_use_is_bounded_and_the_content_is_the_oracles(tmp_path: Path) -> None:
    """Two thousand small batches, with thresholds as small."""
    retention = Retention(seconds=0.0, records=60, grace=0.0, fold_bytes=1 << 30, fold_records=20)
    taken: list[Row] = []
    files, sizes, records = [], [], []
    with Driver(tmp_path, STATEMENTS, ["sums", "news"], lanes=2, least_log=50_000) as driver:
        for number in range(2000):
            driver.batch(rows(number))
            taken += values(number)
            driver.housekeeping.note(driver.ledger.record)
            if number % 10 == 9:
                driver.housekeeping.clean(retention)
            if number % 50 == 49:
                entries = list(os.scandir(driver.home.segments))
                # Logs pile up until there is an image.
                files.append(sum(1 for one in entries if not one.name.endswith(".log")))
                sizes.append(sum(one.stat().st_size for one in entries))
                records.append(len(driver.home.chain.numbers()))
                # Rows that have left all windows do not matter any more.
                assert content(driver, "sums") == judged(driver, "sums", taken[-60:])
        assert driver.ledger.record.number > 2000
        assert any(one.image for one in driver.ledger.record.lanes.values())
    assert max(records) <= 60
    # As much in the first quarter as in the rest: nothing grows with time.
    assert max(files) <= max(files[:10]) + 5
    assert max(sizes) < 1.3 * max(sizes[:10])


def test_records_that_are_too_many_go_before_their_time(tmp_path: Path) -> None:
    retention = Retention(seconds=3600.0, records=10, grace=0.0, fold_records=5)
    with Driver(tmp_path, STATEMENTS, ["sums"]) as driver:
        for number in range(40):
            driver.batch(rows(number))
            driver.housekeeping.clean(retention)
            assert len(driver.home.chain.numbers()) <= 12
            assert content(driver, "sums")


def test_a_large_content_is_not_written_again_for_a_few_records(tmp_path: Path) -> None:
    every = "CREATE QUERY every AS SELECT k, SUM(v) AS total FROM s [UNBOUNDED] GROUP BY k"
    retention = Retention(fold_bytes=100, fold_records=4)
    many: list[dict[str, object]] = [{"ts": 0, "k": k, "v": k} for k in range(5000)]
    with Driver(tmp_path, (STREAM, every), ["every"]) as driver:
        driver.batch({"s": many})
        driver.batch(rows(1))
        assert driver.housekeeping.is_pressing(retention)
        driver.housekeeping.clean(retention)
        large = driver.ledger.record.content
        assert large is not None
        assert large.bytes > 20_000
        for number in range(2, 10):
            driver.batch(rows(number))
            # More than 100 bytes were folded, so more records than 4 may wait now.
            assert not driver.housekeeping.is_pressing(retention)
        driver.batch({"s": [{**row, "ts": 100} for row in many]})
        driver.batch({"s": [{**row, "ts": 101} for row in many]})
        driver.batch({"s": [{**row, "ts": 102} for row in many]})
        assert driver.housekeeping.is_pressing(retention)
        driver.housekeeping.clean(retention)
        assert not driver.housekeeping.is_pressing(retention)


def test_a_home_that_was_swept_can_be_opened_again(tmp_path: Path) -> None:
    with Driver(tmp_path / "kept", STATEMENTS, ["sums", "news"]) as untouched:
        for number in range(20):
            untouched.batch(rows(number))
        wanted = content(untouched, "sums")
    with Driver(tmp_path / "swept", STATEMENTS, ["sums", "news"]) as driver:
        for number in range(10):
            driver.batch(rows(number))
        driver.fold()
        sweep(driver.home, driver.ledger.record, AT_ONCE)
    with Driver(tmp_path / "swept") as driver:
        for number in range(10, 20):
            driver.batch(rows(number))
        assert content(driver, "sums") == wanted
        # What another process committed is folded as well.
        driver.fold()
        assert content(driver, "sums") == wanted


def test_a_query_is_not_taken_for_one_that_had_its_name(tmp_path: Path) -> None:
    other = "CREATE QUERY sums AS SELECT v, k, ts FROM s [RANGE 30]"
    with Driver(tmp_path / "new", [STREAM, other], ["sums"]) as driver:
        for number in range(5, 10):
            driver.batch(rows(number))
        wanted = content(driver, "sums")
    with Driver(tmp_path / "again", STATEMENTS, ["sums"]) as driver:
        for number in range(3):
            driver.batch(rows(number))
        driver.fold()
        for number in range(3, 5):
            driver.batch(rows(number))
        driver.run([STREAM, other], ["sums"])
        for number in range(5, 8):
            driver.batch(rows(number))
        driver.fold()
        sweep(driver.home, driver.ledger.record, AT_ONCE)
        for number in range(8, 10):
            driver.batch(rows(number))
        assert content(driver, "sums") == wanted


def test_an_orphan_goes_when_its_grace_is_over(tmp_path: Path) -> None:
    with Driver(tmp_path, STATEMENTS, ["sums"]) as driver:
        driver.batch(rows(0))
        number = driver.ledger.record.number
        orphan = driver.home.segments / f"{number:012d}.0.abc.log"
        orphan.write_bytes(b"half")
        draft = driver.home.path / "records" / f".{number:012d}.json.abc"
        draft.write_bytes(b"half")
        assert sweep(driver.home, driver.ledger.record, Retention(grace=60.0)) == []
        removed = sweep(driver.home, driver.ledger.record, Retention(grace=0.0))
        assert removed == [orphan, draft]
        driver.batch(rows(1))


def test_what_a_batch_is_writing_stays_however_long_it_takes(tmp_path: Path) -> None:
    with Driver(tmp_path, STATEMENTS, ["sums"]) as driver:
        driver.batch(rows(0))
        written = driver.home.segments / f"{driver.ledger.record.number + 1:012d}.0.abc.log"
        written.write_bytes(b"half")
        assert sweep(driver.home, driver.ledger.record, Retention(grace=0.0)) == []
        driver.batch(rows(1))
        assert sweep(driver.home, driver.ledger.record, Retention(grace=0.0)) == [written]


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    with Driver(tmp_path, STATEMENTS, ["sums"]) as driver:
        driver.batch(rows(0))
        (driver.home.segments / "notes.txt").write_text("mine")
        assert sweep(driver.home, driver.ledger.record, Retention(grace=0.0)) == []


def test_results_within_the_retention_stay(tmp_path: Path) -> None:
    with Driver(tmp_path, STATEMENTS, ["sums"]) as driver:
        for number in range(5):
            driver.batch(rows(number))
        driver.fold()
        before = driver.home.chain.numbers()
        sweep(driver.home, driver.ledger.record, Retention(seconds=3600.0, grace=0.0))
        assert driver.home.chain.numbers() == before
        assert all(
            (driver.home.segments / name).is_file()
            for record in driver.home.chain.since(0)
            for name in record.results
        )


def test_plans_that_kept_records_ran_stay(tmp_path: Path) -> None:
    with Driver(tmp_path, STATEMENTS, ["sums"]) as driver:
        driver.batch(rows(0))
        driver.run(STATEMENTS, ["news"])
        driver.batch(rows(1))
        driver.run(STATEMENTS, ["sums", "news"])
        driver.batch(rows(2))
        # Written, but the process ended before the record that names it.
        last = driver.ledger.record.number
        (driver.home.plans / f"{last:012d}.0000.plan").write_text("{}")
        driver.fold()
        driver.housekeeping.clean(replace(AT_ONCE, seconds=3600.0))
        named = {one.plan for one in driver.home.chain.since(0)}
        assert len(named) == 4
        assert named <= {path.name for path in driver.home.plans.iterdir()}
        driver.housekeeping.clean(AT_ONCE)
        assert {one.plan for one in driver.home.chain.since(0)} == {driver.ledger.record.plan}
        assert driver.ledger.record.plan in {path.name for path in driver.home.plans.iterdir()}


def test_in_the_background_batches_do_not_wait(tmp_path: Path) -> None:
    with Driver(tmp_path, STATEMENTS, ["sums"]) as driver:
        for number in range(10):
            driver.batch(rows(number))
        wanted = content(driver, "sums")
        lock = driver.lock
        with lock:
            driver.housekeeping.begin(Retention(fold_records=0), lambda: True)
            # It waits for the lock before it commits; a batch that runs meanwhile is no matter.
            driver.batch(rows(10))
            between = driver.ledger.record.number
        driver.housekeeping.wait()
        assert driver.faults == []
        record = driver.ledger.record
        assert record.content is not None
        assert record.content.record == between - 1
        assert record.number == between + 1
        after = content(driver, "sums")
        assert after != wanted
        # The batch that ran meanwhile is folded the next time.
        driver.fold()
        assert driver.ledger.record.folded_up_to == between + 1
        assert content(driver, "sums") == after


@pytest.mark.parametrize("meanwhile", ["another plan", "the end", "stopped"])
def test_what_was_folded_is_left_out_if_it_came_too_late(tmp_path: Path, meanwhile: str) -> None:
    with Driver(tmp_path, STATEMENTS, ["sums"]) as driver:
        for number in range(5):
            driver.batch(rows(number))
        stopped = threading.Event()
        with driver.lock:
            driver.housekeeping.begin(Retention(fold_records=0), lambda: not stopped.is_set())
            if meanwhile == "another plan":
                driver.run(STATEMENTS, ["news"])
            elif meanwhile == "the end":
                driver.flush()
            else:
                stopped.set()
            last = driver.ledger.record
        driver.housekeeping.wait()
        assert driver.faults == []
        assert driver.ledger.record == last
        assert last.content is None


def test_what_goes_wrong_in_the_background_is_told(tmp_path: Path) -> None:
    with Driver(tmp_path, STATEMENTS, ["sums"]) as driver:
        driver.batch(rows(0))
        (results,) = driver.ledger.record.results
        path = driver.home.segments / results
        content_before = path.read_bytes()
        path.write_bytes(b"damaged")
        driver.housekeeping.begin(Retention(fold_records=0), lambda: True)
        driver.housekeeping.wait()
        (fault,) = driver.faults
        assert results in fault
        path.write_bytes(content_before)
        driver.housekeeping.begin(Retention(fold_records=0), lambda: True)
        driver.housekeeping.wait()
        assert driver.ledger.record.content is not None
