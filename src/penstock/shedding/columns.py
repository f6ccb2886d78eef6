"""The columns of a stream that shedding goes by."""

from __future__ import annotations

from typing import NamedTuple


class SheddingColumns(NamedTuple):
    """Columns of a stream that shedding goes by, by their places.

    Args:
        utility: The one that says how useful a row is, from 0 to 1.
        weight: The one that says for how many rows a row stands.
    """

    utility: int | None = None
    weight: int | None = None


NO_COLUMNS = SheddingColumns()
"""Of a stream that says nothing of it."""
