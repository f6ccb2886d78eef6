"""Driver programs as processes: started, watched and killed together with all they have started."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from penstock.store.layout import Home

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping, Sequence

    from penstock.pipeline.plans import PipelinePlan

HERE = Path(__file__).parent
MARK = "PENSTOCK_TEST_MARK"
"""The variable by whose value a test knows its processes, however deep."""
PATIENCE = 400.0
"""Seconds until a test gives up on a program; far more than it takes on a machine at rest."""


@dataclass
class Driver:
    """A driver program that runs, and what it may start."""

    process: subprocess.Popen[bytes]
    home: Home
    mark: str
    errors: Path

    def output(self, seconds: float = PATIENCE) -> tuple[int, str]:
        """Wait for its end; the exit code and what it wrote to stderr."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill_all()
            raise
        return self.process.returncode, self.errors.read_text("utf-8")

    def finish(self) -> None:
        """Wait for its end, which has to be a good one."""
        code, errors = self.output()
        assert code == 0, errors

    def kill(self, *, only_python: bool = False) -> None:
        """End it without warning: the process group with the JVM, or the Python process alone."""
        if only_python:
            self.process.kill()
        else:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def kill_all(self) -> None:
        """End every process that it has started, too."""
        for process in self.processes():
            os.kill(process, signal.SIGKILL)
        self.process.wait()

    def processes(self, part: str = "") -> list[int]:
        """The processes that belong to it and have a text in their command line."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                environment = (entry / "environ").read_bytes()
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue  # It has ended, or is somebody else's.
            if f"{MARK}={self.mark}".encode() in environment and part in command:
                found.append(int(entry.name))
        return found

    def wait_for(self, holds: Callable[[], bool]) -> bool:
        """Wait until something holds; False if the program ended before."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if holds():
                return True
            if self.process.poll() is not None:
                return False
            time.sleep(0.005)
        self.kill_all()
        msg = f"nothing happened for {PATIENCE} seconds"
        raise AssertionError(msg)

    def wait_for_record(self, number: int) -> bool:
        """Wait until there is a record of a number; False if the program ended before."""
        return self.wait_for(lambda: newest_record(self.home) >= number)

    def wait_for_task(self) -> bool:
        """Wait until a task of the next batch has begun to write; False if the program ended."""
        after = newest_record(self.home)
        return self.wait_for(
            lambda: any(int(one.name[:12]) > after for one in self.home.segments.glob("*.log"))
        )

    def wait_until_all_ended(self) -> None:
        """Wait until no process is left of it, which has to be soon."""
        deadline = time.monotonic() + 10
        while self.processes():
            assert time.monotonic() < deadline, "a process of the pipeline outlives its driver"
            time.sleep(0.1)


def newest_record(home: Home) -> int:
    """The number of the newest record; -1 if there is none."""
    return max(home.chain.numbers(), default=-1)


def python_path() -> str:
    """The variable with which images are written soon."""
    return os.pathsep.join(
        [str(HERE / "small_images"), *filter(None, [os.environ.get("PYTHONPATH")])]
    )


def start_driver(
    home: Path,
    plan: PipelinePlan,
    *,
    tasks: int = 2,
    most_tasks: int = 0,
    master: str = "local[2,4]",
    flush: bool = True,
    variables: Mapping[str, str] | None = None,
    settings_in: Path | None = None,
    settings: Mapping[str, str] | None = None,
    command: Sequence[str] = (),
) -> Driver:
    """Start a driver program; its process group is its own.

    What it is told and what it says are beside the home, or in a folder of their own; `settings`
    are Spark's, and `command` is what runs commands elsewhere.
    """
    path = (settings_in or home.parent) / f"{home.name}.{uuid4().hex[:6]}.json"
    values = {
        "home": str(home),
        "plan": json.dumps(plan.to_json([one.physical.text for one in plan.groups])),
        "tasks": str(tasks),
        "most_tasks": str(most_tasks),
        "master": master,
        "flush": "yes" if flush else "",
        "spark": json.dumps(dict(settings or {})),
    }
    path.write_text(json.dumps(values), "utf-8")
    mark = uuid4().hex
    errors = path.with_suffix(".stderr")
    # A file, which takes all that Spark has to say even if nobody reads it.
    with errors.open("wb") as file:
        process = subprocess.Popen(
            [*command, sys.executable, HERE / "driver_program.py", path],
            env={
                **os.environ,
                "PYTHONPATH": python_path(),
                MARK: mark,
                **(variables or {}),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=file,
            start_new_session=True,
        )
    return Driver(process, Home(home), mark, errors)


def start_run(script: Path, home: Path, *arguments: str) -> Driver:
    """Start `penstock run` with a script; its process group is its own.

    Python's and Spark's temporary files are beside the home.
    """
    mark = uuid4().hex
    errors = home.with_suffix(".stderr")
    with errors.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "penstock", "run", script, "--home", home, *arguments],
            env={**os.environ, MARK: mark, "TMPDIR": str(home.parent)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=file,
            start_new_session=True,
        )
    return Driver(process, Home(home), mark, errors)


def kill_at_random(driver: Driver, draw: random.Random) -> str | None:
    """Kill a driver at a moment that is drawn; how, or None if it was done before that."""
    only_python = draw.random() < 1 / 3
    records = draw.randint(0, 2)
    if draw.random() < 1 / 10:
        # While Spark starts, mostly.
        time.sleep(draw.uniform(0, 4))
        moment = "early"
    elif records:
        moment = f"after {records} records"
        if not driver.wait_for_record(newest_record(driver.home) + records):
            return None
        time.sleep(draw.expovariate(6))
    else:
        moment = "in the first batch"
        known = set(driver.home.segments.glob("*"))
        if not driver.wait_for(lambda: set(driver.home.segments.glob("*")) != known):
            return None
        time.sleep(draw.expovariate(12))
    if driver.process.poll() is not None:
        return None
    driver.kill(only_python=only_python)
    return f"{moment}, {'Python only' if only_python else 'all'}"
