"""A home is opened again under other circumstances: it goes on exactly, or says why it cannot."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from penstock.errors import DataError
from penstock.pipeline.plans import PipelinePlan
from penstock.reference.inputs import Inputs
from penstock.store.layout import Home, number_of
from spark.recovery.processes import start_driver
from spark.recovery.scenario import (
    QUERIES,
    check,
    compare,
    counting,
    make_plan,
    make_scenario,
    on_time,
)
from tiers import only_long

if TYPE_CHECKING:
    from pathlib import Path

    from spark.recovery.scenario import Scenario

FIRST, ALL = 5, 9


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Scenario]:
    """A home that has taken in the first files with 2 tasks, and was stopped."""
    folder = tmp_path_factory.mktemp("stopped")
    scenario = make_scenario(folder / "in", 3, batches=ALL, by_spark="ab")
    scenario.hold_back(FIRST)
    plan = make_plan(scenario.statements(), ["joined", "sums", "total"], lanes=2)
    driver = start_driver(folder / "home", plan, flush=False)
    driver.finish()
    last = driver.home.chain.last()
    assert last is not None
    assert any(one.image for one in last.lanes.values()), "no image: it shows too little"
    scenario.bring()
    return folder / "home", scenario


def copied(stopped: tuple[Path, Scenario], tmp_path: Path) -> tuple[Path, Scenario]:
    """A home of one's own; where its records are does not matter to Spark, either."""
    shutil.copytree(stopped[0], tmp_path / "home")
    return tmp_path / "home", stopped[1]


def test_other_tasks_and_another_plan(stopped: tuple[Path, Scenario], tmp_path: Path) -> None:
    """Three tasks instead of two; one query goes, one stays, one comes."""
    path, scenario = copied(stopped, tmp_path)
    before = make_plan(scenario.statements(), ["joined", "sums", "total"], lanes=2)
    (kept,) = [one for one in before.groups if "sums" in one.queries]
    added = make_plan(scenario.statements(), ["news"], lanes=3, first_group=9)
    statements = (
        *scenario.statements(),
        *(f"CREATE QUERY {name} AS {QUERIES[name]}" for name in ("joined", "sums", "news")),
    )
    plan = PipelinePlan(statements, (kept, *added.groups))
    driver = start_driver(path, plan, tasks=3)
    driver.finish()
    records = counting(list(driver.home.chain.since(0)))
    everything = Inputs(streams=on_time(scenario.files)[0])
    compare(driver.home, records, replace(plan, groups=(kept,)), everything)
    later = Inputs(streams=on_time(scenario.files, FIRST)[0])
    compare(driver.home, records, replace(plan, groups=added.groups), later)
    assert "total" not in records[-1].clocks


def refused(path: Path, scenario: Scenario) -> str:
    """What a driver says that cannot run; it must not have committed anything."""
    before = Home(path).chain.numbers()
    plan = make_plan(scenario.statements(), ["joined", "sums", "total"], lanes=2)
    code, errors = start_driver(path, plan).output()
    assert code == 1
    assert Home(path).chain.numbers() == before
    return errors


def test_a_fresh_checkpoint_is_refused(stopped: tuple[Path, Scenario], tmp_path: Path) -> None:
    path, scenario = copied(stopped, tmp_path)
    shutil.rmtree(path / "checkpoint")
    assert "do not belong together" in refused(path, scenario)


@only_long
def test_a_lost_record_is_noticed(stopped: tuple[Path, Scenario], tmp_path: Path) -> None:
    """Spark would go on behind the rows that the record was about."""
    path, scenario = copied(stopped, tmp_path)
    max((path / "records").glob("[0-9]*.json")).unlink()
    assert "do not belong together" in refused(path, scenario)


def test_what_a_lost_record_was_about_is_done_again(tmp_path: Path) -> None:
    """Where tasks read the files, nobody else remembers which."""
    scenario = make_scenario(tmp_path / "in", 7, batches=ALL, by_spark="")
    plan = make_plan(scenario.statements(), list(QUERIES), lanes=2)
    driver = start_driver(tmp_path / "home", plan)
    assert driver.wait_for_record(FIRST)
    driver.kill()
    driver.wait_until_all_ended()
    max((tmp_path / "home" / "records").glob("[0-9]*.json")).unlink()
    last = start_driver(tmp_path / "home", plan)
    last.finish()
    check(last.home, scenario)


@pytest.mark.parametrize("by_spark", ["", pytest.param("ab", marks=only_long)])
def test_a_damaged_batch_is_run_again_if_it_is_the_last(tmp_path: Path, by_spark: str) -> None:
    scenario = make_scenario(tmp_path / "in", 7, batches=ALL, by_spark=by_spark)
    plan = make_plan(scenario.statements(), list(QUERIES), lanes=2)
    driver = start_driver(tmp_path / "home", plan)
    assert driver.wait_for_record(FIRST)
    driver.kill()
    driver.wait_until_all_ended()
    record = driver.home.chain.last()
    assert record is not None
    assert record.kind == "batch"
    logs = {log for one in record.lanes.values() for log in one.logs}
    images = {one.image for one in record.lanes.values() if one.image}
    newest = [one for one in {*logs, *images, *record.results} if number_of(one) == record.number]
    assert len(newest) > 1
    for name in newest:
        damaged = driver.home.segments / name
        damaged.write_bytes(damaged.read_bytes()[:-20])
    last = start_driver(tmp_path / "home", plan)
    last.finish()
    assert (driver.home.path / "records" / f"{record.number:012d}.damaged").exists()
    check(last.home, scenario)


@only_long
def test_a_damaged_log_is_named_to_the_user(stopped: tuple[Path, Scenario], tmp_path: Path) -> None:
    """One that came before the last batch, which cannot be made again."""
    path, scenario = copied(stopped, tmp_path)
    record = Home(path).chain.last()
    assert record is not None
    state = record.lanes["0.0.0"]
    names = [*state.logs, *([state.image] if state.image else [])]
    name = min(names)
    assert number_of(name) != record.number
    damaged = path / "segments" / name
    content = bytearray(damaged.read_bytes())
    content[len(content) // 3] ^= 16
    damaged.write_bytes(content)
    assert f"{name} is damaged" in refused(path, scenario)


def test_two_pipelines_on_one_home(stopped: tuple[Path, Scenario], tmp_path: Path) -> None:
    path, scenario = copied(stopped, tmp_path)
    first = Home(path)
    first.open()
    try:
        with pytest.raises(DataError, match="another pipeline uses the home"):
            Home(path).open()
        assert "another pipeline uses the home" in refused(path, scenario)
    finally:
        first.close()
