"""Reading: the files of a micro-batch, in pieces, each read once and found by all tasks.

A task that reads a piece divides its rows among all lanes, and publishes them as a file that every
task reads its share of. Nobody is told who reads what: a task takes the pieces that nobody has
taken yet, and waits for those that others have. So no task has to run for another one to go on:
what its reader does not bring, because it died or hangs, another task reads.

Where rows are few, each task reads all files instead, and keeps its share.
"""

from __future__ import annotations

import json
import os
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from uuid import uuid4

import pyarrow as pa

from penstock.algebra.time import BEGINNING
from penstock.files.folders import Folder
from penstock.lane_host.logs import code_of
from penstock.pipeline.pieces import FilePiece, of_one_file
from penstock.store.bundles import Bundle, write_bundle
from penstock.store.processes import is_alive
from penstock.store.whole_files import writing_to

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.pipeline.file_rows import FileRows
    from penstock.store.layout import Home

Way = Literal["whole", "divided", "job"]
"""Each task reads all files; each piece is read by one task; the same, by a job of its own."""

PATIENCE = 10.0
"""A piece that somebody has taken and not brought after so many seconds is read by others, too."""
_SHORTEST, _LONGEST = 0.0002, 0.005
"""Seconds between two looks for a piece."""
_BROKEN, _LATEST = "broken", "latest"


@dataclass(frozen=True)
class FileReading:
    """The files that tasks read in a micro-batch.

    Args:
        record: The number that the commit record of the batch will have.
        key: Tells it from any other attempt at that record.
        way: Who reads what.
        paths: The folder of each stream.
        pieces: What is read, in the order of the rows.
    """

    record: int
    key: str
    way: Way
    paths: dict[str, str]
    pieces: tuple[FilePiece, ...]

    @staticmethod
    def begin(
        record: int, way: Way, paths: dict[str, str], pieces: Sequence[FilePiece]
    ) -> FileReading:
        """The reading of a batch that begins."""
        return FileReading(record, uuid4().hex[:8], way, paths, tuple(pieces))

    def to_json(self) -> str:
        """As it is handed to tasks."""
        pieces = [(one.stream, one.names, one.groups, one.rows, one.cost) for one in self.pieces]
        return json.dumps([self.record, self.key, self.way, self.paths, pieces])

    @staticmethod
    def from_json(text: str) -> FileReading:
        """As it was handed over."""
        record, key, way, paths, pieces = json.loads(text)
        found = tuple(
            FilePiece(stream, tuple(names), groups and tuple(groups), tuple(rows), cost)
            for stream, names, groups, rows, cost in pieces
        )
        return FileReading(record, key, way, paths, found)

    def folder_of(self, piece: FilePiece) -> Folder:
        """The folder with the files of a piece."""
        return Folder(piece.stream, Path(self.paths[piece.stream]))

    def path(self, home: Home, number: int, kind: str) -> Path:
        """The file of a piece: its rows, or who has taken it."""
        return home.segments / f"{self.record:012d}.{number}.{self.key}.{kind}"

    def remove(self, home: Home) -> None:
        """The batch is committed: the rows are in the logs of those who read them."""
        if self.way == "whole":
            return
        for number in range(len(self.pieces)):
            for kind in ("rows", "taken"):
                self.path(home, number, kind).unlink(missing_ok=True)


@dataclass(frozen=True)
class FoundRows:
    """The rows of a batch that a task finds: tables by their names in a log, latest instants."""

    parts: dict[str, pa.Table]
    latest: dict[str, int]


def read_whole(reading: FileReading, files: Mapping[str, FileRows], task: int) -> FoundRows:
    """Read all files, and keep the rows of a task's lanes."""
    parts: dict[str, pa.Table] = {}
    latest: dict[str, int] = {}
    for piece in reading.pieces:
        read = files[piece.stream].read(reading.folder_of(piece), piece)
        latest[piece.stream] = read.latest
        parts |= files[piece.stream].shares(read, task)
    return FoundRows(parts, latest)


