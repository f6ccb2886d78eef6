"""The lanes of a task are written down together, and each is found again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from penstock.lane_host.images import read_image
from penstock.store.bundles import Bundle
from penstock.store.result_files import result_blocks
from store.driving import Driver, plan_of

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.pipeline.plans import QueryGroup

STREAM = "CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts)"
COUNTS = "SELECT k, COUNT(*) AS n FROM s [RANGE 50] WHERE v > {n} GROUP BY k"
NAMES = [f"q{n}" for n in range(5)]
STATEMENTS = (STREAM, *(f"CREATE QUERY q{n} AS {COUNTS.format(n=n)}" for n in range(5)))


def batch(number: int) -> dict[str, list[dict[str, object]]]:
    return {"s": [{"ts": 10 * number + i, "k": i % 3, "v": i} for i in range(10)]}


def register_one_by_one(driver: Driver) -> None:
    """Register the queries, each in a group of its own, and run a batch after each."""
    groups: tuple[QueryGroup, ...] = ()
    for number in range(len(NAMES)):
        plan = plan_of(STATEMENTS[: number + 2], [NAMES[number]], 2, number)
        groups = (*groups, *plan.groups)
        driver.ledger.change_plan(replace(plan, groups=groups))
        driver.batch(batch(number))


def results(driver: Driver) -> list[tuple[str, int, int, int, object]]:
    found = []
    for record in driver.home.chain.since(0):
        for query in NAMES:
            for block in result_blocks(driver.home, record, query):
                rows = zip(*(one.to_pylist() for one in block.columns), strict=True)
                elements = zip(block.ts, block.te, block.signs, rows, strict=True)
                found += [(query, int(a), int(b), int(c), row) for a, b, c, row in elements]
    return sorted(found)


def test_lanes_that_come_one_by_one_share_a_file_in_the_end(tmp_path: Path) -> None:
    with Driver(tmp_path, least_log=20_000) as driver:
        register_one_by_one(driver)
        for number in range(5, 40):
            driver.batch(batch(number))
        lanes = driver.ledger.record.lanes
        (image,) = {one.image for one in lanes.values()}
        assert len(lanes) == 10
        assert image is not None
        path = driver.home.segments / image
        assert {one.image_bytes for one in lanes.values()} == {path.stat().st_size}
        every = [read_image(driver.home, image, name)[0] for name in lanes]
        assert all(every)
        assert sum(map(len, every)) == len(Bundle(path).names)


@pytest.mark.parametrize("least_log", [0, 20_000])
def test_each_goes_on_from_its_own_part(tmp_path: Path, least_log: int) -> None:
    with Driver(tmp_path / "plain") as plain:
        register_one_by_one(plain)
        for number in range(5, 24):
            plain.batch(batch(number))
        plain.flush()
        expected = results(plain)
    with Driver(tmp_path / "images", least_log=least_log) as driver:
        register_one_by_one(driver)
        for number in range(5, 16):
            driver.batch(batch(number))
        assert all(one.image for one in driver.ledger.record.lanes.values())
    with Driver(tmp_path / "images", least_log=least_log) as again:
        for number in range(16, 24):
            again.batch(batch(number))
        again.flush()
        assert results(again) == expected
        assert len(expected) > 100
