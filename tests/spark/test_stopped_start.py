"""Ctrl-C while Spark starts: one line, an exit code, and nothing that goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tiers import amount

ROOT = Path(__file__).parents[2]
QUERY = "SELECT COUNT(*) AS n FROM cars [RANGE 1 MINUTE]"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("line", ["running on Spark", "0 s, starting Spark", "2 s, starting Spark"])
def test_a_start_that_is_stopped_ends_in_one_line(line: str, number: signal.Signals) -> None:
    script = ROOT / "examples" / "highway" / "highway.cql"
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "penstock", "run", script, "--engine", "spark", "-e", QUERY],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PENSTOCK_PROGRESS": "0.5"},
        # As a terminal does: the processes that Spark started get the signal, too.
        start_new_session=True,
    )
    assert process.stderr is not None
    while not process.stderr.readline().startswith(line):
        assert process.poll() is None, "it has ended before"
    os.killpg(process.pid, number)
    output, errors = process.communicate(timeout=60)
    told = [one for one in errors.splitlines() if "starting Spark" not in one]
    assert (process.returncode, output, told) == (128 + number, "", ["stopped."])
    _require_end(process.pid)


SWEEP = amount("moments at which a start is stopped")
"""The first of them while the shell and Python begin, the last when Spark starts."""


@pytest.mark.parametrize("moment", [3 * (n / SWEEP) ** 2 for n in range(SWEEP)])
def test_a_start_that_is_stopped_at_any_moment_says_at_most_one_line(moment: float) -> None:
    script = ROOT / "examples" / "highway" / "highway.cql"
    process = subprocess.Popen(
        [ROOT / "penstock", "run", script, "--engine", "spark", "-e", QUERY],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(moment)
    assert process.poll() is None, "it has ended before"
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    told = [one for one in errors.splitlines() if "Spark" not in one]
    # Before Python runs, the shell ends as shells do: by the signal, and without a word.
    ends = [(128 + signal.SIGINT, ["stopped."]), (-signal.SIGINT, [])]
    assert (process.returncode, told) in ends
    assert output == ""
    _require_end(process.pid)


def _require_end(session: int) -> None:
    """Wait until no process of a session is left."""
    deadline = time.monotonic() + 60
    while _is_left(session):
        assert time.monotonic() < deadline, "something goes on"
        time.sleep(0.1)


def _is_left(session: int) -> bool:
    """Whether a process of a session is there."""
    try:
        os.killpg(session, 0)
    except ProcessLookupError:
        return False
    return True
