"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import uuid4

from penstock.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SAID = {
    errno.ENOSPC: ("is full", "make space there"),
    errno.EDQUOT: ("is full", "make space there"),
    errno.EROFS: ("cannot be written", "mount it so that it can"),
}
"""The faults of a disk that users can mend: how it is, and what to do."""


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """While a file is written into a folder: if the disk takes none, say where, and what to do.

    Raises:
        DataError: The disk is full, or the user's share of it, or it is read-only.
    """
    try:
        yield
    except OSError as fault:
        if fault.errno not in _SAID:
            raise
        how, remedy = _SAID[fault.errno]
        # All in one sentence: of what fails in a task of Spark's, the user sees the first line.
        msg = (
            f"the disk with {folder} {how} ({os.strerror(fault.errno)}): {remedy},"
            " then go on; nothing that was committed is lost"
        )
        raise DataError(
            msg, hint="./penstock status --home DIR says what takes up space."
        ) from None


def publish(path: Path, content: bytes) -> None:
    """Create a file with its whole content, on disk when this returns.

    Raises:
        FileExistsError: There is one already; it is left as it is.
        DataError: The disk is full.
    """
    draft = path.with_name(f".{path.name}.{uuid4().hex}")
    with writing_to(path.parent):
        try:
            with draft.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            _link(draft, path)
        finally:
            draft.unlink(missing_ok=True)
        sync_folder(path.parent)


def _link(draft: Path, path: Path) -> None:
    """Give a file its name; unlike a renaming, a link never takes the place of another file."""
    try:
        os.link(draft, path)
    except FileExistsError:
        # A server of NFS may have answered twice: the name that is there already is ours.
        if not path.samefile(draft):
            raise


def replace_file(path: Path, content: bytes) -> None:
    """Put a file with its whole content in the place of another, on disk when this returns."""
    draft = path.with_name(f".{path.name}")
    with writing_to(path.parent):
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_folder(path.parent)


def sync_file(path: Path) -> None:
    """Make sure that the content of a file is on disk."""
    with writing_to(path.parent), path.open("rb") as file:
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Make sure that the names of new files in a folder are on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
