"""Pieces: what a micro-batch reads of files, cut so that tasks can share the work."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING

from penstock.connectors.connector_list import source_format

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from penstock.catalog.definitions import StreamDefinition
    from penstock.files.folders import Folder

FILE_BYTES = 64 << 10
"""Opening a file takes as long as reading so many bytes does."""
LEAST_BYTES = 512 << 10
"""Pieces are not cut smaller than this, as each has to be written, found and read again."""


ROW_BYTES = 64
"""Making a row up takes as long as reading so many bytes does."""
ALL_ROWS: tuple[int, int | None] = (0, None)


@dataclass(frozen=True)
class FilePiece:
    """Some of the files of a stream that follow each other, or some groups of rows of one.

    Args:
        stream: The stream.
        names: The files, in the order in which they are read.
        groups: The first of the groups of rows of the only file, and the one behind the last;
            None: all of it.
        rows: The first of the rows that are taken in, and the one behind the last.
        cost: The bytes to be read, with so many more as it takes time to open the files.
    """

    stream: str
    names: tuple[str, ...]
    groups: tuple[int, int] | None = None
    rows: tuple[int, int | None] = ALL_ROWS
    cost: int = field(default=0, compare=False)


def whole_piece(
    stream: str, names: Sequence[str], rows: tuple[int, int | None] = ALL_ROWS
) -> FilePiece:
    """All files that a batch reads of a stream, or some rows of them."""
    return FilePiece(stream, tuple(names), rows=rows)


def cost_of(folder: Folder, name: str) -> int:
    """The bytes of a file that is there, with the price of opening it."""
    try:
        return folder.path_of(name).stat().st_size + FILE_BYTES
    except FileNotFoundError:
        return FILE_BYTES  # Whoever reads it says so.


def pieces_of(
    definition: StreamDefinition, folder: Folder, costs: Mapping[str, int], most: int
) -> list[FilePiece]:
    """The files of a stream in about as many pieces of like cost as are wanted, in their order.

    Args:
        definition: The stream.
        folder: Where the files are.
        costs: What each of them costs, in the order in which they are read.
        most: How many pieces are wanted; there are fewer of little cost.
    """
    share = max(-(-sum(costs.values()) // most), LEAST_BYTES)
    found: list[FilePiece] = []
    waiting: dict[str, int] = {}
    for name, cost in costs.items():
        parts = _in_groups(definition, folder.path_of(name), name, cost, share)
        if parts or sum(waiting.values()) + cost > share:
            found += _together(definition.name, waiting)
            waiting = {}
        if parts:
            found += parts
        else:
            waiting[name] = cost
    return [*found, *_together(definition.name, waiting)]


def pieces_of_rows(
    stream: str, name: str, rows: tuple[int, int | None], most: int
) -> list[FilePiece]:
    """Rows that are made up, in as many pieces as are wanted; in fewer if they are few."""
    start, stop = rows
    assert stop is not None
    count = max(1, min(most, (stop - start) * ROW_BYTES // LEAST_BYTES))
    ends = [start + (stop - start) * number // count for number in range(count + 1)]
    return [
        FilePiece(stream, (name,), rows=(first, last), cost=(last - first) * ROW_BYTES)
        for first, last in pairwise(ends)
    ]


def pieces_between(
    definition: StreamDefinition,
    folder: Folder,
    name: str,
    rows: tuple[int, int | None],
    most: int,
) -> list[FilePiece]:
    """Some rows of a file in about as many pieces as are wanted, if whole groups have them."""
    whole = FilePiece(definition.name, (name,), rows=rows)
    counting = source_format(definition.format).row_groups
    groups = counting(folder.path_of(name)) if counting else []
    ends = [0, *accumulate(groups)]
    stop = ends[-1] if rows[1] is None else rows[1]
    if rows[0] not in ends or stop not in ends or stop <= rows[0]:
        return [whole]
    first, last = ends.index(rows[0]), ends.index(stop)
    per_row = cost_of(folder, name) / max(ends[-1], 1)
    share = max(int((stop - rows[0]) * per_row) // most, LEAST_BYTES)
    return _cut_at_groups(definition.name, name, groups, (first, last), per_row, share)


def _together(stream: str, files: Mapping[str, int]) -> Iterator[FilePiece]:
    if files:
        yield FilePiece(stream, tuple(files), cost=sum(files.values()))


def _in_groups(
    definition: StreamDefinition, path: Path, name: str, cost: int, share: int
) -> list[FilePiece]:
    """A large file cut between its groups of rows; none, if it stays whole."""
    counting = source_format(definition.format).row_groups
    if cost < 2 * share or counting is None:
        return []
    rows = counting(path)
    if len(rows) < 2:
        return []
    per_row = cost / max(sum(rows), 1)
    return _cut_at_groups(definition.name, name, rows, (0, len(rows)), per_row, share)


def _cut_at_groups(
    stream: str,
    name: str,
    rows: Sequence[int],
    groups: tuple[int, int],
    per_row: float,
    share: int,
) -> list[FilePiece]:
    """Some groups of rows of a file, in pieces that cost about a share each."""
    first, last = groups
    ends, taken = [first], 0.0
    for number in range(first, last):
        taken += rows[number] * per_row
        if taken >= share and number + 1 < last:
            ends.append(number + 1)
            taken = 0.0
    ends.append(last)
    return [
        FilePiece(stream, (name,), (start, stop), cost=int(sum(rows[start:stop]) * per_row))
        for start, stop in pairwise(ends)
    ]


def of_one_file(pieces: Iterable[FilePiece]) -> Iterator[list[int]]:
    """The places of pieces that are groups of rows of one file together; others alone."""

    def file_of(numbered: tuple[int, FilePiece]) -> tuple[str, str, int]:
        number, one = numbered
        return (one.stream, one.names[0], -1 if one.groups is not None else number)

    for _, several in groupby(enumerate(pieces), file_of):
        yield [number for number, _ in several]
