"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    from pathlib import Path


def publish(path: Path, content: bytes) -> None:
    """Create a file with its whole content, on disk when this returns.

    Raises:
        FileExistsError: There is one already; it is left as it is.
    """
    draft = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # A link, unlike a renaming, never takes the place of another file.
        os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_file(path: Path) -> None:
    """Make sure that the content of a file is on disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Make sure that the names of new files in a folder are on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
