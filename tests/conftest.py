"""Settings for all tests: tiers, who of two processes runs what, examples of hypothesis."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

import tiers

if TYPE_CHECKING:
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
    if config.getoption("tier"):
        os.environ[tiers.VARIABLE] = config.getoption("tier")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    slow = [item for item in items if tiers.is_slow(item.nodeid)]
    others = [item for item in items if not tiers.is_slow(item.nodeid)]
    if config.getoption("tier") == "quick":
        config.hook.pytest_deselected(items=slow)
        items[:] = others
    elif hasattr(config, "workerinput"):
        # So that no process is left alone with them at the end.
        items[:] = slow + others


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
