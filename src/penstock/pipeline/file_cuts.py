"""The waiting files of a stream that the next micro-batch reads, or a part of one of them.

These are whole files, unless the intake is held down, or one of them is more than a micro-batch is
to take. Then small files are read together, and a large one is cut: its rows come in the order of
the file, in as many micro-batches as it takes. The watermark does not pass the earliest row that is
left, so which rows are late depends on no cut.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import INFINITY
from penstock.files.backlog import Backlog
from penstock.files.folders import folder_of
from penstock.pipeline.file_rows import FileRows
from penstock.runtime.lateness import is_instant

if TYPE_CHECKING:
    from penstock.catalog.definitions import StreamDefinition
    from penstock.files.folders import Folder, FolderFile
    from penstock.pipeline.files_read import KnownFiles
    from penstock.pipeline.ledger import Ledger
    from penstock.state.arrays import Ints

Times = Callable[[str], "Ints"]
"""The event times of all rows of a file, as tasks take them; INFINITY where there is none."""


GroupRows = Callable[[str], "list[int]"]
"""The rows of each group of rows in a file, where it says so; none, if nobody knows."""

COUNTED_BYTES = 256 << 10
"""A smaller file has few rows, and is not asked for them."""


@dataclass(frozen=True)
class FilesShare:
    """Files that a micro-batch reads.

    Args:
        folder: Where they are.
        names: Their names.
        start: So many rows of the first have been taken in before.
        stop: Up to this row of the only one; None: to the end of all.
    """

    folder: Folder
    names: tuple[str, ...]
    start: int = 0
    stop: int | None = None

    @property
    def read_to_the_end(self) -> tuple[str, ...]:
        """The files of which nothing is left."""
        return self.names if self.stop is None else ()

    @property
    def begun(self) -> tuple[str, int] | None:
        """The file that is cut, and up to which row it has been read."""
        return None if self.stop is None else (self.names[0], self.stop)


class FileCuts:
    """The shares of a stream's files, one after the other.

    Args:
        backlog: The files that wait.
        times: The event times in a file.
        groups: The rows of each group of rows in a file.
    """

    def __init__(
        self, backlog: Backlog[KnownFiles], times: Times, groups: GroupRows = lambda _: []
    ) -> None:
        self.backlog = backlog
        self._times = times
        self._groups = groups
        # The rows of large files that wait.
        self._counted: dict[str, int] = {}
        self._begun = backlog.known.read.begun
        self._read: tuple[str, Ints] | None = None

    @property
    def stream(self) -> str:
        """The stream."""
        return self.backlog.folder.stream

    @property
    def known(self) -> KnownFiles:
        """The files that have been read."""
        return self.backlog.known

    def look(self) -> None:
        """Take note of the files that are there now."""
        self.backlog.look()

    def waited_at(self, moment: float) -> bool:
        """Files wait: nobody knows since when."""
        del moment
        return len(self) > 0

    def tidy(self) -> None:
        """Remove what was read before a restart and could not be removed then."""
        folder, known = self.backlog.folder, self.backlog.known
        if not folder.is_inserted:
            return
        for one in folder.new_files(()):
            if one.name in known and not known.is_begun(one.name):
                folder.path_of(one.name).unlink(missing_ok=True)
        known.forget(known.read.recent)

    def __len__(self) -> int:
        """The number of files that wait, also with their rest."""
        return len(self.backlog) + (self._begun is not None)

    @property
    def hold(self) -> int:
        """The earliest row that waits, where that matters: the watermark does not pass it."""
        if self._begun is None:
            return self.backlog.hold
        name, start = self._begun
        rest = self._times_of(name)[start:]
        known = rest[is_instant(rest)]
        return min(self.backlog.hold, int(known.min()) if len(known) else INFINITY)

    def next_share(self, most_rows: int | None, bound: int | None = None) -> FilesShare | None:
        """The files of the next micro-batch, which wait no more; None if none does.

        Args:
            most_rows: About so many rows are to be read; None: as many as there are,
            bound: but no more than so many of files that say how many they have.
        """
        folder = self.backlog.folder
        if most_rows is None:
            most_rows = self._held_down(bound)
        if most_rows is not None or self._begun is not None:
            # Rows that would have come together make none of each other late.
            self.backlog.order()
        if self._begun is not None:
            name, start = self._begun
            return self._cut(folder, name, start, most_rows)
        if most_rows is None:
            names = self.backlog.next_files(look=False)
            return FilesShare(folder, tuple(names)) if names else None
        if not len(self.backlog):
            return None
        (first,) = self.backlog.next_files(look=False, most_files=1)
        rows = self._rows_of(first)
        if rows > most_rows:
            return self._cut(folder, first, 0, most_rows)
        names = [first]
        while (after := self.backlog.first) is not None and not folder.is_inserted:
            rows += self._rows_of(after)
            if rows > most_rows:
                break
            names += self.backlog.next_files(look=False, most_files=1)
        return FilesShare(folder, tuple(names))

    def _held_down(self, bound: int | None) -> int | None:
        """The rows that the next files are cut to, as all would be more than goes into a batch."""
        if bound is None:
            return None
        if self._begun is not None:
            return self._fitting(self._begun[0], bound)
        if not len(self.backlog):
            return None
        share = self.backlog.next_share()
        counts = [self._counted_rows(one) for one in share]
        is_large = counts[0] and share[0].size > self.backlog.folder.most_bytes
        if sum(counts) <= bound and not is_large:
            return None
        self.backlog.order()
        first = self.backlog.next_share()[0]
        return self._fitting(first.name, bound)

    def _fitting(self, name: str, bound: int) -> int:
        """So many rows of a file go into a micro-batch, by their number and by their bytes."""
        rows = sum(self._groups(name))
        size = self.backlog.folder.path_of(name).stat().st_size
        if not rows or not size:
            return bound
        return max(1, min(bound, rows * self.backlog.folder.most_bytes // size))

    def _counted_rows(self, file: FolderFile) -> int:
        """The rows of a file that is large enough to have many; 0 if nobody knows."""
        if file.size < COUNTED_BYTES:
            return 0
        if file.name not in self._counted:
            waiting = {one.name for one in self.backlog.next_share()}
            self._counted = {one: n for one, n in self._counted.items() if one in waiting}
            self._counted[file.name] = sum(self._groups(file.name))
        return self._counted[file.name]

    def _rows_of(self, name: str) -> int:
        """The rows of a file."""
        return sum(self._groups(name)) or len(self._times_of(name))

    def _cut(self, folder: Folder, name: str, start: int, most_rows: int | None) -> FilesShare:
        """The next rows of a file, or its rest."""
        stop = None if most_rows is None else start + most_rows
        if stop is not None and stop >= self._rows_of(name):
            stop = None
        elif stop is not None:
            # Behind a whole group of rows, if one ends there: tasks share the work by groups.
            ends = [one for one in accumulate(self._groups(name)) if start < one <= stop]
            stop = ends[-1] if ends else stop
        self._begun = None if stop is None else (name, stop)
        return FilesShare(folder, (name,), start, stop)

    def _times_of(self, name: str) -> Ints:
        if self._read is None or self._read[0] != name:
            self._read = (name, np.asarray(self._times(name)))
        return self._read[1]


def file_cuts(ledger: Ledger, stream: StreamDefinition, tasks: int) -> FileCuts:
    """The files of a stream that tasks read themselves, after those that a ledger has."""
    folder = folder_of(ledger.home, stream)
    backlog = Backlog(folder, ledger.known_files(stream.name), stream)
    rows = FileRows(stream, (), tasks)
    return FileCuts(backlog, partial(rows.event_times, folder), partial(rows.group_rows, folder))
