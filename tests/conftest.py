"""Settings for all tests: tiers, who of two processes runs what, examples of hypothesis."""

from __future__ import annotations

import os
import re
import signal
from typing import TYPE_CHECKING

from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

import tiers
import workloads

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from xdist.remote import Producer

# The same examples on every run, and no failure because the machine was busy. To look for new
# counterexamples: ./test --hypothesis-profile=default tests/properties
settings.register_profile("ci", derandomize=True, deadline=None)
settings.load_profile("ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("penstock", "Penstock")
    for tier, what in (
        ("quick", "leave out what is slow: Spark, set-up, fuzzing, benchmarks"),
        ("long", "add kills, clusters, full disks, and more trials of everything random"),
    ):
        group.addoption(f"--{tier}", action="store_const", const=tier, dest="tier", help=what)


def pytest_configure(config: pytest.Config) -> None:
    # Shells start what goes to the background with SIGINT ignored, and children inherit that.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Java's second compiler pays in runs that are longer than those of tests.
    os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1")
    if config.getoption("tier"):
        os.environ[tiers.VARIABLE] = config.getoption("tier")
    workloads.register(config)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Not even read, in the quick tier, what is slow."""
    name = collection_path.relative_to(config.rootpath).as_posix()
    is_left_out = config.getoption("tier") == "quick" and tiers.is_slow(name)
    return is_left_out or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what is slow, so that no process is left alone with it at the end."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: not tiers.is_slow(item.nodeid))


class Scheduling(LoadFileScheduling):  # type: ignore[misc]  # has no types
    """Whole files for a process, so that what a file shares (a Spark session) starts once.

    A test whose parameter is called `half 0` or `half 1` may go to another one than its file.
    """

    def _split_scope(self, nodeid: str) -> str:
        half = re.search(r"\[half \d", nodeid)
        file: str = super()._split_scope(nodeid)
        return f"{file} {half[0]}" if half else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    return Scheduling(config, log)
