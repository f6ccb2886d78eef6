"""The content of a file: columns as they are declared, and the rows that cannot be read so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.errors import PenstockError

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.algebra.types import Schema


class BrokenFileError(PenstockError):
    """A file is not of its format, or not yet: it may be being written."""


@dataclass(frozen=True)
class UnreadableRow:
    """A row that cannot be read as declared.

    Attributes:
        place: Where it stands in its file, such as `line 3`.
        text: The row as it stands there.
        why: The column, its type, the value, and what would read it.
    """

    place: str
    text: str
    why: str


@dataclass(frozen=True)
class FileContent:
    """Rows of a file.

    Attributes:
        columns: The declared columns that the file has, by their declared names.
        rows: How many rows these have.
        unreadable: The rows that are not among them.
        place_of: Where the row of a number stands, such as `line 3`.
    """

    columns: Mapping[str, pa.ChunkedArray | pa.Array]
    rows: int
    unreadable: tuple[UnreadableRow, ...] = ()
    place_of: Callable[[int], str] = lambda row: f"row {row + 1}"


ReadFile = Callable[[str, Path, "Schema", Mapping[str, str]], FileContent]
"""Reads a file: what errors call the source, the path, the declared columns, the options."""

RowGroups = Callable[[Path], "list[int]"]
"""Says how many rows each group of rows in a file has; none, if it cannot be known."""

ReadGroups = Callable[[str, Path, "Schema", Mapping[str, str], range], FileContent]
"""Reads the groups of these numbers; the other arguments are those of `ReadFile`."""

CheckFile = Callable[[str, Path, "Schema", Mapping[str, str]], None]
"""Sees that a file has the declared columns; the same arguments."""
