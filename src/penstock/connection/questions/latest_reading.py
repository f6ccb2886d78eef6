"""Latest reading: a question that is answered for the state at the end of its reading.

Whole sub-windows inside the window are read as a window transaction, youngest first, while others
are sealed and the window moves on. What stands at its two edges changes with every instant, so it
is read when all else has been, and once more if rows have come meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING
from penstock.connection.questions.coverage import covered
from penstock.connection.questions.retained_reading import require_within, rows_of
from penstock.errors import Overtaken
from penstock.operators.saved_tables import arrays_of
from penstock.store.sub_windows.sub_window import SubWindow
from penstock.transactions.farthest_update_scheduler import FarthestUpdateScheduler
from penstock.transactions.latest_scheduler import OnConflict
from penstock.transactions.merging import Merging
from penstock.transactions.read_transactions import Priority, ReadMember, ReadTransaction

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.connection.questions.store_view import RetainedStream, StoreView
    from penstock.planner.merged_queries import MergedQuery
    from penstock.planner.physical.building import Choices
    from penstock.transactions.instant_plan import Columns

MOST_STATES = 100
"""So many states are tried, if each is gone before it was read."""
MOST_SUB_WINDOWS = 500
"""A window of more is not read one by one: the turns would take longer than reading it at once."""


@dataclass(frozen=True)
class _State:
    """The window of a question as one view has it.

    Args:
        stream: Its stream.
        instant: The last final instant.
        span: The length of the window.
    """

    stream: RetainedStream
    instant: int
    span: int

    @property
    def length(self) -> int:
        """The length of a sub-window."""
        first = self.stream.sub_windows[0]
        return first.end - first.start

    @property
    def whole(self) -> int:
        """The number of sub-windows that are complete, and inside the window at any instant."""
        return max(self.span // self.length - 1, 0)

    @property
    def latest(self) -> int:
        """The number of the youngest that is complete."""
        return (self.instant + 1) // self.length - 1

    @property
    def edges(self) -> list[tuple[int, int]]:
        """The first and last instants of what is not read by whole sub-windows."""
        start = max(self.instant - self.span + 1, BEGINNING)
        oldest = (self.latest - self.whole + 1) * self.length
        if self.whole == 0:
            return [(start, self.instant)]
        return [(start, oldest - 1), ((self.latest + 1) * self.length, self.instant)]

    def sub_window(self, number: int) -> SubWindow:
        """A sub-window by its number; one that has no rows is not kept."""
        found = [one for one in self.stream.sub_windows if one.number == number]
        return found[0] if found else SubWindow.numbered(number, self.length)


class LatestReading:
    """A merged question, and the views that it reads one after the other.

    Args:
        query: The question, with the rows that its order may show.
        plan: The same without an order.
        view: The first view, which is not released here.
        choices: How its operators run.
        limit: The bytes that it may read of the stream; None: any number.

    Attributes:
        states: How many states were read, or begun to be.
    """

    def __init__(
        self,
        query: MergedQuery,
        plan: Plan,
        view: StoreView,
        choices: Choices,
        limit: int | None,
    ) -> None:
        self._merging = Merging(query, choices)
        self._plan = plan
        self._first = self._view = view
        self._limit = limit
        self._parts: dict[int, Columns] = {}
        self._state = self._seen()
        self.states = 1

    @property
    def is_too_fine(self) -> bool:
        """The window has too many sub-windows to read them one by one."""
        return bool(self._state.stream.sub_windows) and self._state.whole > MOST_SUB_WINDOWS

    def answer(self) -> tuple[Columns, int]:
        """The columns of the answer, and the instant that they are the answer for.

        Raises:
            Refused: The window reaches beyond what is retained, or more than is allowed.
            DataError: A file is missing or damaged.
            Overtaken: Rows came each time before a state had been read.
        """
        try:
            while self.states <= MOST_STATES:
                self._read_whole()
                columns = self._merged()
                if not self._moves_on():
                    return columns, self._state.instant
        finally:
            self._let_go()
        raise self._overtaken()

    def _overtaken(self) -> Overtaken:
        msg = f"rows came {self.states - 1} times while the question was being answered"
        hint = "SET isolation = window answers it for the state at its beginning."
        return Overtaken(msg, hint=hint)

    def _seen(self) -> _State:
        """The window in the view.

        Raises:
            Refused: Not enough is retained, or too much would be read.
        """
        query = self._merging.query
        stream = self._view.stream(query.stream.name)
        instant = stream.watermark - 1 if stream.watermark > BEGINNING else BEGINNING
        covered(self._plan, instant, self._view)
        require_within(stream, instant - query.span + 1, instant, self._limit)
        return _State(stream, instant, query.span)

    def _read_whole(self) -> None:
        """Read the sub-windows that are missing, in the order of a window transaction."""
        if not self._state.stream.sub_windows or not self._state.whole:
            return
        length, whole = self._state.length, self._state.whole
        scheduler = FarthestUpdateScheduler(whole, self._state.latest, on_conflict=OnConflict.UNDO)
        member = ReadMember("question", whole)
        member.taken |= self._parts.keys() & set(member.wanted(scheduler.latest))
        scheduler.begin(ReadTransaction([member], Priority.ONE_TIME))
        while not member.is_complete(scheduler.latest):
            scan = scheduler.choose()
            if scan is None:
                raise self._overtaken()
            # Parts are kept one by one: to undo a read is not to ask for its part.
            if not scan.undo:
                sub_window = self._state.sub_window(scan.number)
                self._parts[scan.number] = self._merging.part(sub_window)
            self._moves_on()
            if (self._state.length, self._state.whole) != (length, whole):
                return
            while scheduler.latest < self._state.latest:
                scheduler.move()
            scheduler.finish(scan)

    def _merged(self) -> Columns:
        """The answer in the state that was seen last."""
        state, schema = self._state, self._merging.query.stream.schema
        if not state.stream.sub_windows:
            return tuple(arrays_of(self._merging.whole([])))
        numbers = range(state.latest - state.whole + 1, state.latest + 1)
        edges = [
            self._merging.part_of(rows_of(state.stream, schema, start, end).columns)
            for start, end in state.edges
            if start <= end
        ]
        missing = [one for one in numbers if one not in self._parts]
        self._parts |= {one: self._merging.part(state.sub_window(one)) for one in missing}
        whole = [self._parts[one] for one in numbers]
        return tuple(arrays_of(self._merging.whole([*whole, *edges])))

    def _moves_on(self) -> bool:
        """Look at the newest view; whether the window has moved since the one before."""
        newer = self._view.newer()
        if newer is self._view:
            return False
        self._let_go()
        self._view = newer
        before, self._state = self._state, self._seen()
        has_rows = self._state.stream.sub_windows and before.stream.sub_windows
        if has_rows and self._state.length != before.length:
            self._parts.clear()
        if self._state.instant == before.instant:
            return False
        self.states += 1
        return True

    def _let_go(self) -> None:
        if self._view is not self._first:
            self._view.release()
