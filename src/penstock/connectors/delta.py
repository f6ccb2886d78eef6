"""Delta: tables with a log of transactions."""

from __future__ import annotations

from penstock.connectors.connector import Connector, SinkFormat, SourceFormat

DELTA = Connector(
    "delta",
    SourceFormat(),
    SinkFormat("spark", ("path",), None, package="io.delta:delta-spark", knows_records=True),
)
