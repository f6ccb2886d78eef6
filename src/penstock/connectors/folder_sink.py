"""Results as files for others to read: one for each commit, in a folder."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import uuid4

from penstock.errors import DataError
from penstock.store.whole_files import sync_folder, writing_to

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from penstock.connectors.connector import WriteTable


def require_writable(folder: Path) -> None:
    """See that a folder can become that of a new sink, or of a home: empty, or not there yet.

    Raises:
        DataError: There are files in it, or it cannot be written.
    """
    there = next(one for one in (folder.absolute(), *folder.absolute().parents) if one.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        what = "Permission denied" if there.is_dir() else f"{there} is a file"
        raise _not_writable(folder, what)
    if there == folder.absolute() and any(folder.iterdir()):
        raise _taken(folder)


def _not_writable(folder: Path, why: str | None) -> DataError:
    msg = f"the folder {folder} cannot be written: {why}"
    return DataError(msg, hint="Choose another path.")


def _taken(folder: Path) -> DataError:
    msg = f"there are files in {folder} already"
    hint = "Name a folder that is empty or not there yet: those files are of another sink."
    return DataError(msg, hint=hint)


class FolderSink:
    """Writes one file for each commit, named by its record, whole or not at all.

    A commit that is written again takes the place of its file, so each counts once. Where tasks
    write, a commit has a file for each part of its rows: a draft until it is published.
    """

    def __init__(
        self, folder: Path, ending: str, write: WriteTable, options: Mapping[str, str]
    ) -> None:
        self._folder = folder
        self._ending = ending
        self._write_table = write
        self._options = options

    def begin(self) -> None:
        """Take the folder for a new sink.

        Raises:
            DataError: There are files in it, or it cannot be written.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            taken = any(self._folder.iterdir())
        except OSError as fault:
            raise _not_writable(self._folder, fault.strerror) from None
        if taken:
            raise _taken(self._folder)

    def write(self, number: int, table: pa.Table) -> None:
        """Put the results of a commit into its file.

        Raises:
            DataError: The disk is full.
        """
        name = f"{number:012d}.{self._ending}"
        with writing_to(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            # The same each time: a later attempt takes the place of one that was cut off.
            self._put(_draft_of(name), table)
            (self._folder / _draft_of(name)).replace(self._folder / name)
            sync_folder(self._folder)

    def draft(self, number: int, part: int, table: pa.Table) -> str:
        """Put a part of the results of a commit into a file that others do not see yet; its name.

        Raises:
            DataError: The disk is full.
        """
        name = _draft_of(f"{number:012d}.{part}.{self._ending}", uuid4().hex[:8])
        with writing_to(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._put(name, table)
        return name

    def missing(self, drafts: Mapping[int, Sequence[str]]) -> list[str]:
        """The paths of drafts that are not in the folder, as it is seen here."""
        # Looking into a folder lets a file system of many machines see what is new in it.
        there: set[str] = set()
        with suppress(FileNotFoundError):
            there.update(os.listdir(self._folder))
        return [
            str(self._folder / one)
            for names in drafts.values()
            for one in names
            if one not in there
        ]

    def publish(self, drafts: Mapping[int, Sequence[str]]) -> None:
        """Let others see the parts of commits, once it is written down that they hold.

        It may be done again and again, until it has come to its end.
        """
        for number, names in drafts.items():
            # A file of the whole, of an attempt that was not noted.
            (self._folder / f"{number:012d}.{self._ending}").unlink(missing_ok=True)
            for name in names:
                # What is missing was renamed before.
                with suppress(FileNotFoundError):
                    (self._folder / name).rename(self._folder / _published(name))
        sync_folder(self._folder)

    def remove_drafts(self) -> None:
        """Remove what others never saw, and never will."""
        for path in self._folder.glob(f".[0-9]*.{self._ending}*"):
            path.unlink(missing_ok=True)

    def withdraw(self, number: int) -> None:
        """Remove the results of a commit, which count no more."""
        for path in self._folder.glob(f"{number:012d}.*"):
            path.unlink(missing_ok=True)

    def _put(self, name: str, table: pa.Table) -> None:
        with (self._folder / name).open("wb") as file:
            self._write_table(table, file, self._options)
            file.flush()
            os.fsync(file.fileno())


def _draft_of(name: str, attempt: str = "") -> str:
    """A name with a dot before it: Spark and others do not look at those."""
    return f".{name}.{attempt}" if attempt else f".{name}"


def _published(draft: str) -> str:
    return draft[1:].rpartition(".")[0]
