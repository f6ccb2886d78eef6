"""The disk of the home is full: a clear error; with space again, all goes on as if nothing was."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from spark.recovery.processes import start_driver
from spark.recovery.scenario import QUERIES, check, make_plan, make_scenario
from tiers import only_long

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SMALL, LARGE = "500k", "64m"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system that is full after a few batches."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a file system")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


@only_long
def test_it_goes_on_when_there_is_space_again(small_disk: Path, tmp_path: Path) -> None:
    scenario = make_scenario(tmp_path / "in", 6, batches=14)
    plan = make_plan(scenario.statements(), list(QUERIES), lanes=2)
    home = small_disk / "home"
    code, errors = start_driver(home, plan, settings_in=tmp_path).output()
    assert code == 1
    # The last line is the hint.
    said = errors.splitlines()[-2]
    assert "No space left on device" in said
    # What is full is the disk of the home; where Spark's own files are at fault, it does not say.
    assert f"the disk with {home}" in said or "the disk of the home" in said
    subprocess.run(["mount", "-o", f"remount,size={LARGE}", str(small_disk)], check=True)
    driver = start_driver(home, plan, settings_in=tmp_path)
    last = driver.home.chain.last()
    assert last is not None
    assert 0 < last.number < scenario.batches, "it was full too early, or not at all"
    driver.finish()
    check(driver.home, scenario)
