"""CSV: files of lines, the first of which names the columns unless there is no header."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import pyarrow.csv as pcsv

from penstock.connectors.connector import IN_UTC, Connector, SinkFormat, SourceFormat
from penstock.connectors.csv_reading import UNDERSTOOD, check_csv, read_csv
from penstock.connectors.odd_numbers import with_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

WORDS = {"nan": "NaN", "inf": "Inf", "-inf": "-Inf"}
"""Numbers that are none, and infinite ones, as Spark writes and reads them."""


def write_csv(table: pa.Table, file: BinaryIO, options: Mapping[str, str]) -> None:
    """Write rows as lines, below the names of the columns unless `header` is false."""
    header = options.get("header", "true").lower() != "false"
    pcsv.write_csv(with_words(table, WORDS), file, pcsv.WriteOptions(include_header=header))


CSV = Connector(
    "csv",
    # Otherwise Spark takes any first line for a header, and columns by their position.
    SourceFormat(
        is_files=True,
        read=read_csv,
        understood=UNDERSTOOD,
        check=check_csv,
        options={"header": "true", "enforceSchema": "false", **IN_UTC},
        keeps_unreadable=True,
        place="file",
    ),
    SinkFormat("files", ("path",), frozenset({"path", "header"}), write_csv),
)
