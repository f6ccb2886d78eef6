"""Results as files for others to read: one for each commit, in a folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from penstock.errors import DataError
from penstock.store.whole_files import sync_folder, writing_to

if TYPE_CHECKING:
    from collections.abc import Mapping
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

    A commit that is written again takes the place of its file, so each counts once.
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
        path = self._path(number)
        # Spark and others do not look at names with a dot before them.
        draft = path.with_name(f".{path.name}")
        with writing_to(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            with draft.open("wb") as file:
                self._write_table(table, file, self._options)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
            sync_folder(self._folder)

    def withdraw(self, number: int) -> None:
        """Remove the results of a commit, which count no more."""
        self._path(number).unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:012d}.{self._ending}"
