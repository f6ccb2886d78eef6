"""A hash table of the rows of one input of a join, with as many buckets as the rows need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.join.join_loops import NOBODY, keep_all
from penstock.operators.join.join_sides import no_rows
from penstock.operators.multi_join.multi_join_loops import follow, relink, take_out
from penstock.state.moving import Occupancy
from penstock.state.probing import homes, marks_of

if TYPE_CHECKING:
    from penstock.operators.block import Block
    from penstock.operators.join.join_sides import SideStore
    from penstock.operators.multi_join.multi_join_probes import Agreements
    from penstock.state.arrays import Ints, Words

CODES = (pa.int64(), pa.int64())
"""Behind its columns, a row has the two words that its key is told apart by."""
_FEWEST = 64
_ROOMY = 2
"""Buckets for each row, when a table is made."""

PORT = 0
"""Each table has heads of its own, with one column."""


class Table:
    """The rows of one input by one of its keys: those of a bucket form a chain, newest first.

    Args:
        agreements: The equality classes of the key.
        rows: The structure that keeps them; it is empty.
        width: How many columns they have before their codes.
        expected: How many rows there will be, about.
        buckets: The number of buckets, whatever the rows; None: as they need.

    Attributes:
        words: The keys of the rows of the step.
        marks: Their hashes.
        incoming: The rows of the portion.
        kept: What the loops work on, in this portion.
        heads: The newest row of each bucket.
    """

    def __init__(
        self,
        agreements: Agreements,
        rows: SideStore,
        width: int,
        expected: int,
        buckets: int | None,
    ) -> None:
        self.agreements = agreements
        self.rows = rows
        self.width = width
        self.words: Words = np.zeros((0, 2), np.uint64)
        self.marks: Ints = np.zeros(0, np.int64)
        self.incoming = no_rows()
        self.kept = rows.kept()
        self._fixed = buckets
        self._lately = Occupancy()
        self._lately.note(expected)
        self.heads = _no_heads(buckets or max(_ROOMY * expected, _FEWEST))
        self._step: Block | None = None
        self._start = 0

    def arrange(self, block: Block, words: Words) -> None:
        """Take the rows of a step, and the words of their keys."""
        self.words, self.marks = words, marks_of(words)
        codes = np.ascontiguousarray(words.T).view(np.int64)
        columns = (*block.columns[: self.width], *map(pa.array, codes))
        self._step = block.with_columns(columns)

    def accept(self, start: int, stop: int) -> None:
        """Give the rows of a portion buckets and places."""
        self._start = start
        self.incoming = no_rows()
        if start < stop:
            assert self._step is not None
            self._make_room(len(self.rows) + stop - start)
            buckets = homes(self.marks[start:stop], len(self.heads))
            self.incoming = self.rows.accept(self._step.stretch(start, stop), buckets)
        self.kept = self.rows.kept()

    def follow(self, places: Ints) -> None:
        """Keep the rows of the portion where another table does."""
        kept = self.incoming.sign > 0
        assert np.array_equal(self.incoming.place[kept], places[kept]), "a row has two places"
        follow(self.incoming, self.kept, self.heads)
        self.incoming.place[:] = places

    def keep_all(self) -> None:
        """Keep rows that look for nobody."""
        keep_all(self.incoming, self.kept, self.heads, PORT)

    def expire(self, clock: int, lives: Ints) -> None:
        """Forget what was withdrawn, or has ended at the clock."""
        self._lately.note(len(self.rows))
        take_out(self.incoming, self.kept, self.heads, lives)
        self.rows.expire(self.incoming, clock, self.heads)
        self.incoming = no_rows()

    def shrink(self) -> None:
        """Give back room that has been empty for a while; between two portions."""
        self.rows.shrink(self.heads)
        if self._fixed is None and self._lately.leaves_empty(len(self.heads), len(self.rows)):
            self._rebuild(_ROOMY * len(self.rows))

    def buckets(self, marks: Ints) -> Ints:
        """The buckets of keys."""
        return homes(marks, len(self.heads))

    @property
    def new_marks(self) -> Ints:
        """The hashes of the keys of the rows of the portion."""
        return self.marks[self._start : self._start + len(self.incoming.ts)]

    @property
    def new_words(self) -> Words:
        """The words of the keys of the rows of the portion."""
        return self.words[self._start : self._start + len(self.incoming.ts)]

    @property
    def codes(self) -> tuple[Ints, Ints]:
        """The words of the keys of kept rows, by place."""
        return self.rows.values(self.width), self.rows.values(self.width + 1)

    def words_at(self, places: Ints) -> Words:
        """The words of the keys of the rows at places."""
        return np.stack([one[places] for one in self.codes], axis=1).view(np.uint64)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self.rows.nbytes + self.heads.nbytes

    def _make_room(self, rows: int) -> None:
        if self._fixed is None and rows > len(self.heads):
            self._rebuild(_ROOMY * rows)

    def _rebuild(self, buckets: int) -> None:
        """Chain all rows anew, in so many buckets."""
        self.heads = _no_heads(max(buckets, _FEWEST))
        places, kept = self.rows.live(), self.rows.kept()
        room = len(kept.records)
        at = places - kept.base
        marks = marks_of(self.words_at(np.where(at < room, at, at - room)))
        relink(places, marks, kept, self.heads)


def _no_heads(buckets: int) -> Ints:
    return np.full((buckets, 1), NOBODY, np.int64)
