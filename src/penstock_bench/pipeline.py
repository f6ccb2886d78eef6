"""`./penstock bench pipeline`: Penstock on Spark, against Spark's own operators and its ceiling."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock_bench import pipeline_report as report
from penstock_bench.choosing import chosen
from penstock_bench.kernels import SectionOutcome
from penstock_bench.pipeline_data import KEYS, RATE, SECOND, WINDOW, Input, written
from penstock_bench.pipeline_latency import Load, latencies
from penstock_bench.pipeline_native import STATE_STORES
from penstock_bench.pipeline_penstock import streams_of
from penstock_bench.pipeline_registering import registering
from penstock_bench.pipeline_run import PipelineSetting, in_own_process
from penstock_bench.pipeline_steady import Steady, steady

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from rich.table import Table

    from penstock_bench.report import Figures

BATCHES = {20_000: 200, 200_000: 100, 1_000_000: 30}
"""How many micro-batches are laid ready for each size."""
MIDDLE = 200_000
"""Rows of a micro-batch where the size is not what is varied."""
WARM = Input(2000, 100)
STRETCHES = (1, 10, 100)
"""By how much windows are longer than ten seconds."""
FILLING = 1_000_000
"""Rows of the micro-batches that make long windows full, which do not count."""
BY_HAND_AT_MOST = 200_000
"""Rows of a micro-batch for the aggregate written by hand, which calls Python for each key."""


@dataclass(frozen=True)
class Way:
    """A way to compute.

    Args:
        label: What it is called.
        runs: What runs.
        settings: Of Spark.
        options: Of our streams.
        one_by_one: Whether each of our queries is registered on its own.
    """

    label: str
    runs: str
    settings: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    one_by_one: bool = False


def _stored(name: str) -> dict[str, str]:
    return {"spark.sql.streaming.stateStore.providerClass": STATE_STORES[name]}


def _native(runs: str, label: str = "Spark") -> dict[str, Way]:
    """The queries that Spark runs by itself, with each of its state stores."""
    return {store: Way(f"{label}, {store}", runs, _stored(store)) for store in STATE_STORES}


CEILING = Way(report.CEILING, "ceiling")
NATIVE = _native("native join")
READ_BY_SPARK = Way("Penstock, read by Spark", "join", options={"reader": "spark"})
WAYS: dict[str, tuple[Way, ...]] = {
    "join": (CEILING, Way("Penstock", "join"), READ_BY_SPARK, *NATIVE.values()),
    "aggregate": (
        CEILING,
        Way("Penstock", "aggregate"),
        *_native("hopping", "Spark, hopping by a second").values(),
        Way("Spark, by hand in pandas", "by hand"),
    ),
    "distinct": (
        CEILING,
        Way("Penstock", "distinct"),
        *_native("native distinct", "Spark, appearance only").values(),
    ),
    "global": (CEILING, Way("Penstock", "global")),
    "regrouped": (CEILING, Way("Penstock", "regrouped")),
    "ten": (CEILING, Way("Penstock", "ten")),
}
"""The ways to compute each workload."""
MANY = {
    "1 query": Way("Penstock, one", "one"),
    "100 queries, together": Way("Penstock, 100", "hundred"),
    "100 queries, one by one": Way("Penstock, 100 one by one", "hundred", one_by_one=True),
}


@dataclass(frozen=True)
class PipelineEffort:
    """The amount of measuring.

    Args:
        sizes: Rows of all streams in a micro-batch.
        batches: How many micro-batches; as many as fit into the time, if it is 0.
        seconds: No further micro-batch is begun after so many seconds, unless `batches` says.
        warm_seconds: How long each process warms up with small batches.
        stretches: How much longer windows get.
        latency_seconds: How long files are dropped.
        running: Beside how many queries one more is registered.
    """

    sizes: tuple[int, ...] = tuple(BATCHES)
    batches: int = 0
    seconds: float = 25.0
    warm_seconds: float = 15.0
    stretches: tuple[int, ...] = STRETCHES
    latency_seconds: float = 30.0
    running: tuple[int, ...] = (1, 10, 30, 100)

    def batches_of(self, size: int) -> int:
        """The number of micro-batches of a size that are laid ready."""
        return self.batches or BATCHES.get(size) or max(8, min(150, 10_000_000 // size))


QUICK = PipelineEffort((MIDDLE,), 0, 4.0, 2.0, STRETCHES[:1], 8.0, (1, 30))
"""A first look: one size, less warm."""


class Bench:
    """Measures in processes of their own, over inputs that are kept in a folder meanwhile."""

    def __init__(self, folder: Path, effort: PipelineEffort) -> None:
        self.folder = folder
        self.effort = effort
        self._known: dict[tuple[str, Input], Steady] = {}

    def speed(
        self, way: Way, streams: tuple[str, ...], size: int, again: str = "", keys: int = KEYS
    ) -> Steady:
        """The steady state of a way at a size; several sections share a ceiling."""
        wanted = Input(size, self.effort.batches_of(size), streams, keys)
        key = (f"{way.label}{way.runs}{again}", wanted)
        if key not in self._known:
            self._known[key] = self._measured(way, wanted, WINDOW)
        return self._known[key]

    def scaled(self, tasks: int, stretch: int) -> Steady:
        """The join in some tasks, or over longer windows; results per row stay as they are.

        First the windows are made full, by larger micro-batches where they are long.
        """
        needed = WINDOW * stretch * RATE // SECOND
        filling = FILLING if needed >= FILLING else MIDDLE
        wanted = Input(
            MIDDLE,
            self.effort.batches_of(MIDDLE) // 2,
            keys=KEYS * stretch,
            first_rows=filling,
            first_batches=-(-needed // filling),
        )
        found = self._measured(WAYS["join"][1], wanted, WINDOW * stretch, tasks)
        # Nobody else reads it, and it is large.
        shutil.rmtree(self.folder / wanted.name)
        return found

    def latency(self) -> list[float]:
        """Seconds from landing to commit of each file, at half the greatest speed of the join."""
        fastest = self.speed(WAYS["join"][1], ("a", "b"), MIDDLE).rows_per_second
        rows = max(int(fastest / 2 * report.PACE_SECONDS) // 2 * 2, 2)
        files = int(self.effort.latency_seconds / report.PACE_SECONDS)
        staged = written(self.folder, Input(rows, files))
        return latencies(Load(str(staged), rows // 2, files, report.PACE_SECONDS))

    def _measured(self, way: Way, wanted: Input, window: int, tasks: int = 2) -> Steady:
        run = PipelineSetting(
            way.runs,
            str(written(self.folder, wanted)),
            str(written(self.folder, replace(WARM, streams=wanted.streams))),
            0.0 if self.effort.batches else self.effort.seconds,
            self.effort.warm_seconds,
            window,
            tasks,
            wanted.first_batches,
            one_by_one=way.one_by_one,
            settings=dict(way.settings),
            options=dict(way.options),
        )
        return steady(in_own_process(run), wanted.first_batches)


@dataclass(frozen=True)
class Section:
    """A table of the benchmark: things to measure by name, and how to show them."""

    name: str
    items: Mapping[str, Callable[[], Any]]
    shown: Callable[[Mapping[str, Any]], tuple[Table, dict[str, Figures]]]

    def measure(self, done: Callable[[], None]) -> SectionOutcome:
        """Measure one thing after the other; `done` is called after each."""
        found = {}
        for name, measure in self.items.items():
            found[name] = measure()
            done()
            if not sys.stdout.isatty():
                # A run takes minutes, and there is no bar to look at.
                sys.stderr.write(f"{self.name}: {name}\n")
        return SectionOutcome(self.name, *self.shown(found))


def sections(folder: Path, effort: PipelineEffort, names: Sequence[str] = ()) -> list[Section]:
    """The tables that are wanted; all, if no names are given.

    Raises:
        UnknownName: There is no such section.
    """
    return chosen("pipeline", _sections(Bench(folder, effort)), names)


def _sections(bench: Bench) -> list[Section]:
    return [
        *(_contest(bench, workload) for workload in WAYS),
        Section(
            "fixed",
            {
                way.label: partial(bench.speed, way, ("a", "b"), len(("a", "b")))
                for way in WAYS["join"]
            },
            report.fixed,
        ),
        Section(
            "many",
            {
                name: partial(bench.speed, way, streams_of(way.runs), MIDDLE)
                for name, way in MANY.items()
            },
            report.many,
        ),
        Section("latency", {"Penstock": bench.latency}, report.latency),
        Section(
            "registering",
            {str(running): partial(registering, running) for running in bench.effort.running},
            report.registering,
        ),
        Section("scaling", _scaling(bench), report.scaling),
    ]


def _contest(bench: Bench, workload: str) -> Section:
    """All ways to compute a workload, at one size after the other."""
    streams = streams_of(workload)
    items: dict[str, Callable[[], Steady]] = {}
    for size in bench.effort.sizes:
        ways = [one for one in WAYS[workload] if one.runs != "by hand" or size <= BY_HAND_AT_MOST]
        for way in ways:
            items[report.item(size, way.label)] = partial(bench.speed, way, streams, size)
        for way in ways[: 2 if size == MIDDLE else 0]:
            # The machine is shared: what is compared most is measured twice, in turns.
            name = report.item(size, way.label + report.AGAIN)
            items[name] = partial(bench.speed, way, streams, size, report.AGAIN)
    return Section(workload, items, partial(report.contest, workload))


def _scaling(bench: Bench) -> dict[str, Callable[[], Steady]]:
    lanes = {f"{tasks} lane{'s'[: tasks - 1]}": partial(bench.scaled, tasks, 1) for tasks in (1, 2)}
    longer = {
        f"2 lanes, window x{stretch}": partial(bench.scaled, 2, stretch)
        for stretch in bench.effort.stretches
        if stretch > 1
    }
    return {**lanes, **longer}
