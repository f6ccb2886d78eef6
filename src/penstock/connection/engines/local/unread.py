"""Results that wait to be read: as many as are kept, and how many were forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.errors import DataError, count
from penstock.operators.block import Block, concatenated, from_table, to_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.operators.operator import Segments


class Unread:
    """Rows that nobody has read yet.

    A query may run for ever without being read, so at most `keep` rows wait: beyond that the
    oldest are forgotten, and the next read says how many.
    """

    def __init__(self, what: str, keep: int) -> None:
        self._what = what
        self._keep = keep
        self._blocks: list[Block] = []
        self._rows = 0
        self._forgotten = 0

    def __len__(self) -> int:
        """How many rows wait."""
        return self._rows

    def add(self, block: Block) -> None:
        """Rows to be read."""
        if not len(block):
            return
        self._blocks.append(block)
        self._rows += len(block)
        while self._rows > self._keep:
            self._forget(self._rows - self._keep)

    def _forget(self, rows: int) -> None:
        """Forget rows of the oldest block, so many at most."""
        oldest = self._blocks.pop(0)
        gone = min(rows, len(oldest))
        if gone < len(oldest):
            self._blocks.insert(0, oldest.take(np.arange(gone, len(oldest))))
        self._rows -= gone
        self._forgotten += gone

    def take(self, empty: Block) -> Block:
        """All rows that wait, which then wait no longer; `empty` where there are none.

        Raises:
            DataError: Rows were forgotten; the next call gives those that are left.
        """
        if self._forgotten:
            gone, self._forgotten = self._forgotten, 0
            msg = f"{count(gone, 'row')} of {self._what} were forgotten before they were read"
            hint = (
                f"At most {self._keep} wait: read more often, or connect_inline(keep=...) with"
                " more. The next call gives the rows that are left."
            )
            raise DataError(msg, hint=hint)
        blocks, self._blocks, self._rows = self._blocks, [], 0
        return concatenated(blocks) if blocks else empty

    def segments(self, name: str) -> Segments:
        """The rows that wait, and how many are gone."""
        made = {f"{name}/forgotten": pa.table({"rows": [self._forgotten]})}
        if self._blocks:
            made[f"{name}/rows"] = to_table(concatenated(self._blocks))
        return made

    def restore(self, segments: Mapping[str, pa.Table], name: str) -> None:
        """Take them back."""
        (self._forgotten,) = segments[f"{name}/forgotten"]["rows"].to_pylist()
        if f"{name}/rows" in segments:
            self.add(from_table(segments[f"{name}/rows"]))
