"""A home goes on by the physical plan that it has: nothing is planned when it is opened again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from penstock.errors import DataError
from penstock.lane_host.plan_files import content_check, read_plan_file
from penstock.pipeline.ledger import Ledger
from penstock.planner import optimizing
from penstock.planner.physical import lowering
from penstock.planner.physical.graph import Graph
from penstock.store.result_files import result_blocks
from store.driving import Driver, plan_of

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.pipeline.plans import QueryGroup

STATEMENTS = (
    "CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts)",
    "CREATE QUERY big AS SELECT k FROM s [RANGE 5] WHERE v > 1",
    "CREATE QUERY sums AS SELECT k, SUM(v) AS sum FROM s [RANGE 5] GROUP BY k",
)
ROWS: list[dict[str, object]] = [{"ts": i, "k": i % 2, "v": i} for i in range(20)]


def refused(*_: object, **__: object) -> None:
    msg = "nothing is planned where a plan is written down"
    raise AssertionError(msg)


def sums(driver: Driver) -> list[tuple[int, int, int, object]]:
    found = []
    for record in driver.home.chain.since(0):
        for block in result_blocks(driver.home, record, "sums"):
            rows = zip(*(one.to_pylist() for one in block.columns), strict=True)
            found += list(zip(block.ts, block.te, block.signs, rows, strict=True))
    return [(int(ts), int(te), int(sign), row) for ts, te, sign, row in found]


def uninterrupted(path: Path, queries: list[str]) -> list[tuple[int, int, int, object]]:
    with Driver(path, STATEMENTS, queries) as driver:
        driver.batch({"s": ROWS[:10]})
        driver.batch({"s": ROWS[10:]})
        driver.flush()
        return sums(driver)


def reworded(group: QueryGroup) -> QueryGroup:
    (fragment,) = group.physical.fragments
    graph = Graph(results=fragment.graph.results)
    for number, node in enumerate(fragment.graph.nodes):
        graph.add(replace(node, label=f"reworded {number}"))
    physical = replace(group.physical, fragments=(replace(fragment, graph=graph),))
    return replace(group, physical=physical)


def test_another_planner_goes_on_by_what_was_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = uninterrupted(tmp_path / "plain", ["big", "sums"])
    with Driver(tmp_path / "again", STATEMENTS, ["big", "sums"], least_log=0) as driver:
        driver.batch({"s": ROWS[:10]})
        plan = driver.ledger.plan.plan
    monkeypatch.setattr(optimizing, "optimized", refused)
    monkeypatch.setattr(lowering, "Lowering", refused)
    with Driver(tmp_path / "again", least_log=0) as driver:
        assert driver.ledger.plan.plan == plan
        driver.batch({"s": ROWS[10:]})
        driver.flush()
        assert sums(driver) == expected


def test_state_is_known_by_operators_and_not_by_their_wording(tmp_path: Path) -> None:
    expected = uninterrupted(tmp_path / "plain", ["sums"])
    path = tmp_path / "again"
    with Driver(path, STATEMENTS, ["sums"], least_log=0) as driver:
        driver.batch({"s": ROWS[:10]})
        plan = driver.ledger.plan.plan
        (group,) = plan.groups
        driver.ledger.change_plan(replace(plan, groups=(reworded(group),)))
    with Driver(path, least_log=0) as driver:
        driver.batch({"s": ROWS[10:]})
        labels = [one["label"] for lane in driver.operators.values() for one in lane]
        assert labels == [f"reworded {number}" for number in range(len(labels))]
        driver.flush()
        assert sums(driver) == expected


def test_a_query_that_is_registered_writes_its_own_physical_plan_only(tmp_path: Path) -> None:
    with Driver(tmp_path, STATEMENTS, ["big"]) as driver:
        before = {one.name for one in driver.home.plans.glob("*.physical")}
        plan = driver.ledger.plan.plan
        (group,) = plan.groups
        (other,) = plan_of(STATEMENTS, ["sums"], first=1).groups
        driver.ledger.change_plan(replace(plan, groups=(group, other)))
        after = {one.name for one in driver.home.plans.glob("*.physical")}
        assert len(before) == 1
        assert before < after
        assert len(after) == 2
        files = read_plan_file(driver.home, driver.ledger.record.plan)["groups"]
        assert files[0]["physical"] in before


def test_a_physical_plan_of_another_version_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with Driver(tmp_path, STATEMENTS, ["big"]) as driver:
        home = driver.home
        values = read_plan_file(home, driver.ledger.record.plan)
        path = home.plans / values["groups"][0]["physical"]
        text = path.read_text("utf-8").replace('"version":1', '"version":99')
        number = path.name.split(".")[0]
        newer = home.plans / f"{number}.{content_check(text.encode())}.physical"
        newer.write_text(text, "utf-8")
        values["groups"][0]["physical"] = newer.name
        content = json.dumps(values).encode()
        name = f"{number}.{content_check(content)}.plan"
        (home.plans / name).write_bytes(content)
        home.chain.publish(driver.ledger.record.next("change", plan=name))
        with pytest.raises(DataError, match="version 99, this Penstock has 1"):
            Ledger(home)
