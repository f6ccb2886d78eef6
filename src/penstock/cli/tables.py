"""Tables and numbers as commands print them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

SIZES = {"GB": 10**9, "MB": 10**6, "kB": 10**3}


def table(*columns: str, left: tuple[int, ...]) -> Table:
    """An empty table, some columns to the left; what is too long is folded, never cut off."""
    from rich.table import Table

    made = Table(box=None, header_style="dim", pad_edge=False)
    for number, name in enumerate(columns):
        made.add_column(name, justify="left" if number in left else "right", overflow="fold")
    return made


def size(number: int) -> str:
    """A number of bytes.

    >>> size(0), size(1912), size(25_000_000)
    ('0 B', '1.9 kB', '25.0 MB')
    """
    return scaled(number, SIZES) or f"{number} B"


def scaled(number: float, units: dict[str, int]) -> str | None:
    """A number in the largest unit that it has; None: it has none."""
    for name, length in units.items():
        if number >= length:
            return f"{number / length:.1f} {name}"
    return None
