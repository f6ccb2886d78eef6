"""Writing rows with instants in aligned columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING
from penstock.testing.expected_rows import print_instant
from penstock.testing.timed import START

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.time import TimeUnit
    from penstock.algebra.types import Type

Entry = tuple[str, list[str]]
"""A sign, or nothing, and the cells of a row."""


def print_table(
    content: Sequence[tuple[int, Sequence[Entry]]],
    types: Sequence[Type],
    unit: TimeUnit,
    day: str | None,
) -> list[str]:
    r"""The lines of a block: an instant before its first row, rows in columns.

    >>> from penstock.algebra.time import TimeUnit
    >>> from penstock.algebra.types import INT
    >>> rows = [(9, [("", ["5"]), ("", ["10"])]), (12, [])]
    >>> print(*print_table(rows, [INT], TimeUnit.TICK, None), sep="|\n")
    @9    5|
         10|
    @12  (empty)
    """
    if not content:
        return ["(none)"]
    labels = [f"@{START if at == BEGINNING else print_instant(at, unit, day)}" for at, _ in content]
    margin = max(map(len, labels)) + 2
    widths = _widths([cells for _, entries in content for _, cells in entries], len(types))
    lines = []
    for label, (_, entries) in zip(labels, content, strict=True):
        rows = [print_row(entry, types, widths) for entry in entries] or ["(empty)"]
        lines += [
            (label if first else "").ljust(margin) + row
            for first, row in zip([True] + [False] * len(rows), rows, strict=False)
        ]
    return lines


def print_row(entry: Entry, types: Sequence[Type], widths: Sequence[int]) -> str:
    """A row with its sign: numbers to the right of their column, everything else to the left."""
    sign, cells = entry
    aligned = [
        cell.rjust(width) if type_.is_numeric else cell.ljust(width)
        for cell, width, type_ in zip(cells, widths, types, strict=True)
    ]
    return f"{sign} {' | '.join(aligned)}".rstrip() if sign else " | ".join(aligned).rstrip()


def _widths(rows: Sequence[list[str]], count: int) -> list[int]:
    return [max((len(row[index]) for row in rows), default=0) for index in range(count)]
