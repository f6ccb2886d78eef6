"""All connectors, by name; a new one is a file of its own and an entry here."""

from __future__ import annotations

from penstock.connectors.connector import Connector, SourceFormat
from penstock.connectors.console import CONSOLE
from penstock.connectors.csv import CSV
from penstock.connectors.delta import DELTA
from penstock.connectors.generate import GENERATE
from penstock.connectors.json import JSON
from penstock.connectors.kafka import KAFKA
from penstock.connectors.memory import MEMORY
from penstock.connectors.parquet import PARQUET
from penstock.connectors.spark_files import AVRO, ICEBERG, ORC, TEXT, XML
from penstock.connectors.spark_tables import DATAFRAME, TABLE
from penstock.connectors.spark_trials import RATE, RATE_PER_BATCH, SOCKET

CONNECTORS: dict[str, Connector] = {
    one.name: one
    for one in (
        # Files, in the order in which messages list them.
        *(PARQUET, CSV, JSON, ORC, TEXT, XML, AVRO),
        # Tables and topics.
        *(DELTA, ICEBERG, KAFKA, TABLE, DATAFRAME),
        # For programs, terminals and trials.
        *(CONSOLE, MEMORY, GENERATE, RATE, RATE_PER_BATCH, SOCKET),
    )
}
SOURCES = tuple(name for name, one in CONNECTORS.items() if one.source is not None)
SINKS = tuple(name for name, one in CONNECTORS.items() if one.sink is not None)


def source_format(name: str | None) -> SourceFormat:
    """The format of a source, or what is known of formats that whoever starts Spark allowed."""
    known = CONNECTORS.get((name or MEMORY.name).lower())
    return SourceFormat() if known is None or known.source is None else known.source
