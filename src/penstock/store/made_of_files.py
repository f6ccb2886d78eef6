"""Files that were read, and what was made of them, as long as they are there."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

Made = TypeVar("Made")


class MadeOfFiles(Generic[Made]):
    """Things that were made of files, which never change.

    A mapped file takes up its space on the disk after it was removed; so what was made of one that
    is gone is let go of with the next that is read.

    Args:
        make: Reads a file.
    """

    def __init__(self, make: Callable[[Path], Made]) -> None:
        self._make = make
        self._lock = threading.RLock()
        self._made: dict[Path, Made] = {}

    def of(self, path: Path) -> Made:
        """The thing that is made of a file."""
        found = self._made.get(path)
        if found is None:
            with self._lock:
                self.forget([one for one in self._made if not one.exists()])
                if path not in self._made:
                    self._made[path] = self._make(path)
                found = self._made[path]
        return found

    def forget(self, paths: Iterable[Path]) -> None:
        """Let go of some; who asks for them again reads them again."""
        with self._lock:
            for one in paths:
                self._made.pop(one, None)
