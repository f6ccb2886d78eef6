"""A connector: everything that is particular to one format of sources and sinks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Literal

import pyarrow as pa

if TYPE_CHECKING:
    from penstock.connectors.file_content import CheckFile, ReadFile, ReadGroups, RowGroups

WriteTable = Callable[[pa.Table, BinaryIO, Mapping[str, str]], None]
"""Writes a table as the content of a file, by the options of its sink."""


IN_UTC = {"timeZone": "UTC"}
"""Texts of times without a zone are in UTC, whatever zone the session of Spark has."""


@dataclass(frozen=True)
class SourceFormat:
    """A format that streams and relations are read from.

    Args:
        is_files: Whether it is a folder of files, or one file, whose columns are declared.
        read: Reads a file of it, where that is possible without Spark.
        row_groups: The rows of each of the groups that a file consists of, where it does,
        read_groups: and what reads only some of these.
        check: Sees, without reading it all, that a file has the declared columns.
        understood: The options, in lower case, that mean to `read` what they mean to Spark.
        options: Options that hold unless a declaration says otherwise.
        keeps_unreadable: Whether rows that cannot be read as declared come as texts.
        place: Where a row stands in it: in a file, at an offset of a partition, nobody knows.
    """

    is_files: bool = False
    read: ReadFile | None = None
    understood: frozenset[str] = frozenset()
    row_groups: RowGroups | None = None
    read_groups: ReadGroups | None = None
    check: CheckFile | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    keeps_unreadable: bool = False
    place: Literal["file", "offset", "unknown"] = "unknown"


@dataclass(frozen=True)
class SinkFormat:
    """A format that results are written to.

    Args:
        written: Who writes: a file for each commit, the terminal, this process, or Spark, by a
            format or into a table.
        needed: Options without which nothing can be written.
        options: All options that it has; None: its writer knows.
        write: Writes the content of a file, where there are files.
        package: The package with the classes that Spark needs.
        as_messages: Whether each row is handed over as a JSON object.
        knows_records: Whether it leaves out commits that it has already.
    """

    written: Literal["files", "console", "memory", "spark", "table"]
    needed: tuple[str, ...] = ()
    options: frozenset[str] | None = frozenset()
    write: WriteTable | None = None
    package: str = ""
    as_messages: bool = False
    knows_records: bool = False


@dataclass(frozen=True)
class Connector:
    """A format by its name in USING; None where it is no source, or no sink."""

    name: str
    source: SourceFormat | None = None
    sink: SinkFormat | None = None
