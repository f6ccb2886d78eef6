"""The backlog of a stream: files that wait to be read, in an order that makes no row of them late.

If they do not all fit into the next micro-batch, they are read in the order of the earliest event
times in them, and the watermark of the stream does not pass those of files that wait.
"""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Generic, TypeVar

from penstock.algebra.time import INFINITY
from penstock.files.earliest_rows import earliest_row

if TYPE_CHECKING:
    from penstock.catalog.definitions import StreamDefinition
    from penstock.files.folders import Folder, FolderFile

Known = TypeVar("Known", bound=Container[str])


class Backlog(Generic[Known]):
    """Files of a stream.

    Args:
        folder: Where they appear.
        known: The names of those that have been read.
        definition: The stream.

    Attributes:
        folder: Where they appear.
        known: The names of those that have been read.
    """

    def __init__(self, folder: Folder, known: Known, definition: StreamDefinition) -> None:
        self.folder = folder
        self.known = known
        self._definition = definition
        self._waiting: list[FolderFile] = []
        self._earliest: dict[str, int] = {}

    def __len__(self) -> int:
        """The number of files that wait."""
        return len(self._waiting)

    def look(self) -> None:
        """Take note of the files that are there now."""
        self._waiting = self.folder.new_files(self.known)
        self._earliest = {}
        if self.folder.share(self._waiting) < len(self._waiting):
            self.order()  # Rows of one micro-batch are not late.

    def order(self) -> None:
        """Put the files in order, as they will not all be read together."""
        if self._earliest or self.folder.is_inserted:
            return  # Rows of `insert` come as they came.
        for one in self._waiting:
            path = self.folder.path_of(one.name)
            self._earliest[one.name] = earliest_row(self._definition, path)
        self._waiting.sort(key=lambda one: (self._earliest[one.name], one))

    @property
    def first(self) -> str | None:
        """The name of the file that is read next; None if none waits."""
        return self._waiting[0].name if self._waiting else None

    def next_share(self) -> list[FolderFile]:
        """The files that go into the next micro-batch, if all of each is read; they wait on."""
        return self._waiting[: self.folder.share(self._waiting)]

    def next_files(self, *, look: bool, most_files: int | None = None) -> list[str]:
        """The names of the files that the next micro-batch reads; they wait no more.

        Args:
            look: Whether the folder is looked at if none waits.
            most_files: No more than so many; None: as many as go into a micro-batch.
        """
        if not self._waiting and look:
            self.look()
        count = min(self.folder.share(self._waiting), most_files or len(self._waiting))
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        return [one.name for one in taken]

    @property
    def hold(self) -> int:
        """The earliest event time in files that wait: the watermark does not pass it."""
        if not self._waiting:
            return INFINITY
        return self._earliest.get(self._waiting[0].name, INFINITY)
