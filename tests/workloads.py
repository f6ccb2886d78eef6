"""The files whose tests took longest, said at the end of a run: where a tier's time goes.

Beside the seconds stands the CPU time of the test process and of all it started, as other programs
on the machine do not change that; a Java process that outlives what started it is not in it.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest
    from xdist.workermanage import WorkerController

SHOWN = 40
FEWEST_FILES = 30
"""Runs of fewer files say nothing: whoever runs these knows what takes long."""

TICKS = os.sysconf("SC_CLK_TCK")


class Workloads:
    """A plugin of each test process: the CPU seconds of each of its files."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._file: str | None = None
        self._begin = 0.0

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        file = nodeid.partition("::")[0]
        if file != self._file:
            self._end_file()
            self._file = file

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._end_file()
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["workloads"] = dict(self.seconds)

    def _end_file(self) -> None:
        end = cpu_seconds_of_tree(os.getpid())
        if self._file is not None:
            self.seconds[self._file] += end - self._begin  # type: ignore[assignment]
        self._begin = end


class Summary:
    """A plugin of the process that shows results: the files of all test processes."""

    def __init__(self, workloads: Workloads) -> None:
        self._workloads = workloads
        self._durations: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._durations[report.nodeid.partition("::")[0]] += report.duration  # type: ignore[assignment]

    def pytest_testnodedown(self, node: WorkerController) -> None:
        self._workloads.seconds.update(getattr(node, "workeroutput", {}).get("workloads", {}))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if len(self._durations) < FEWEST_FILES:
            return
        terminalreporter.section("slowest files: seconds, of these CPU")
        for line in self._lines():
            terminalreporter.write_line(line)

    def _lines(self) -> Iterable[str]:
        durations, work = self._durations, self._workloads.seconds
        for file, seconds in durations.most_common(SHOWN):
            yield f"{seconds:8.1f} {work[file]:8.1f}  {file}"
        yield f"{sum(durations.values()):8.1f} {sum(work.values()):8.1f}  in {len(durations)} files"


def register(config: pytest.Config) -> None:
    """Register in a test process, or in the one that hands tests out, what it needs."""
    own = Workloads()
    config.pluginmanager.register(own)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Summary(own))


def cpu_seconds_of_tree(root: int) -> float:
    """The CPU time of a process, of those below it, and of those below that have ended."""
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name of a program, in parentheses, may have blanks and parentheses in it.
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        process = int(stat.parent.name)
        children.setdefault(int(fields[1]), []).append(process)
        ticks[process] = sum(map(int, fields[11:15]))
    total, waiting = 0, [root]
    while waiting:
        process = waiting.pop()
        total += ticks.get(process, 0)
        waiting += children.get(process, ())
    return total / TICKS
