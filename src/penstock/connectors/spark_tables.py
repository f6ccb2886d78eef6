"""Sources that a Spark program has already: tables of a catalog, and DataFrames."""

from __future__ import annotations

from penstock.connectors.connector import Connector, SinkFormat, SourceFormat

TABLE = Connector("table", SourceFormat(), SinkFormat("table", ("table",), None))
"""A table by its name: FROM TABLE and INTO TABLE are another way to write it."""
DATAFRAME = Connector("dataframe", SourceFormat())
"""A DataFrame that a program gives: `Connection.stream` and `Connection.relation` write it."""
