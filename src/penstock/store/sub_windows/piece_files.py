"""Pieces in files: several in one, each column by itself; and the lists of a stream's pieces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.store.bundles import Bundle, BundleWriter, bundle_writer, write_bundle
from penstock.store.made_of_files import MadeOfFiles
from penstock.store.sub_windows.column_ranges import INSTANT, ColumnRange, ranges_of
from penstock.store.whole_files import sync_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from penstock.store.layout import Home
    from penstock.store.sub_windows.piece import Piece


@dataclass(frozen=True)
class PieceFile:
    """A piece that is kept in a file, which may hold others as well.

    Attributes:
        folder: Where the file is.
        number: The sub-window.
        file: The name of the file.
        key: The name of the piece in it.
        columns: The columns of the stream.
        rows: The number of rows.
        nbytes: The bytes of its columns.
        first: The event time of the first row.
        last: The event time of the last row.
        ends: The least and the greatest value of columns that can be compared.
    """

    folder: Path
    number: int
    file: str
    key: str
    columns: tuple[str, ...]
    rows: int
    nbytes: int
    first: int
    last: int
    ends: Mapping[str, Sequence[Any]]

    @cached_property
    def ranges(self) -> Mapping[str, ColumnRange]:
        """The values of those columns that can be compared."""
        return {name: ColumnRange(*both) for name, both in self.ends.items()}

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Some columns, or all, and always `_ts`.

        Raises:
            DataError: The file is missing or damaged.
        """
        wanted = [*(self.columns if columns is None else columns), INSTANT]
        file = _FILES.of(self.folder / self.file)
        found = [file.column(f"{self.key} {one}") for one in wanted]
        return pa.table(found, names=wanted)

    def to_json(self) -> list[Any]:
        """As it is written down."""
        return [self.number, self.file, self.key, self.rows, self.nbytes, self.first, self.last,
                dict(self.ends)]  # fmt: skip


class _OpenFile:
    """A file of pieces, and those of its columns that were read; the check sum is looked at once.

    Columns point into the file.
    """

    def __init__(self, path: Path) -> None:
        self._bundle = Bundle(path)
        self._columns: dict[str, pa.ChunkedArray] = {}

    def column(self, part: str) -> pa.ChunkedArray:
        """A column of a piece."""
        if part not in self._columns:
            self._columns[part] = self._bundle.table(part).column(0)
        return self._columns[part]


_FILES = MadeOfFiles(_OpenFile)


class PieceWriter:
    """Writes pieces into one file; `piece_writer` makes one."""

    def __init__(self, home: Home, file: str, writer: BundleWriter) -> None:
        self._folder = home.segments
        self._file = file
        self._writer = writer
        self._pieces = 0

    def add(self, number: int, piece: Piece) -> PieceFile:
        """Append a piece of a sub-window."""
        self._pieces += 1
        key, table = str(self._pieces), piece.table()
        size = 0
        for name, column in zip(table.column_names, table.columns, strict=True):
            self._writer.add_table(f"{key} {name}", pa.table([column], names=["values"]))
            size += column.nbytes
        ends = {name: [one.least, one.most] for name, one in ranges_of(table).items()}
        columns = tuple(name for name in table.column_names if name != INSTANT)
        return PieceFile(
            self._folder, number, self._file, key, columns, len(table), size, piece.first,
            piece.last, ends,
        )  # fmt: skip


class PieceWriting:
    """A file of pieces while it is written; on disk when it is left."""

    def __init__(self, home: Home, record: int) -> None:
        self.file = home.new_segment(record, 0, "rows")
        self._home = home
        self._path = home.segments / self.file

    def __enter__(self) -> PieceWriter:
        self._opened = bundle_writer(self._path)
        return PieceWriter(self._home, self.file, self._opened.__enter__())

    def __exit__(self, *failure: Any) -> None:
        self._opened.__exit__(*failure)
        if failure[0] is None:
            sync_file(self._path)


def write_list(
    home: Home, record: int, length: int, columns: Sequence[str], pieces: Iterable[PieceFile]
) -> str:
    """Write the list of a stream's pieces; the name of the file."""
    about = {
        "length": length,
        "columns": list(columns),
        "pieces": [one.to_json() for one in pieces],
    }
    name = home.new_segment(record, 0, "pieces")
    write_bundle(home.segments / name, {}, about, durable=True)
    return name


@dataclass(frozen=True)
class PieceList:
    """The pieces of a stream, and the length of its sub-windows."""

    length: int
    pieces: tuple[PieceFile, ...]


@lru_cache(maxsize=16)
def read_list(folder: Path, name: str) -> PieceList:
    """The list of a stream's pieces that was written down.

    Raises:
        DataError: The file is missing or damaged.
    """
    about = Bundle(folder / name).about
    columns = tuple(about["columns"])
    return PieceList(
        about["length"],
        tuple(
            PieceFile(folder, number, file, key, columns, *rest)
            for number, file, key, *rest in about["pieces"]
        ),
    )
