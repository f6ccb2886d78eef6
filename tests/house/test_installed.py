"""The package as pip installs it: outside of the checkout, without benchmarks and fuzzer."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from typing import TYPE_CHECKING

import pytest

import penstock
from house.checkout import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def run(folder: Path, *command: str | Path) -> tuple[int, str, str]:
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout, ended.stderr


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the package; what it depends on is that of this environment."""
    folder = tmp_path_factory.mktemp("elsewhere")
    made = folder / "env"
    subprocess.run([sys.executable, "-m", "venv", str(made)], check=True)
    pip = [str(made / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps"]
    code, output, errors = run(folder, *pip, ROOT)
    assert code == 0, output + errors
    [packages] = made.glob("lib/python3*/site-packages")
    # After the package's own folder: what is installed here hides nothing.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), "utf-8")
    return made


def penstock_command(environment: Path, *arguments: str | Path) -> tuple[int, str, str]:
    return run(environment.parent, environment / "bin" / "penstock", *arguments)


def test_there_is_a_command(environment: Path) -> None:
    answer = penstock_command(environment, "--version")
    assert answer == (0, f"penstock {penstock.__version__}\n", "")


def test_it_is_the_installed_package_that_runs(environment: Path) -> None:
    code = "import penstock, penstock.spark as s; print(penstock.__file__)"
    answer = run(environment.parent, environment / "bin" / "python", "-P", "-c", code)
    assert answer[1].startswith(str(environment)), answer


def test_the_metadata_are_complete(environment: Path) -> None:
    code = (
        "import importlib.metadata as m; one = m.metadata('penstock');"
        "print(one['Version'], one['License-Expression'], one['Requires-Python']);"
        "print(one.get_all('Provides-Extra'), len(one.get_payload()) > 1000)"
    )
    answer = run(environment.parent, environment / "bin" / "python", "-c", code)
    expected = f"{penstock.__version__} Apache-2.0 >=3.11\n['pictures'] True\n"
    assert answer == (0, expected, "")


def test_files_that_are_no_python_are_there(environment: Path) -> None:
    [package] = environment.glob("lib/python3*/site-packages/penstock")
    assert (package / "py.typed").is_file()
    assert (package / "spark" / "log4j2.properties").is_file()
    assert (package / "spark" / "pools.xml").is_file()
    assert os.access(package / "spark" / "jdk" / "bin" / "java", os.X_OK)


def test_stream_tests_run_on_the_operators(environment: Path) -> None:
    tests = ROOT / "examples"
    code, output, errors = penstock_command(environment, "test", tests, "--engine", "inline")
    assert (code, errors) == (0, ""), output + errors
    assert output.endswith("ran on inline\n")


def test_the_first_use_says_why_it_takes_longer(environment: Path, tmp_path: Path) -> None:
    tests = ROOT / "examples"
    command = (environment / "bin" / "penstock", "test", tests, "--engine", "inline")
    ended = subprocess.run(
        command,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stderr.startswith("no loops are compiled yet: ")
    assert any(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["bench", "fuzz"])
def test_what_is_part_of_a_checkout_says_so(environment: Path, command: str) -> None:
    code, output, errors = penstock_command(environment, command)
    assert (code, output) == (2, "")
    assert errors == (
        f"`penstock {command}` is part of a checkout, and not of what pip installs\n"
        f"  Clone the repository and run `./penstock {command}` there.\n"
    )


def test_a_program_of_a_user_has_all_its_types(environment: Path) -> None:
    script = environment.parent / "user_script.py"
    script.write_text((ROOT / "tests" / "house" / "user_script.py").read_text("utf-8"), "utf-8")
    mypy = (sys.executable, "-m", "mypy", "--strict", "--python-executable")
    answer = run(environment.parent, *mypy, environment / "bin" / "python", script)
    assert answer[:2] == (0, "Success: no issues found in 1 source file\n"), answer
    wrong = script.read_text("utf-8").replace("brought: int", "brought: str")
    script.write_text(wrong, "utf-8")
    code, output, _ = run(environment.parent, *mypy, environment / "bin" / "python", script)
    assert code == 1, "mypy sees the types of the installed package"
    assert 'expression has type "int", variable has type "str"' in output


def test_a_program_of_a_user_runs(environment: Path) -> None:
    script = ROOT / "tests" / "house" / "user_script.py"
    code, output, errors = run(environment.parent, environment / "bin" / "python", script)
    assert (code, errors) == (0, "")
    assert "3 [{'k': 1, 'n': 2}] 2 6 0" in output
    assert "['built', 'counted']" in output
