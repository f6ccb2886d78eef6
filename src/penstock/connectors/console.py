"""Console: a line on the terminal for each row of a result."""

from __future__ import annotations

from penstock.connectors.connector import Connector, SinkFormat

CONSOLE = Connector("console", sink=SinkFormat("console"))
