"""Java alone is killed, early in a run: the run ends, and says why."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from spark.recovery.processes import start_run
from tiers import only_long

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from spark.recovery.processes import Driver

JAVA = "org.apache.spark.deploy.SparkSubmit"
SCRIPT = """
CREATE STREAM cars (lane INT, speed DOUBLE, at BIGINT, WATERMARK FOR at AS at)
USING csv OPTIONS (path '{folder}/cars', time_unit 's');
CREATE QUERY fast AS SELECT lane, speed FROM cars [RANGE 100 SECONDS] WHERE speed > 20;
"""


def is_launched(driver: Driver) -> bool:
    return bool(driver.processes(JAVA))


def is_reached(driver: Driver) -> bool:
    """The file with the port is there, or its folder is gone again."""
    return is_launched(driver) and any(driver.home.path.parent.glob("tmp*/tmp*"))


def has_records(driver: Driver) -> bool:
    return bool(driver.home.chain.numbers())


def has_begun_a_batch(driver: Driver) -> bool:
    return any(driver.home.segments.glob("*.log"))


@pytest.mark.parametrize("trigger", ["continuous", pytest.param("available-now", marks=only_long)])
@pytest.mark.parametrize(
    "moment",
    [
        is_launched,
        pytest.param(is_reached, marks=only_long),
        pytest.param(has_records, marks=only_long),
        has_begun_a_batch,
    ],
)
def test_a_run_whose_java_is_killed_ends_with_a_sentence(
    moment: Callable[[Driver], bool], trigger: str, tmp_path: Path
) -> None:
    (tmp_path / "cars").mkdir()
    (tmp_path / "cars" / "1.csv").write_text("lane,speed,at\n5,18.2,8\n2,21.3,92\n", "utf-8")
    script = tmp_path / "cars.cql"
    script.write_text(SCRIPT.format(folder=tmp_path), "utf-8")
    driver = start_run(script, tmp_path / "home", "--trigger", trigger, "--progress", "0")
    assert driver.wait_for(lambda: moment(driver)), driver.output()
    for process in driver.processes(JAVA):
        os.kill(process, signal.SIGKILL)
    code, errors = driver.output()
    assert code == 2, errors
    assert "the Java process that runs Spark" in errors
    assert "Traceback" not in errors
    driver.wait_until_all_ended()
