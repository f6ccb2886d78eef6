"""Streams that are folders of files which tasks read themselves, without Spark.

Spark reads rows in Java, divides them among tasks, and turns them into Arrow for Python: most of
the time of a micro-batch. Parquet is columns already, and Arrow makes columns of CSV and JSON at
once. Tasks that read the files as they are, and divide the rows among lanes, are several times
faster.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from penstock.connectors.connector_list import source_format
from penstock.connectors.generate import is_generated
from penstock.connectors.memory import is_inserted
from penstock.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from penstock.catalog.definitions import RelationDefinition, StreamDefinition
    from penstock.store.layout import Home

UNDERSTOOD = {
    *("path", "maxfilespertrigger", "maxbytespertrigger"),
    *("idle_timeout", "time_unit", "reload", "utility", "weight"),
}
"""Options that mean here what they mean to Spark; with any other one, Spark reads the files."""
READER = "reader"
"""The option by which Spark is asked to read the files."""
MOST_FILES, MOST_BYTES = 1000, 64 << 20
"""So much of a stream is read in a micro-batch, unless its options say otherwise."""
MOST_INSERTS, MOST_INSERTED_BYTES = 32, 1 << 20
"""So many calls of `insert` are taken in together, if they bring little. They are half of the files
that a record names itself, so that those of the batch before can be found and removed."""
_PATTERN = set("*?[]{}")
_HADOOPS = set("{}^\\")
"""Signs in patterns that Hadoop's file systems understand, and we do not."""
_HIDDEN = ("_", ".")
_UNITS = {"k": 10, "m": 20, "g": 30, "t": 40}


class FolderFile(NamedTuple):
    """A file: when it was last changed in milliseconds, its name within the folder, its bytes."""

    age: int
    name: str
    size: int


