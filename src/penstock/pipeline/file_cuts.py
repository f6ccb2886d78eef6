"""The waiting files of a stream that the next micro-batch reads, or a part of one of them.

Without a limit these are whole files. With one, small files are read together, and a large one is
cut: its rows come in the order of the file, in as many micro-batches as it takes. The watermark
does not pass the earliest row that is left, so which rows are late depends on no cut.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import INFINITY
from penstock.files.backlog import Backlog
from penstock.files.folders import folder_of
from penstock.pipeline.file_rows import FileRows
from penstock.runtime.lateness import is_instant

if TYPE_CHECKING:
    from penstock.catalog.definitions import StreamDefinition
    from penstock.files.folders import Folder
    from penstock.pipeline.files_read import KnownFiles
    from penstock.pipeline.ledger import Ledger
    from penstock.state.arrays import Ints

Times = Callable[[str], "Ints"]
"""The event times of all rows of a file, as tasks take them; INFINITY where there is none."""


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
    """

    def __init__(self, backlog: Backlog[KnownFiles], times: Times) -> None:
        self.backlog = backlog
        self._times = times
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

    def next_share(self, most_rows: int | None) -> FilesShare | None:
        """The files of the next micro-batch, which wait no more; None if none does.

        Args:
            most_rows: About so many rows are to be read; None: as many as there are.
        """
        folder = self.backlog.folder
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
        rows = len(self._times_of(first))
        if rows > most_rows:
            return self._cut(folder, first, 0, most_rows)
        names = [first]
        while (after := self.backlog.first) is not None and not folder.is_inserted:
            rows += len(self._times_of(after))
            if rows > most_rows:
                break
            names += self.backlog.next_files(look=False, most_files=1)
        return FilesShare(folder, tuple(names))

    def _cut(self, folder: Folder, name: str, start: int, most_rows: int | None) -> FilesShare:
        """The next rows of a file, or its rest."""
        stop = None if most_rows is None else start + most_rows
        if stop is not None and stop >= len(self._times_of(name)):
            stop = None
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
    return FileCuts(backlog, partial(FileRows(stream, (), tasks).event_times, folder))
