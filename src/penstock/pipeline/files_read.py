"""The files of a folder that have been read, in memory and in the segments that records name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.store.bundles import Bundle, write_bundle
from penstock.store.records import FilesRead

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.files.folders import Folder
    from penstock.store.layout import Home

NAMES = "names"
MOST_RECENT = 64
"""Records name so many files themselves."""


class KnownFiles:
    """The files of one folder that have been read.

    Segments with names are put together when they are of like size, so that a name is written
    down a few times only, however many there are.
    """

    def __init__(self, home: Home, read: FilesRead) -> None:
        self._home = home
        self.read = read
        self._names = set(read.recent)
        self._sizes: dict[str, int] = {}
        for segment in read.listed:
            names = self._listed(segment)
            self._sizes[segment] = len(names)
            self._names.update(names)

    def __contains__(self, name: object) -> bool:
        """A file that has been read, or begun."""
        return name in self._names or self.is_begun(name)

    def is_begun(self, name: object) -> bool:
        """A file that has been read in part."""
        return self.read.begun is not None and self.read.begun[0] == name

    def after(
        self, record: int, names: Sequence[str], begun: tuple[str, int] | None = None
    ) -> FilesRead:
        """The files read when these have been read, too, by a record, and one begun."""
        recent, count = (*self.read.recent, *names), self.read.count + len(names)
        if len(recent) <= MOST_RECENT:
            return FilesRead(self.read.listed, recent, count, begun)
        listed, together = list(self.read.listed), list(recent)
        while listed and self._sizes[listed[-1]] <= 2 * len(together):
            together = self._listed(listed.pop()) + together
        segment = self._home.new_segment(record, 0, "files")
        table = pa.table({NAMES: pa.array(together, pa.string())})
        write_bundle(self._home.segments / segment, {NAMES: table}, durable=True)
        self._sizes[segment] = len(together)
        return FilesRead((*listed, segment), (), count, begun)

    def note(self, read: FilesRead, names: Sequence[str]) -> None:
        """A record has been published that says so."""
        self.read = read
        self._names.update(names)

    def forget(self, names: Sequence[str]) -> None:
        """Files have been removed whose names nobody will use again."""
        gone = set(names)
        self._names -= gone
        left = tuple(one for one in self.read.recent if one not in gone)
        self.read = replace(self.read, recent=left)

    def remove_earlier(self, folder: Folder, names: Sequence[str]) -> None:
        """Remove brought rows that are in the logs of the lanes, but for those of the last batch.

        Should its record be lost, it can be run again.
        """
        earlier = [name for name in self.read.recent if name not in names]
        for name in earlier:
            folder.path_of(name).unlink(missing_ok=True)
        self.forget(earlier)

    def _listed(self, segment: str) -> list[str]:
        found: list[str] = Bundle(self._home.segments / segment).table(NAMES)[NAMES].to_pylist()
        return found
