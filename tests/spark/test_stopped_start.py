"""Ctrl-C while Spark starts: one line, an exit code, and nothing that goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

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
    deadline = time.monotonic() + 60
    while _is_left(process.pid):
        assert time.monotonic() < deadline, "something goes on"
        time.sleep(0.1)


def _is_left(session: int) -> bool:
    """Whether a process of a session is there."""
    try:
        os.killpg(session, 0)
    except ProcessLookupError:
        return False
    return True
