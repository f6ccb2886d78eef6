"""The rows of a generated stream that the next micro-batch takes in.

It is as if they stood in one file without an end, of which a part has been read: so a record says
how far it has been read, and a batch reads on from there.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.algebra.time import INFINITY
from penstock.connectors.generated_rows import Generator
from penstock.errors import DataError
from penstock.files.folders import Folder
from penstock.pipeline.file_cuts import FilesShare

if TYPE_CHECKING:
    from penstock.catalog.definitions import StreamDefinition
    from penstock.pipeline.files_read import KnownFiles

NAME = "generated"
"""The name of the file that there is not."""
MOST_ROWS = 1_000_000
"""So many rows are taken in at once, where more of them wait."""


class GeneratedCuts:
    """The shares of a stream's rows, one after the other, as they come in the course of time.

    Args:
        definition: The stream.
        known: How far it has been read.
        finite: Whether all rows are there at once, and there has to be an end of them.

    Raises:
        DataError: There is no end of them.
    """

    hold = INFINITY

    def __init__(self, definition: StreamDefinition, known: KnownFiles, *, finite: bool) -> None:
        self.stream = definition.name
        self.known = known
        self._folder = Folder(definition.name, Path(NAME))
        self._generator = Generator(definition)
        self._finite = finite
        self._next = self._first = 0 if known.read.begun is None else known.read.begun[1]
        self._began = time.monotonic()
        self._due = self._first
        if finite and self._generator.options.rows is None:
            msg = f'stream "{self.stream}" has no end: its rows are generated on and on'
            hint = "Add rows '100000' to its OPTIONS, or run with --trigger continuous."
            raise DataError(msg, hint=hint)
        self.look()

    def __len__(self) -> int:
        """The number of rows that wait."""
        return self._due - self._next

    def look(self) -> None:
        """Take note of the rows that have come by now."""
        self._due = self._due_at(time.monotonic())

    def waited_at(self, moment: float) -> bool:
        """Rows wait that waited at a moment, by the monotonic clock."""
        return self._next < self._due_at(moment)

    def _due_at(self, moment: float) -> int:
        rows = self._generator.options.rows
        if self._finite and rows is not None:
            return max(rows, self._first)
        # Time goes on from where the stream was, whenever that was.
        due = self._first + self._generator.due(max(moment - self._began, 0.0))
        return due if rows is None else min(due, max(rows, self._first))

    def next_share(self, most_rows: int | None, bound: int | None = None) -> FilesShare | None:
        """The rows of the next micro-batch, which wait no more; None if none does."""
        count = min(len(self), MOST_ROWS, *(one for one in (most_rows, bound) if one is not None))
        if not count:
            return None
        start, self._next = self._next, self._next + count
        return FilesShare(self._folder, (NAME,), start, self._next)

    def tidy(self) -> None:
        """Nothing is left over."""
