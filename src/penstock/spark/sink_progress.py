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
    from pathlib import Path

    from penstock.catalog.definitions import SinkDefinition
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
    """

    sink: str
    query: str
    format: str
    options: dict[str, str]
    place: str = ""
    record: int = -1
    end: int | None = None
    key: str = field(default_factory=lambda: uuid4().hex)

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


def _read(path: Path) -> Progress:
    try:
        return Progress(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as fault:
        msg = f"how far a sink has come cannot be read from {path}: {fault}"
        hint = "If you remove the file, the sink writes all again that is kept."
        raise DataError(msg, hint=hint) from None
