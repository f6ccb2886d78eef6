"""Sources of Spark's for trying things out: numbers at a rate, lines from a socket."""

from __future__ import annotations

from penstock.connectors.connector import Connector, SourceFormat

RATE = Connector("rate", SourceFormat())
RATE_PER_BATCH = Connector("rate-micro-batch", SourceFormat())
SOCKET = Connector("socket", SourceFormat())
