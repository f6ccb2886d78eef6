"""A process that hangs is told from a slow one, by real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from penstock.spark.daemon import Overseer
from penstock.store.processes import LifeWatch, end, is_alive, signs_of_life

if TYPE_CHECKING:
    from collections.abc import Iterator

WORKS = "while True: sum(range(1000))"
RESTS = "import time; time.sleep(600)"
WRITES = "import os, time\nwhile True: os.write(out, b'1'); time.sleep(0.05)"
PATIENCE = 0.5


@contextmanager
def running(code: str) -> Iterator[int]:
    code = f"import os; out = os.open(os.devnull, os.O_WRONLY); print(flush=True)\n{code}"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.kill()


def hangs(process: int) -> bool:
    """Whether it is said to hang within four times the patience."""
    watch = LifeWatch(process, PATIENCE)
    deadline = time.monotonic() + 4 * PATIENCE
    while time.monotonic() < deadline:
        if watch.is_hung:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("code", [WORKS, WRITES])
def test_who_works_or_moves_bytes_is_alive_until_it_is_stopped(code: str) -> None:
    with running(code) as process:
        assert not hangs(process)
        os.kill(process, signal.SIGSTOP)
        assert hangs(process)
        os.kill(process, signal.SIGCONT)
        assert not hangs(process)


def test_who_waits_for_what_never_comes_hangs() -> None:
    with running(RESTS) as process:
        assert hangs(process)
        end(process)
        assert signs_of_life(process) is None
        assert not hangs(process), "who has ended does not hang"
    assert not is_alive(process)


def test_stopped_children_are_ended_and_others_are_not() -> None:
    overseer = Overseer(PATIENCE)
    with running(RESTS) as resting, running(RESTS) as stopped, running(RESTS) as continued:
        os.kill(stopped, signal.SIGSTOP)
        os.kill(continued, signal.SIGSTOP)
        overseer.look()
        os.kill(continued, signal.SIGCONT)
        deadline = time.monotonic() + 60
        while signs_of_life(stopped) is not None:
            assert time.monotonic() < deadline
            overseer.look()
            time.sleep(0.05)
        assert all(signs_of_life(one) is not None for one in (resting, continued))
