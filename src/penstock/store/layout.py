"""The layout of a home: the places of things, and who may write there."""

from __future__ import annotations

import fcntl
import json
import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO
from uuid import uuid4

from penstock.errors import DataError
from penstock.store.records import RecordChain

if TYPE_CHECKING:
    from pathlib import Path


_PATIENCE = 0.5
"""Seconds to wait for the lock: whoever looks at a home holds it for a moment."""


def _taken(lock: TextIO) -> bool:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        else:
            return True


class Home:
    """The folder of a pipeline.

    `records` has the commit records, `plans` what ran, `segments` state and results, `incoming`
    the rows that were brought from Python; `checkpoint` and `frames` belong to Spark.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.chain = RecordChain(self.path / "records")
        self._lock: TextIO | None = None

    @property
    def plans(self) -> Path:
        """Plans, one file for each that ran."""
        return self.path / "plans"

    @property
    def segments(self) -> Path:
        """State and results."""
        return self.path / "segments"

    @property
    def checkpoint(self) -> Path:
        """The folder of what Spark remembers of its sources."""
        return self.path / "checkpoint"

    def frame_checkpoint(self, stream: str) -> Path:
        """The folder of what Spark remembers of a stream that is a DataFrame."""
        return self.path / "frames" / stream

    @property
    def sinks(self) -> Path:
        """The progress of each sink: `NAME.json`, with the number of a record."""
        return self.path / "sinks"

    def incoming(self, stream: str) -> Path:
        """The rows of a stream that were brought from Python."""
        return self.path / "incoming" / stream

    def open(self) -> None:
        """Take the home for this process alone, and make its folders.

        Raises:
            DataError: Another process has it, or it cannot be written.
        """
        try:
            for folder in (self.path / "records", self.plans, self.segments):
                folder.mkdir(parents=True, exist_ok=True)
            self._lock = (self.path / "lock").open("a")
        except OSError as fault:
            msg = f"the home {self.path} cannot be used: {fault.strerror}"
            raise DataError(msg, hint="Choose a folder that can be written.") from fault
        if not _taken(self._lock):
            self._lock.close()
            self._lock = None
            msg = f"another pipeline uses the home {self.path}{self._holder()}"
            raise DataError(msg, hint="Stop it first, or use another home.")
        self._lock.truncate(0)
        self._lock.write(json.dumps({"process": os.getpid(), "since": time.time()}))
        self._lock.flush()

    def _holder(self) -> str:
        """The process that has taken the home, as far as the lock says."""
        try:
            found = json.loads((self.path / "lock").read_text("utf-8"))
            since = datetime.fromtimestamp(found["since"], UTC)
            return f": process {found['process']}, since {since:%Y-%m-%d %H:%M:%S} UTC"
        except (OSError, ValueError, KeyError):
            return ""

    def close(self) -> None:
        """Let others take the home."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def new_segment(self, record: int, task: int, kind: str) -> str:
        """A name for a file that is to become part of a record."""
        return f"{record:012d}.{task}.{uuid4().hex[:12]}.{kind}"


def number_of(name: str) -> int | None:
    """The number of the record that a segment or a plan came by, from its name; None if it is none.

    >>> number_of("000000000012.0.3f2a.log"), number_of(".draft"), number_of("notes.txt")
    (12, None, None)
    """
    first = name[:12]
    return int(first) if name[12:13] == "." and first.isascii() and first.isdigit() else None
