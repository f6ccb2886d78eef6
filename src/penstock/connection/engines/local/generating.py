"""Streams that are generated, in the engine of this process: all rows come when they are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.catalog.definitions import StreamDefinition
from penstock.connectors.generate import GENERATE, is_generated
from penstock.connectors.generated_rows import Generator
from penstock.errors import NotSupported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.connection.engines.local.local_engine import LocalEngine
    from penstock.cql import syntax

MOST_ROWS = 50_000
"""So many rows of a stream are taken in together."""


def refuse_endless(statement: syntax.CreateSource) -> None:
    """See that a stream that is generated has an end.

    Raises:
        NotSupported: It has none.
    """
    if (statement.format or "").lower() == GENERATE.name and "rows" not in statement.options:
        msg = (
            f'stream "{statement.name.text}" is generated on and on, and a connection in this'
            " process takes in all that is there"
        )
        hint = "Add rows '10000' to its OPTIONS; penstock.connect() generates without an end."
        raise NotSupported(msg, hint=hint, at=statement.name.span)


def generated_streams(engine: LocalEngine) -> Iterator[tuple[StreamDefinition, pa.Table]]:
    """The rows of generated streams that queries read and that have not come yet, in turns."""
    read = {name for batch in engine.feeding.batches for name in batch.sources}
    found = [one for one in engine.catalog if isinstance(one, StreamDefinition)]
    waiting = [(one, Generator(one)) for one in found if is_generated(one) and one.name in read]
    while waiting:
        left = []
        for stream, generator in waiting:
            start = engine.feeding.intakes[stream.name].brought
            stop = min(start + MOST_ROWS, generator.options.rows or 0)
            if start < stop:
                yield stream, pa.table(generator.rows(start, stop))
                left.append((stream, generator))
        waiting = left
