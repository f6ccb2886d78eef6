"""Parquet: files of columns, which tasks read without Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import pyarrow.parquet as pq

from penstock.connectors.connector import Connector, SinkFormat, SourceFormat
from penstock.connectors.parquet_reading import read_parquet, read_row_groups, row_groups
from penstock.connectors.zoned_times import with_zone

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa


def write_parquet(table: pa.Table, file: BinaryIO, options: Mapping[str, str]) -> None:
    """Write rows as columns."""
    del options
    pq.write_table(with_zone(table), file)


PARQUET = Connector(
    "parquet",
    SourceFormat(
        is_files=True,
        read=read_parquet,
        row_groups=row_groups,
        read_groups=read_row_groups,
        place="file",
    ),
    SinkFormat("files", ("path",), frozenset({"path"}), write_parquet),
)
