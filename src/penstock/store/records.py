"""Commit records: the chain of facts that says what a pipeline has done, and what is valid.

A record is published once and never changed. What no record names does not count, whatever lies
in the folder.
"""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from penstock.algebra.time import BEGINNING
from penstock.errors import DataError
from penstock.store.whole_files import publish

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORMAT = 10
"""Of records and of the files they name."""

Kind = Literal["start", "change", "batch", "flush"]
"""The subject of a record: a new home, another plan, a micro-batch, the end of the input."""


@dataclass(frozen=True)
class StreamProgress:
    """The progress of a stream: its watermark, its latest row, and how many rows it brought.

    Of these, `late` ones and others were set `aside`, and some were `shed`; of what was set aside,
    also of those shed, `forgotten` ones are kept no more. `late_by` is by how much a row was late,
    at the most.
    """

    watermark: int = BEGINNING
    latest: int = BEGINNING
    rows: int = 0
    late: int = 0
    aside: int = 0
    forgotten: int = 0
    late_by: int = 0
    shed: int = 0


@dataclass(frozen=True)
class RelationProgress:
    """A relation: the files with its changes, and the latest instant that undated ones were given.

    `groups` has how far each group of queries has looked at it: a change that is dated earlier
    takes effect then. What it held is known from the instant `since` on.
    """

    changes: tuple[str, ...] = ()
    clock: int = BEGINNING
    groups: dict[str, int] = field(default_factory=dict)
    since: int = BEGINNING

    def clock_of(self, group: int) -> int:
        """The instant before which no change takes effect for the queries of a group."""
        foremost = max([self.clock, *self.groups.values()])
        return self.groups.get(str(group), foremost)


@dataclass(frozen=True)
class FoldedContent:
    """The rest of the results of all queries up to a record, when they were folded."""

    file: str
    record: int
    bytes: int


@dataclass(frozen=True)
class RejectedFile:
    """A segment with rows that were not taken in, tables by stream."""

    file: str
    bytes: int


@dataclass(frozen=True)
class LaneState:
    """The recipe of a lane's state: an image, and the logs since then to be fed, in order."""

    image: str | None = None
    image_bytes: int = 0
    logs: tuple[str, ...] = ()
    log_bytes: int = 0

    @property
    def version(self) -> str | None:
        """The name of the last file; it stands for the state that all of them make."""
        return self.logs[-1] if self.logs else self.image


@dataclass(frozen=True)
class FilesRead:
    """The files of a folder that have been read, by their names within it.

    `listed` are segments with names, `recent` are names that are in none of them yet. `count` has
    all that were read, also those whose names are forgotten, as they are removed. `begun` is one of
    which only so many rows have been read.
    """

    listed: tuple[str, ...] = ()
    recent: tuple[str, ...] = ()
    count: int = 0
    begun: tuple[str, int] | None = None


@dataclass(frozen=True)
class UnsealedLog:
    """A log with rows that are retained, and not in sub-windows yet.

    `last` has the latest row of each stream in it.
    """

    file: str
    bytes: int
    last: dict[str, int]


@dataclass(frozen=True)
class RetainedProgress:
    """The retained rows of a stream: a list of the pieces of its sub-windows, and what is missing.

    All rows from `since` on are there, in pieces and unsealed logs.
    """

    pieces: str | None = None
    since: int = BEGINNING

    @property
    def is_incomplete(self) -> bool:
        """Rows have been dropped, or were not kept."""
        return self.since > BEGINNING


@dataclass(frozen=True)
class Record:
    """The facts that hold after a commit.

    `lanes` are by group and lane, `g.l`. `pending` has for each group the changes of relations
    that the next batch brings. `results` are the files that this commit added; those up to the
    record that `content` names are folded there. `aside` has all rows that were not taken in and
    are still kept. `files` has what was read of each stream whose
    files are not read by Spark. `batch` names Spark's query and its last micro-batch that was
    committed, `offsets` has up to where that one read each stream, as far as it could be told.
    `frames` has query and micro-batch for each stream that is a DataFrame, and has its own.
    `behind` has the lanes that could go on without further rows, and the bytes that wait in each.
    `retained` has the streams that keep rows, `unsealed` the logs whose rows are not in their
    sub-windows yet.
    `resumed` has the clocks before the end of the input, with
    which a later batch goes on. `result_rows` counts the elements of queries, all records
    together. `shed` has for each query the rows of streams that it would have read and that were
    shed.
    """

    number: int
    kind: Kind
    plan: str
    streams: dict[str, StreamProgress] = field(default_factory=dict)
    files: dict[str, FilesRead] = field(default_factory=dict)
    lanes: dict[str, LaneState] = field(default_factory=dict)
    relations: dict[str, RelationProgress] = field(default_factory=dict)
    pending: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    results: tuple[str, ...] = ()
    content: FoldedContent | None = None
    aside: tuple[RejectedFile, ...] = ()
    clocks: dict[str, int] = field(default_factory=dict)
    resumed: dict[str, int] = field(default_factory=dict)
    failures: dict[str, dict[str, int]] = field(default_factory=dict)
    result_rows: dict[str, int] = field(default_factory=dict)
    batch: tuple[str, int] | None = None
    offsets: dict[str, Any] = field(default_factory=dict)
    written_at: float = 0.0
    behind: dict[str, int] = field(default_factory=dict)
    retained: dict[str, RetainedProgress] = field(default_factory=dict)
    unsealed: tuple[UnsealedLog, ...] = ()
    shed: dict[str, dict[str, int]] = field(default_factory=dict)
    frames: dict[str, tuple[str, int]] = field(default_factory=dict)

    @property
    def open_clocks(self) -> dict[str, int]:
        """The clocks that a next record goes on with."""
        return self.resumed if self.kind == "flush" else self.clocks

    @property
    def folded_up_to(self) -> int:
        """The record up to which results have been folded; -1 if none have."""
        return self.content.record if self.content else -1

    def next(self, kind: Kind, **changes: Any) -> Record:
        """The record after this one, with what changes."""
        fixed: dict[str, Any] = {"results": (), "clocks": self.open_clocks, "resumed": {}}
        return replace(self, number=self.number + 1, kind=kind, **{**fixed, **changes})


