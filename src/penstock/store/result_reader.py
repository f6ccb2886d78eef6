"""Reading the results of a query: what its commits say, folded record by record."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING
from penstock.errors import DataError, QueryError
from penstock.store.bundles import Bundle
from penstock.store.result_files import content_blocks, result_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from penstock.algebra.time import TimeUnit
    from penstock.operators.block import Block
    from penstock.results.settling import ChangingContent, Elements
    from penstock.store.layout import Home
    from penstock.store.records import FoldedContent as FoldedResults
    from penstock.store.records import Record


@dataclass(frozen=True)
class Commit:
    """A commit's word on a query: its clock since then, and a block, unless there was nothing.

    The block is what the reader's fold makes of the elements. `results` counts these up to the
    commit.
    """

    number: int
    clock: int
    block: Block | None
    results: int = 0


@dataclass(frozen=True)
class Start:
    """The beginning of the results of a query that are kept: a record, and what was before it.

    Of instants before `clock` - 1 nothing is known. If results of the query are folded, `folds`
    is the record it was registered by: what was folded there or later is its own.
    """

    record: int
    blocks: Sequence[Block]
    clock: int
    folds: int | None = None


def start_of(home: Home, query: str, first: int, *, has_content: bool) -> Start:
    """The beginning for a query that was registered by a record, which may be gone.

    What a query sent out is not folded: what is gone is gone.
    """
    numbers = home.chain.numbers()
    folds = first if has_content else None
    if numbers[0] <= first or not has_content:
        return Start(max(first, numbers[0]), (), BEGINNING, folds)

    def has_what_is_gone(number: int) -> bool:
        content = home.chain.read(number).content
        return content is not None and content.record >= numbers[0] - 1

    # The oldest content that no removed record is missing behind; the newest record has one.
    place = bisect_left(numbers, True, key=has_what_is_gone)
    content = home.chain.read(numbers[place]).content
    assert content is not None
    return _after(home, content, query, first)


def _after(home: Home, content: FoldedResults, query: str, first: int) -> Start:
    """A start behind the records that were folded."""
    clock = Bundle(home.segments / content.file).about["clocks"].get(query, BEGINNING)
    return Start(content.record + 1, list(content_blocks(home, content, query)), clock, first)


class ResultsReader:
    """Goes through the records of a home, and folds the results of one query.

    If its first results are not kept any more, it begins with what was left of them. Results of
    the end of the input hold as long as no later record follows: then the input was not at its
    end after all.

    Args:
        home: Where the records are.
        query: Its name.
        start: Where its results begin.
        fold: Makes an empty fold of its results.
        runs_in: Whether it runs in the plan of a name: after it, another may have its name.
    """

    def __init__(
        self,
        home: Home,
        query: str,
        start: Start,
        fold: Callable[[], Elements],
        runs_in: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self.query = query
        self.clock = BEGINNING
        self._home = home
        self._make = fold
        self._runs_in = runs_in
        self._fold = fold()
        self._start: Start | None = start
        self._folds = start.folds
        self._next = start.record
        # The fold with the results of the end of the input, and the clock then.
        self._at_end: tuple[Elements, int] | None = None

    def read(self, last: int) -> Iterator[Commit]:
        """The commits since the last call, up to a record; those without rows are left out."""
        if self._start is not None:
            start, self._start = self._start, None
            self.clock = start.clock
            block = self._fold.take_in(start.blocks, start.clock)
            if block is not None:
                yield Commit(start.record - 1, start.clock, block)
        while self._next <= last:
            record = read_record(self._home, self._next)
            commit = self._taken(record, is_newest=record.number == last)
            # After the record was taken in: if that fails, it is tried again.
            self._next += 1
            if commit is not None:
                yield commit

    def catch_up(self, last: int) -> None:
        """Take in the commits up to a record; of those that have been folded, what was left."""
        if self._next <= last:
            self._skip(read_record(self._home, last))
        for _ in self.read(last):
            pass

    def _skip(self, newest: Record) -> None:
        """Begin anew behind the records that were folded since the last call, if any."""
        content, folds = newest.content, self._folds
        if content is None or folds is None or content.record < max(folds, self._next):
            return
        if self._runs_in(newest.plan):
            self._start = _after(self._home, content, self.query, folds)
            self._next = self._start.record
            self._fold, self._at_end = self._make(), None

    def _taken(self, record: Record, *, is_newest: bool) -> Commit | None:
        self._at_end = None
        if not self._runs_in(record.plan):
            return None
        if record.kind == "flush":
            return self._flushed(record) if is_newest else None
        if record.kind != "batch":
            return None
        self.clock = record.clocks.get(self.query, self.clock)
        return self._folded(self._fold, record, self.clock)

    def _flushed(self, record: Record) -> Commit | None:
        """The end of the input, in a copy: a later batch goes on from before it."""
        fold = self._make()
        fold.restore(self._fold.segments())
        clock = record.clocks.get(self.query, self.clock)
        self._at_end = (fold, clock)
        return self._folded(fold, record, clock)

    def _folded(self, fold: Elements, record: Record, clock: int) -> Commit | None:
        blocks = list(result_blocks(self._home, record, self.query))
        block = fold.take_in(blocks, clock)
        if block is None:
            return None
        return Commit(record.number, clock, block, record.result_rows.get(self.query, 0))

    @property
    def fold(self) -> Elements:
        """All that was read, folded."""
        return self._fold if self._at_end is None else self._at_end[0]

    @property
    def reached(self) -> int:
        """The query's clock after all that was read."""
        return self.clock if self._at_end is None else self._at_end[1]


def require_kept(start: Start, query: str, instant: int, unit: TimeUnit) -> None:
    """The content of a query at an instant is asked for.

    Raises:
        QueryError: It is not kept any more.
    """
    if instant < start.clock - 1 and start.clock != BEGINNING:
        msg = f'the result of query "{query}" at {unit.format(instant)} is not kept any more'
        hint = f"The earliest that is kept is that at {unit.format(start.clock - 1)}."
        raise QueryError(msg, hint=hint)


def content_at(
    home: Home, start: Start, last: int, query: str, instant: int, content: ChangingContent
) -> tuple[pa.Array, ...]:
    """The rows of a query that are valid at an instant before its clock.

    Args:
        home: Where the records are.
        start: Where the results of the query begin.
        last: The newest record.
        query: Its name.
        instant: An instant that is final, and not before what is kept.
        content: An empty one.
    """
    content.take_in(start.blocks, min(start.clock, instant + 1))
    for number in range(start.record, last + 1):
        record = read_record(home, number)
        if record.kind == "batch" or (record.kind == "flush" and number == last):
            blocks = list(result_blocks(home, record, query))
            content.take_in(blocks, min(record.clocks.get(query, BEGINNING), instant + 1))
    return content.current()


def read_record(home: Home, number: int) -> Record:
    """A record of a home.

    Raises:
        DataError: It is not kept any more, or damaged.
    """
    try:
        return home.chain.read(number)
    except DataError:
        numbers = home.chain.numbers()
        if numbers and number < numbers[0]:
            msg = f"the results of record {number} are not kept any more"
            hint = "Read more often, or begin anew with what is kept."
            raise DataError(msg, hint=hint) from None
        raise
