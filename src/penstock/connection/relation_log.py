"""The history of a relation, for questions about instants that have passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING
from penstock.operators.block import concatenated, empty_block, from_table, to_table
from penstock.runtime.changes import due_from
from penstock.store.contents import folded

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import pyarrow as pa

    from penstock.algebra.types import Schema
    from penstock.operators.block import Block

MOST_UPDATES = 64
"""So many updates wait to be folded, if they are older than what streams retain."""


class RelationLog:
    """The changes of a relation, each with the watermarks of streams when it came.

    A change that is dated earlier took effect for a query at its clock then: the least watermark
    of its streams.

    Attributes:
        since: The content is known from this instant on; BEGINNING: always.
    """

    def __init__(self, schema: Schema) -> None:
        self.since = BEGINNING
        self._schema = schema
        self._base: Block = empty_block(schema)
        self._updates: list[tuple[Block, dict[str, int]]] = []

    def add(self, changes: Block, watermarks: Mapping[str, int], retained: int) -> None:
        """Changes that came; of instants before `retained` nobody will ask."""
        self._updates.append((changes, dict(watermarks)))
        gone = [one for one in self._updates if _latest(one) < retained]
        if len(gone) >= MOST_UPDATES:
            self._updates = [one for one in self._updates if _latest(one) >= retained]
            left = folded([self._base, *(block for block, _ in gone)], retained)
            self._base = empty_block(self._schema) if left is None else left
            self.since = max(self.since, retained)

    def history(self, streams: Collection[str]) -> Block:
        """The changes as they took effect for a query over some streams."""
        found = [self._base]
        for block, watermarks in self._updates:
            clock = min([watermarks.get(one, BEGINNING) for one in streams], default=BEGINNING)
            found.append(due_from(block, clock))
        return concatenated(found)

    def segments(self) -> dict[str, pa.Table]:
        """The content, as Arrow; of changes it is not known any more when they came."""
        return {"history": to_table(self.history(()))}

    def restore(self, segments: Mapping[str, pa.Table], since: int) -> None:
        """Take it back; this is new."""
        self.since = since
        if "history" in segments:
            self._base = from_table(segments["history"])


def _latest(update: tuple[Block, dict[str, int]]) -> int:
    """The instant by which an update had taken effect for every query."""
    block, watermarks = update
    return max([int(block.ts.max()) if len(block) else BEGINNING, *watermarks.values()])
