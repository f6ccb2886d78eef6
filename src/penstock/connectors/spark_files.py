"""Formats of files that only Spark reads: ORC, lines of text, XML, Avro."""

from __future__ import annotations

from penstock.connectors.connector import IN_UTC, Connector, SourceFormat

_FILES = SourceFormat(is_files=True, place="file")
ORC = Connector("orc", _FILES)
TEXT = Connector("text", _FILES)
XML = Connector(
    "xml", SourceFormat(is_files=True, options=IN_UTC, keeps_unreadable=True, place="file")
)
# Spark finds the columns of these by itself, with a package that does not come with it.
AVRO = Connector("avro", SourceFormat())
ICEBERG = Connector("iceberg", SourceFormat())
