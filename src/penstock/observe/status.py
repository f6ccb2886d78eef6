"""The status of a pipeline: facts for people and monitors, written now and then, never relied on.

What counts is in the records; the status says besides how the last batch went.
"""

from __future__ import annotations

import json
import time
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.store.layout import Home

FILE = "status.json"
BOUNDS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Seconds by which micro-batches are counted."""
MOST_ERRORS = 20
"""So many errors are remembered."""


@dataclass
class Durations:
    """The durations of micro-batches since the process was started.

    Attributes:
        counts: How many took at most as long as each of `BOUNDS`, and longer than the one before;
            the last ones took longer than all.
        seconds: All of them together.
    """

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one more."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds


@dataclass
class Status:
    """The state of health of a pipeline.

    Attributes:
        process: The number of the process that runs it.
        is_running: Whether it takes in rows, as far as it could say.
        written_at: When this was written, in seconds since 1970.
        started_at: When the pipeline was started.
        record: The number of the last commit record that this includes.
        operators: Of each lane what its operators have done, and remember.
        seconds: How long the parts of the last batch took.
        batches: How long all batches took.
        batch_rows: Rows of streams in the last batch.
        reading: The way in which the last batch that read files did so, and why.
        found: How many files of each stream have been found that are not read by Spark; those that
            are not read yet wait.
        held_back: How many batches without rows were run before one with rows, as too much waited
            in lanes.
        work: Of each lane that has a budget, what waits in its queues, for how long, and the charts
            by which its operators run.
        intake: How many rows are taken in at once; None: as many as there are.
        one_in: One row in so many stays of those that come.
        sinks: Of each sink that a statement declares, how far it has come, and who writes it.
        paused: The streams of which no rows are taken in, as so many of them wait in lanes for
            another stream to come as far in event time.
        waiting_for: The sinks that are so far behind that no rows are taken in,
        sink_seconds: and for how long it has been waited for sinks so far.
        errors: The last errors, newest last, each with its time.
    """

    process: int
    is_running: bool
    written_at: float
    started_at: float
    record: int
    operators: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    batch_rows: int = 0
    found: dict[str, int] = field(default_factory=dict)
    errors: list[tuple[float, str]] = field(default_factory=list)
    batches: Durations = field(default_factory=Durations)
    work: dict[str, dict[str, Any]] = field(default_factory=dict)
    held_back: int = 0
    reading: str = ""
    intake: int | None = None
    one_in: int = 1
    sinks: dict[str, dict[str, Any]] = field(default_factory=dict)
    paused: dict[str, tuple[int, str]] = field(default_factory=dict)
    waiting_for: list[str] = field(default_factory=list)
    sink_seconds: float = 0.0

    def note_error(self, text: str) -> None:
        """Add a sentence to the last errors."""
        self.errors = [*self.errors, (time.time(), text)][-MOST_ERRORS:]


def write_status(home: Home, status: Status) -> None:
    """Put the status in place of the last one."""
    status.written_at = time.time()
    draft = home.path / f".{FILE}"
    draft.write_text(json.dumps(vars(status), default=vars), "utf-8")
    draft.replace(home.path / FILE)


def read_status(home: Home) -> Status | None:
    """The last status that was written; None if there is none."""
    path = home.path / FILE
    if not path.is_file():
        return None
    values = json.loads(path.read_text("utf-8"))
    values["errors"] = [(at, text) for at, text in values["errors"]]
    values["batches"] = Durations(**values["batches"])
    return Status(**values)
