"""The progress of a sink, written down behind each write."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

from penstock.errors import DataError
from penstock.spark.sources import source_name
from penstock.store.whole_files import replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from penstock.catalog.definitions import SinkDefinition
    from penstock.connectors.folder_sink import FolderSink
    from penstock.store.layout import Home


@dataclass
class Progress:
    """A sink and what it has written.

    Attributes:
        sink: Its name.
        query: Whose results it takes.
        format: How it writes.
        options: As declared.
        place: The folder of its files.
        record: All results up to this record have been written.
        end: The record of an end of input that has been written besides.
        key: Stands for this sink of this home, and for no other.
        publishing: The drafts of commits that are being published, by record,
        publishing_to: up to this record,
        publishing_end: which is an end of the input. They count, whatever happens.
    """

    sink: str
    query: str
    format: str
    options: dict[str, str]
    place: str = ""
    record: int = -1
    end: int | None = None
    key: str = field(default_factory=lambda: uuid4().hex)
    publishing: dict[str, list[str]] = field(default_factory=dict)
    publishing_to: int | None = None
    publishing_end: bool = False

    def is_of(self, sink: SinkDefinition) -> bool:
        """The progress of a sink, rather than of another that had its name."""
        return (self.query, self.format, self.options) == (sink.query, sink.format, sink.options)

    def statement(self) -> str:
        """The statement that declares the sink.

        >>> print(Progress("out", "q", "csv", {"path": "it's"}).statement())
        CREATE OR REPLACE SINK `out` FROM `q` USING csv OPTIONS ('path' 'it''s')
        """
        start = f"CREATE OR REPLACE SINK {quoted(self.sink)} FROM {quoted(self.query)}"
        options = ", ".join(f"{_text(key)} {_text(value)}" for key, value in self.options.items())
        return f"{start} USING {self.format}{f' OPTIONS ({options})' if options else ''}"


def quoted(name: str) -> str:
    """A name as it stands in a statement, whatever is in it."""
    return f"`{name.replace('`', '``')}`"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


class ProgressFiles:
    """The files in a home that say how far its sinks have come."""

    def __init__(self, home: Home) -> None:
        self._folder = home.path / "sinks"

    def read(self, sink: str) -> Progress | None:
        """The progress of a sink; None if it is new.

        Raises:
            DataError: The file cannot be read.
        """
        path = self._path(sink)
        return _read(path) if path.exists() else None

    def write(self, progress: Progress) -> None:
        """Write down how far a sink has come."""
        self._folder.mkdir(exist_ok=True)
        replace_file(self._path(progress.sink), json.dumps(asdict(progress)).encode())

    def remove(self, sink: str) -> None:
        """Forget a sink."""
        self._path(sink).unlink(missing_ok=True)

    def all(self) -> list[Progress]:
        """Those of all sinks.

        Raises:
            DataError: A file cannot be read.
        """
        return [_read(path) for path in self._folder.glob("[!.]*")]

    def _path(self, sink: str) -> Path:
        return self._folder / f"{source_name(sink.lower())}.json"


class Written:
    """All that a sink has written, and the notes about it.

    Attributes:
        progress: What is noted.
        results: How many results of the query have been written, of all that it ever had.
    """

    def __init__(self, files: ProgressFiles, progress: Progress, results: int) -> None:
        self._files = files
        self.progress = progress
        self.results = results

    @property
    def record(self) -> int:
        """All up to this record has been written."""
        return self.progress.record

    def has(self, number: int) -> bool:
        """The results of a record have been written."""
        return number <= self.progress.record or number == self.progress.end

    def done(self, number: int, end: int | None, results: int | None = None) -> None:
        """Note that all up to a record is written.

        Args:
            number: The record.
            end: The last record, if that is an end of the input.
            results: How many results there were up to it.
        """
        before = (self.progress.record, self.progress.end)
        if number == end:
            self.progress.end = end
            number -= 1
        self.progress.record = max(number, self.progress.record)
        if (self.progress.record, self.progress.end) != before:
            self._files.write(self.progress)
        if results is not None:
            self.results = results

    def publish(
        self, drafts: Mapping[int, Sequence[str]], target: FolderSink, last: int, end: int | None
    ) -> None:
        """Let others see drafts of all commits up to a record.

        From the note on they count: who is stopped in the middle of it goes on from there.
        """
        if drafts:
            self.progress.publishing = {str(at): list(names) for at, names in drafts.items()}
            self.progress.publishing_to, self.progress.publishing_end = last, end is not None
            self._files.write(self.progress)
            self.finish_publishing(target)
        else:
            self.done(last, end)

    def finish_publishing(self, target: FolderSink) -> None:
        """Go on with what was being published, if anything was."""
        last = self.progress.publishing_to
        if last is None:
            return
        end = last if self.progress.publishing_end else None
        drafts = {int(at): names for at, names in self.progress.publishing.items()}
        target.publish(drafts)
        self.progress.publishing, self.progress.publishing_to = {}, None
        self.done(last, end)

    def end_was_none(self) -> None:
        """Note that more came after an end of the input."""
        self.progress.end = None
        self._files.write(self.progress)


def _read(path: Path) -> Progress:
    try:
        return Progress(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as fault:
        msg = f"how far a sink has come cannot be read from {path}: {fault}"
        hint = "If you remove the file, the sink writes all again that is kept."
        raise DataError(msg, hint=hint) from None
