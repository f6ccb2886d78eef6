"""Penstock: continuous queries over data streams, on Apache Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.inline.connection import Connection
    from penstock.planner.building import Strategy

__version__ = "0.1.0"
__all__ = ["connect"]


def connect(
    *,
    lanes: int = 1,
    strategy: Strategy = "upa",
    partitions: int = 32,
    keep: int = 1_000_000,
    restore: str | Path | None = None,
) -> Connection:
    """Open a connection: streams, relations and queries that run in this process.

    Args:
        lanes: How many lanes share the work of a query, if a key divides it. The result is the
            same for any number.
        strategy: How operators learn that rows have left a window: by their update patterns
            (`upa`), by looking through their state (`direct`), or by being told (`negative`).
        partitions: Into how many parts a calendar queue divides the time in which rows leave.
        keep: How many results of a query, and rows of a stream that were late, wait to be read;
            more are forgotten, oldest first, and counted.
        restore: A folder that `Connection.save` wrote: the connection goes on from there, with the
            options it had.

    Raises:
        PenstockError: An option has no meaning, or there is nothing to restore.
    """
    # Commands that need no rows start faster without Arrow and Numba.
    from penstock.inline.opening import open_connection

    return open_connection(lanes, strategy, partitions, keep, restore)
