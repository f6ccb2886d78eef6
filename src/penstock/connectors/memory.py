"""Memory: rows that a program inserts, results that it reads from the connection."""

from __future__ import annotations

from penstock.connectors.connector import Connector, SinkFormat, SourceFormat

MEMORY = Connector("memory", SourceFormat(), SinkFormat("memory"))


def is_inserted(format_: str | None) -> bool:
    """Rows are inserted by a program, rather than read from somewhere."""
    return format_ in (None, MEMORY.name)