def encoded(record: Record) -> bytes:
    """A record as it is written down."""
    text = _text(vars(record))
    return f'{{"format": {FORMAT}, "check": {zlib.crc32(text)}, "record": '.encode() + text + b"}"


def _text(values: dict[str, Any]) -> bytes:
    """Values as one line: without a copy of what all lanes have, record by record."""
    return json.dumps(values, default=vars).encode()


def decoded(content: bytes) -> Record:
    """The record that was written down.

    Raises:
        DataError: Another version of Penstock wrote it.
    """
    whole: dict[str, Any] = json.loads(content)
    version = whole["format"]
    if version != FORMAT:
        msg = f"the home has format {version}, this version of Penstock reads format {FORMAT}"
        hint = (
            "Go on with the version of Penstock that wrote it, or register the queries in a new "
            "home: their windows begin empty there, and streams are read from their beginning."
        )
        raise DataError(msg, hint=hint)
    values: dict[str, Any] = whole["record"]
    if zlib.crc32(_text(values)) != whole["check"]:
        msg = "it is not what was written"
        raise ValueError(msg)
    values["streams"] = {name: StreamProgress(**one) for name, one in values["streams"].items()}
    values["files"] = {
        name: FilesRead(
            tuple(one["listed"]),
            tuple(one["recent"]),
            one["count"],
            tuple(one["begun"]) if one.get("begun") else None,
        )
        for name, one in values["files"].items()
    }
    values["lanes"] = {
        name: LaneState(**{**one, "logs": tuple(one["logs"])})
        for name, one in values["lanes"].items()
    }
    values["relations"] = {
        name: RelationProgress(**{**one, "changes": tuple(one["changes"])})
        for name, one in values["relations"].items()
    }
    retained = values.get("retained", {})
    values["retained"] = {name: RetainedProgress(**one) for name, one in retained.items()}
    values["unsealed"] = tuple(UnsealedLog(**one) for one in values.get("unsealed", ()))
    values["content"] = FoldedContent(**values["content"]) if values["content"] else None
    values["results"] = tuple(values["results"])
    values["aside"] = tuple(RejectedFile(**one) for one in values["aside"])
    values["batch"] = tuple(values["batch"]) if values["batch"] else None
    values["frames"] = {name: tuple(one) for name, one in values.get("frames", {}).items()}
    return Record(**values)


class RecordChain:
    """The records of a home, numbered from 0."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def publish(self, record: Record) -> None:
        """Add a record behind the last.

        Raises:
            DataError: Somebody else has added one: two pipelines work on one home.
        """
        try:
            publish(self._path(record.number), encoded(record))
        except FileExistsError:
            msg = f"record {record.number} is there already: another pipeline uses this home"
            raise DataError(msg, hint="Stop the other one, or use another home.") from None

    def read(self, number: int) -> Record:
        """A record by number.

        Raises:
            DataError: It is missing or damaged, or another version of Penstock wrote it.
        """
        path = self._path(number)
        try:
            return decoded(path.read_bytes())
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
            msg = f"the commit record {path} cannot be read: {fault}"
            raise DataError(msg, hint="Restore the home from a backup.") from fault

    def numbers(self) -> list[int]:
        """The numbers of all records that are kept, ascending."""
        names = os.listdir(self._folder) if self._folder.is_dir() else []
        return sorted(int(one[:-5]) for one in names if one.endswith(".json") and one[0] != ".")

    def last(self) -> Record | None:
        """The newest record; None if there is none."""
        numbers = self.numbers()
        return self.read(numbers[-1]) if numbers else None

    def since(self, number: int) -> Iterator[Record]:
        """The records from a number on, oldest first."""
        for one in self.numbers():
            if one >= number:
                yield self.read(one)

    def mark_damaged(self, number: int) -> None:
        """Let the newest record be none; its file stays for those who want to know."""
        self._path(number).rename(self._folder / f"{number:012d}.damaged")

    def remove(self, number: int) -> None:
        """Forget an old record."""
        self._path(number).unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:012d}.json"
