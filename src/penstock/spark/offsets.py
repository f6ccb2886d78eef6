"""The progress of Spark in its sources, from what it writes down before it runs a micro-batch.

A file `offsets/N` of the checkpoint has a version, a line about the query, and a line
`NAME:OFFSET` for each source; an offset is JSON, or a dash where nothing was there to read. Spark
may write it otherwise some day, and nothing here depends on it: offsets are for people.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from penstock.spark.sources import source_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.catalog.definitions import StreamDefinition
    from penstock.store.layout import Home

VERSION = "v2"
"""Of files in which sources have names."""


def read_offsets(home: Home, batch: int, streams: Sequence[StreamDefinition]) -> dict[str, Any]:
    """Up to where a micro-batch reads each stream; those that cannot be told are left out."""
    try:
        text = (home.checkpoint / "offsets" / str(batch)).read_text("utf-8")
    except (OSError, ValueError):
        return {}
    version, _, lines = text.partition("\n")
    if version != VERSION:
        return {}
    written = dict(line.partition(":")[::2] for line in lines.split("\n"))
    found: dict[str, Any] = {}
    for one in streams:
        try:
            found[one.name] = json.loads(written[source_name(one.name)])
        except (KeyError, ValueError):
            continue
    return found