@dataclass(frozen=True)
class Folder:
    """The folder in which the files of a stream appear.

    Args:
        stream: The stream.
        path: The folder, or its only file.
        pattern: The names of its files; those in folders within it are left out. None: all.
        most_files: So many files are read in a micro-batch,
        most_bytes: and more than one only if they have no more bytes than this.
        is_inserted: Whether the files were brought from Python, and are removed when they are read.
    """

    stream: str
    path: Path
    most_files: int = MOST_FILES
    most_bytes: int = MOST_BYTES
    is_inserted: bool = False
    pattern: str | None = None

    def new_files(self, known: Container[str]) -> list[FolderFile]:
        """The files that are not known yet, the oldest first, those of one age by name.

        Raises:
            DataError: The folder is not there, or cannot be looked at.
        """
        try:
            if self.path.is_file() and self.pattern is None:
                stat = self.path.stat()
                found = [FolderFile(stat.st_mtime_ns // 1_000_000, self.path.name, stat.st_size)]
                return [one for one in found if one.name not in known]
            found = sorted(_files(str(self.path), "", known))
        except OSError as fault:
            msg = f'stream "{self.stream}": {self.path} cannot be read: {fault.strerror}'
            raise DataError(msg, hint="See its path, and who may read it.") from fault
        if self.pattern is None:
            return found
        return [one for one in found if fnmatchcase(one.name, self.pattern) and "/" not in one.name]

    def share(self, waiting: Sequence[FolderFile]) -> int:
        """The number of waiting files, in order, that the next micro-batch reads."""
        size = 0
        for number, one in enumerate(waiting[: self.most_files]):
            size += one.size
            if size > self.most_bytes and number:
                return number
        return min(len(waiting), self.most_files)

    def __str__(self) -> str:
        """The path, with the pattern of its files."""
        return str(self.path if self.pattern is None else self.path / self.pattern)

    def path_of(self, name: str) -> Path:
        """The path of a file."""
        return self.path if self.path.is_file() else self.path / name


def _files(folder: str, within: str, known: Container[str]) -> Iterator[FolderFile]:
    """Files, also those of folders that are called `column=value`, which are part of the rows."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = within + entry.name
            if entry.name.startswith(_HIDDEN) or name in known:
                continue
            if not entry.is_dir():
                try:
                    stat = entry.stat()
                except FileNotFoundError:
                    continue  # It was there a moment ago.
                yield FolderFile(stat.st_mtime_ns // 1_000_000, name, stat.st_size)
            elif "=" in entry.name:
                yield from _files(entry.path, f"{name}/", known)


def is_folder(definition: StreamDefinition | RelationDefinition) -> bool:
    """A source whose files are read without Spark; by its declaration alone.

    What it is must not change while a home lives: only one of two readers knows what was read.
    """
    options = {name.lower(): value for name, value in definition.options.items()}
    if READER in options:
        return False
    if is_inserted(definition.format):
        return True
    known = source_format(definition.format)
    return (
        known.read is not None
        and not options.keys() - UNDERSTOOD - known.understood
        and local_files(options.get("path", "{}")) is not None
    )


def is_read_by_tasks(definition: StreamDefinition | RelationDefinition) -> bool:
    """A source whose rows tasks read from files, or make up, without Spark."""
    return is_generated(definition) or is_folder(definition)


def folder_of(home: Home, definition: StreamDefinition) -> Folder:
    """The folder in which the files of a stream appear that tasks read themselves.

    Raises:
        DataError: An option is no number, or the path does not exist.
    """
    name = definition.name
    if is_inserted(definition.format):
        path = home.incoming(name)
        path.mkdir(parents=True, exist_ok=True)
        return Folder(name, path, MOST_INSERTS, MOST_INSERTED_BYTES, is_inserted=True)
    return declared_folder(definition)


def declared_folder(definition: StreamDefinition | RelationDefinition) -> Folder:
    """The folder of a source whose files are read without Spark.

    Raises:
        DataError: It says no path, or one that is not there, or an option is no number.
    """
    source = f'{definition.kind} "{definition.name}"'
    options = {key.lower(): value for key, value in definition.options.items()}
    if "path" not in options:
        msg = f"{source} does not say where its rows are"
        raise DataError(msg, hint=f"Add OPTIONS (path 'rows.{definition.format}').")
    found = local_files(options["path"])
    assert found is not None
    local, pattern = found
    if not local.exists():
        raise missing_path(source, local)
    return Folder(
        definition.name,
        local.absolute(),
        _number(source, "maxFilesPerTrigger", options, MOST_FILES),
        _number(source, "maxBytesPerTrigger", options, MOST_BYTES),
        pattern=pattern,
    )


def missing_path(source: str, path: Path) -> DataError:
    """The error about a path that is declared and is not there; what is there is proposed."""
    names: list[str] = []
    with suppress(OSError):
        names = [one.name for one in path.parent.iterdir() if not one.name.startswith(_HIDDEN)]
    otherwise = "Make the folder, or see the path that is declared."
    msg = f"{source}: the path {path.absolute()} does not exist"
    return DataError(msg, hint=did_you_mean(path.name, names, otherwise=otherwise))


def local_files(text: str) -> tuple[Path, str | None] | None:
    """A path on this machine, and the pattern behind it that names of files have to fit.

    None if it is none, or there is a pattern that only Spark understands.

    >>> local_files("trips/2024-*.csv")
    (PosixPath('trips'), '2024-*.csv')
    >>> local_files("trips"), local_files("s3://trips"), local_files("2024/*/trips.csv")
    ((PosixPath('trips'), None), None, None)
    """
    folder, _, name = text.rpartition("/")
    if not _PATTERN & set(name) or _HADOOPS & set(name):
        path = local_path(text)
        return None if path is None else (path, None)
    path = local_path(f"{folder}/" if text.startswith(("/", "file:")) else folder or ".")
    return None if path is None else (path, name)


def local_path(text: str) -> Path | None:
    """A path on this machine, or on a folder that all machines share; None if it is another."""
    parts = urlsplit(text)
    if _PATTERN & set(text) or parts.scheme not in ("", "file"):
        return None
    return Path(unquote(parts.path) if parts.scheme else text)


def _number(source: str, name: str, options: dict[str, str], otherwise: int) -> int:
    text = options.get(name.lower(), str(otherwise)).strip().lower().removesuffix("b")
    shift = _UNITS.get(text[-1:], 0)
    digits = text[:-1] if shift else text
    if not (digits.isascii() and digits.isdigit() and int(digits)):
        msg = f'{source}: {name} is "{options[name.lower()]}", not a number above 0'
        raise DataError(msg)
    return int(digits) << shift