class DividedReading:
    """A task's part in a reading whose pieces are read once."""

    def __init__(self, home: Home, reading: FileReading, files: Mapping[str, FileRows]) -> None:
        self._home = home
        self._reading = reading
        self._files = files

    def help(self, task: int, tasks: int) -> None:
        """Read pieces that nobody has taken, the dearest first, until there are none."""
        pieces = self._reading.pieces
        order = sorted(range(len(pieces)), key=lambda number: -pieces[number].cost)
        first = task * len(pieces) // tasks
        # Tasks begin at different places, so that they seldom want the same one.
        for number in order[first:] + order[:first]:
            if not self._path(number, "taken").exists() and self._take(number):
                self._publish(number)

    def found(self, task: int, tasks: int) -> FoundRows:
        """The rows of a task's lanes, in order; waits for those that others read."""
        pieces = self._reading.pieces
        tables: dict[str, list[pa.Table]] = {}
        latest: dict[str, int] = {}
        for together in of_one_file(pieces):
            bundles = [self._published(number) for number in together]
            # Of a file that is broken in one place nothing is taken in but the reason.
            broken = [one for one in bundles if one.about[_BROKEN]]
            for one in broken[:1] or bundles:
                stream = pieces[together[0]].stream
                latest[stream] = max(latest.get(stream, BEGINNING), one.about[_LATEST])
                for name in one.names:
                    if code_of(name) % tasks == task:
                        tables.setdefault(name, []).append(one.table(name))
        parts = {name: _together(several) for name, several in tables.items()}
        return FoundRows(parts, latest)

    def _take(self, number: int) -> bool:
        """Say that this task reads a piece; False if another one does."""
        try:
            path = self._path(number, "taken")
            with writing_to(path.parent), path.open("x") as file:
                json.dump([_place(), os.getpid()], file)
        except FileExistsError:
            return False
        return True

    def _publish(self, number: int) -> None:
        """Read a piece, and let others find its rows."""
        piece, path = self._reading.pieces[number], self._path(number, "rows")
        draft = path.with_suffix(f".{uuid4().hex[:8]}.rows")
        try:
            files = self._files[piece.stream]
            read = files.read(self._reading.folder_of(piece), piece)
            about = {_BROKEN: read.is_broken, _LATEST: read.latest}
            write_bundle(draft, dict(files.shares(read)), about)
            # If somebody else has brought it meanwhile, all tasks have to read the same.
            with suppress(FileExistsError):
                os.link(draft, path)
        except BaseException:
            self._path(number, "taken").unlink(missing_ok=True)
            raise
        finally:
            draft.unlink(missing_ok=True)

    def _published(self, number: int) -> Bundle:
        """The rows of a piece, as soon as they are there."""
        path, began, rest = self._path(number, "rows"), time.monotonic(), _SHORTEST
        while not path.exists():
            is_hung = time.monotonic() - began > PATIENCE
            if is_hung or (self._is_abandoned(number) and self._take(number)):
                self._publish(number)
            else:
                time.sleep(rest)
                rest = min(2 * rest, _LONGEST)
        return Bundle(path)

    def _is_abandoned(self, number: int) -> bool:
        """Whoever had taken a piece will not bring it."""
        path = self._path(number, "taken")
        try:
            place, process = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            return True
        except ValueError:
            return False  # It is being written.
        if place != _place() or is_alive(process):
            return False
        path.unlink(missing_ok=True)
        return True

    def _path(self, number: int, kind: str) -> Path:
        return self._reading.path(self._home, number, kind)


def _together(tables: Sequence[pa.Table]) -> pa.Table:
    """The rows of several pieces; some have a column with the places of rows."""
    return pa.concat_tables(tables, promote_options="default")


def _place() -> str:
    """The machine, or the container, in which the numbers of processes mean something."""
    with suppress(OSError):
        return f"{socket.gethostname()} {os.readlink('/proc/self/ns/pid')}"
    return socket.gethostname()
