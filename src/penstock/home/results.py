"""The results of queries, read from the files that records name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.home.bundles import Bundle
from penstock.operators.block import from_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.home.layout import Home
    from penstock.home.records import Record
    from penstock.operators.block import Block


def result_blocks(home: Home, record: Record, query: str) -> Iterator[Block]:
    """The elements that a commit added to the result of a query."""
    for name in record.results:
        bundle = Bundle(home.segments / name)
        if f"query/{query}" in bundle.names:
            yield from_table(bundle.table(f"query/{query}"))
