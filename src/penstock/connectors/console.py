"""Console: the answer on the terminal, as it goes on."""

from __future__ import annotations

from penstock.connectors.connector import Connector, SinkFormat

CONSOLE = Connector("console", sink=SinkFormat("console"))
