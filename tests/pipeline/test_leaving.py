"""A query that leaves its group takes with it what only it needed, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from penstock.lane_host.lane_host import LEAST_LOG
from penstock.store.result_files import result_blocks
from store.driving import Driver

if TYPE_CHECKING:
    from pathlib import Path

STREAMS = (
    "CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts)",
    "CREATE STREAM t (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts)",
)
STAYS = "SELECT k, COUNT(*) AS n FROM s [RANGE 50] WHERE v > 1 GROUP BY k"
LEAVES = "SELECT s.k, s.v, t.v AS w FROM s [RANGE 50], t [RANGE 50] WHERE s.k = t.k AND s.v > 1"


def batch(number: int) -> dict[str, list[dict[str, object]]]:
    rows: list[dict[str, object]] = [{"ts": 10 * number + i, "k": i % 3, "v": i} for i in range(10)]
    return {"s": rows, "t": rows}


STATEMENTS = (*STREAMS, f"CREATE QUERY stays AS {STAYS}", f"CREATE QUERY leaves AS {LEAVES}")


def leave(driver: Driver) -> None:
    plan = driver.ledger.plan.plan
    (group,) = plan.groups
    groups = (group.only(["stays"]),)
    driver.ledger.change_plan(replace(plan, statements=STATEMENTS[:3], groups=groups))


def labels(driver: Driver) -> set[str]:
    return {str(one["label"]).split()[0] for lane in driver.operators.values() for one in lane}


def results(driver: Driver, query: str) -> list[tuple[int, int, int, object]]:
    found = []
    for record in driver.home.chain.since(0):
        for block in result_blocks(driver.home, record, query):
            columns = zip(*(one.to_pylist() for one in block.columns), strict=True)
            found += list(zip(block.ts, block.te, block.signs, columns, strict=True))
    return [(int(ts), int(te), int(sign), row) for ts, te, sign, row in found]


@pytest.mark.parametrize("least_log", [0, LEAST_LOG], ids=["by image", "by logs"])
@pytest.mark.parametrize("is_restarted", [False, True])
def test_what_only_it_needed_is_gone(tmp_path: Path, least_log: int, *, is_restarted: bool) -> None:
    with Driver(tmp_path / "alone", STATEMENTS[:3], ["stays"]) as alone:
        for number in range(8):
            alone.batch(batch(number))
        alone.flush()
        expected = results(alone, "stays")
    path = tmp_path / "home"
    driver = Driver(path, STATEMENTS, ["stays", "leaves"], least_log=least_log)
    for number in range(4):
        driver.batch(batch(number))
    assert len(driver.ledger.plan.groups) == 1, "they share their operators"
    assert {"Join", "Aggregate"} <= labels(driver)
    leave(driver)
    for number in range(4, 8):
        if is_restarted and number in (4, 6):
            driver.close()
            driver = Driver(path, least_log=least_log)
        driver.batch(batch(number))
        assert "Join" not in labels(driver)
    assert [one.name for one in driver.ledger.plan.streams] == ["s"]
    assert "leaves" not in driver.ledger.record.clocks
    driver.flush()
    assert results(driver, "stays") == expected
    driver.close()
