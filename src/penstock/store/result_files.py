"""The results of queries, read from the files that records name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.operators.block import from_table
from penstock.store.bundles import Bundle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.operators.block import Block
    from penstock.store.layout import Home
    from penstock.store.records import FoldedContent, Record


def result_blocks(home: Home, record: Record, query: str) -> Iterator[Block]:
    """The elements that a commit added to the result of a query."""
    for name in record.results:
        yield from blocks_in(Bundle(home.segments / name), query)


def content_blocks(home: Home, content: FoldedContent, query: str) -> Iterator[Block]:
    """The rest of the elements of a query when results were folded."""
    yield from blocks_in(Bundle(home.segments / content.file), query)


def blocks_in(bundle: Bundle, query: str) -> Iterator[Block]:
    """The elements of a query in a file."""
    if f"query/{query}" in bundle.names:
        yield from_table(bundle.table(f"query/{query}"))
