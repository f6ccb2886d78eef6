"""Window reads: queries and movements of a ring of sub-windows, in as many threads as there are."""

from __future__ import annotations

import threading
from collections import deque
from contextlib import nullcontext
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import Overtaken, Refused
from penstock.store.sub_windows.sub_window import SubWindow
from penstock.transactions.read_transactions import Priority, ReadMember, ReadTransaction

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    import pyarrow as pa

    from penstock.store.sub_windows.piece import Piece
    from penstock.store.sub_windows.ring import Pin, SubWindowRing
    from penstock.transactions.instant_plan import Columns
    from penstock.transactions.merging import Merging
    from penstock.transactions.read_transactions import Scan
    from penstock.transactions.transaction_scheduler import TransactionScheduler


NOTHING: Mapping[int, Sequence[Piece]] = MappingProxyType({})


@dataclass(frozen=True)
class WindowAnswer:
    """The answer of a query over a window.

    Args:
        rows: The rows.
        number: The newest sub-window of the state that was read; the answer is that at its end.
        restarts: How often the query had to begin anew.
    """

    rows: pa.Table
    number: int
    restarts: int


@dataclass(eq=False)
class WindowRead:
    """Queries that share a scan, on their way.

    Attributes:
        answers: Those of the queries that have committed, by name.
        failures: The reasons why others never will.
    """

    mergings: Mapping[str, Merging]
    priority: Priority
    done: Callable[[WindowRead], None]
    answers: dict[str, WindowAnswer] = field(default_factory=dict)
    failures: dict[str, Exception] = field(default_factory=dict)
    parts: dict[tuple[int, str], _TakenPart] = field(default_factory=dict)
    pin: Pin | None = None

    @property
    def is_over(self) -> bool:
        """Every query has its answer, or will have none."""
        return len(self.answers) + len(self.failures) == len(self.mergings)


class _TakenPart(NamedTuple):
    """The partial form of a sub-window, and how many pieces had come into it by then."""

    columns: Columns
    arrived: int


class _Movement(NamedTuple):
    """A sub-window that is to come, and rows that come into others with it."""

    sub_window: SubWindow
    arrivals: Mapping[int, Sequence[Piece]]


@dataclass(frozen=True)
class _Task:
    """A sub-window to be read, and the queries that take it in; it stays while the pin is there."""

    scan: Scan
    read: WindowRead
    sub_window: SubWindow | None
    pin: AbstractContextManager[object]
    arrived: int = 0


@dataclass(frozen=True)
class _Committed:
    """A query that has committed, its parts, and the rows that came into these sub-windows since.

    Only rows that came before the commit are among them.
    """

    member: ReadMember
    read: WindowRead
    number: int
    parts: Sequence[Columns]
    arrivals: Sequence[SubWindow]


class WindowReads:
    """Reads of a ring, and its movements, in the order that a scheduler says.

    Any thread may `move` the ring, `submit` reads, and `work` on them; `answer` does both. The
    scheduler decides under a lock, and sub-windows, which never change, are read outside it.

    Args:
        ring: The window. Nobody else moves it.
        scheduler: Made for its number of slots, and its latest sub-window.
        by_expiry: Whether a sub-window holds the rows that end with it, as results are kept whose
            end is known when they come. Then movements bring rows into any of them, and a query
            reads all.
    """

    def __init__(
        self, ring: SubWindowRing, scheduler: TransactionScheduler, *, by_expiry: bool = False
    ) -> None:
        self._ring = ring
        self._scheduler = scheduler
        self._by_expiry = by_expiry
        self._changed = threading.Condition()
        self._due: deque[_Movement] = deque()
        self._arrived: dict[int, list[Piece]] = {}
        self._reads: dict[ReadMember, WindowRead] = {}

    def move(
        self, sub_window: SubWindow, arrivals: Mapping[int, Sequence[Piece]] = NOTHING
    ) -> None:
        """The window is to move: at once, or as soon as the scheduler allows it.

        Args:
            sub_window: The one that comes.
            arrivals: Rows that come into others with it, where they are kept by their ends. Who has
                read these is handed the rows, and who has not will find them there.
        """
        with self._changed:
            self._due.append(_Movement(sub_window, arrivals))
            self._catch_up()
            self._changed.notify_all()

    def submit(
        self,
        mergings: Mapping[str, Merging],
        priority: Priority,
        done: Callable[[WindowRead], None] = lambda read: None,
    ) -> WindowRead:
        """Want the answers of queries, which share a scan; `done` is told when all are there.

        Raises:
            Refused: The window of a query is none of whole sub-windows, or longer than the ring.
        """
        read = WindowRead(dict(mergings), priority, done)
        members = [ReadMember(name, self._slots_of(one)) for name, one in mergings.items()]
        with self._changed:
            self._reads |= dict.fromkeys(members, read)
            self._scheduler.begin(ReadTransaction(members, priority))
            self._changed.notify_all()
        return read

    def _slots_of(self, merging: Merging) -> int:
        """The number of sub-windows in the window of a query."""
        slots, rest = divmod(merging.query.span, self._ring.length)
        if self._by_expiry and (rest or slots != self._ring.slots):
            msg = "results that are kept by their ends are read whole"
            raise Refused(msg, hint="Which of them are young, their ends do not say.")
        if rest or slots > self._ring.slots:
            most = self._ring.length * self._ring.slots
            msg = f"a window of {merging.query.span} cannot be read in whole sub-windows"
            hint = f"They are {self._ring.length} long, and together {most}: ask for a multiple."
            raise Refused(msg, hint=hint)
        return slots

    def answer(self, merging: Merging, priority: Priority = Priority.ONE_TIME) -> WindowAnswer:
        """The answer of a query, for which this thread works.

        Raises:
            Overtaken: The window moved on each time before it had read it.
            DataError: A file of a sub-window is missing or damaged.
            Refused: The window is none of whole sub-windows.
        """
        read = self.submit({"Q": merging}, priority)
        while not read.is_over:
            if not self.work():
                self.wait(lambda: read.is_over)
        for failure in read.failures.values():
            raise failure
        return read.answers["Q"]

    def work(self) -> bool:
        """Read one sub-window; whether there was one to be read."""
        task = self._next()
        if task is None:
            return False
        try:
            self._take_in(task)
        except Exception as error:
            # Whoever wanted the answer is told; this thread may be working for another.
            self._give_up(task, error)
            return True
        with self._changed:
            ended = [self._ended(one, task.read) for one in self._scheduler.finish(task.scan)]
            self._catch_up()
            if not task.scan.transaction.members:
                self._release(task.read)
            self._changed.notify_all()
        for one in ended:
            self._end(one)
        return True

    def _take_in(self, task: _Task) -> None:
        """Compute the partial forms of a sub-window; what is undone is just not asked for."""
        if task.sub_window is None:
            return
        with task.pin:
            takers = [task.read.mergings[one.name] for one in task.scan.members]
            for form, merging in {one.form: one for one in takers}.items():
                part = _TakenPart(merging.part(task.sub_window), task.arrived)
                task.read.parts[task.scan.number, form] = part

    def _give_up(self, task: _Task, error: Exception) -> None:
        """No query of a scan has an answer."""
        with self._changed:
            transaction, read = task.scan.transaction, task.read
            for member in list(transaction.members):
                self._scheduler.dismiss(transaction, member)
                self._fail(member, error)
            self._release(read)
            self._catch_up()
            self._changed.notify_all()

    def _fail(self, member: ReadMember, error: Exception) -> None:
        read = self._reads.pop(member)
        read.failures[member.name] = error
        if read.is_over:
            read.done(read)

    def _release(self, read: WindowRead) -> None:
        if read.pin is not None:
            read.pin.release()

    def wait(self, until: Callable[[], bool], seconds: float = 0.05) -> None:
        """Let others go on, until something has changed, or for some seconds."""
        with self._changed:
            if not until():
                self._changed.wait(seconds)

    def _next(self) -> _Task | None:
        with self._changed:
            scan = self._scheduler.choose()
            if scan is None:
                return None
            read = self._reads[scan.transaction.members[0]]
            if scan.undo:
                return _Task(scan, read, None, nullcontext())
            if not self._scheduler.keeps_state:
                pin = self._ring.pin()
                sub_window = pin.sub_windows[pin.latest - scan.number]
                arrived = len(self._arrived.get(scan.number, ()))
                return _Task(scan, read, sub_window, pin, arrived)
            if read.pin is None:
                read.pin = self._ring.pin(scan.transaction.window)
            sub_window = read.pin.sub_windows[read.pin.latest - scan.number]
            return _Task(scan, read, sub_window, nullcontext())

    def _catch_up(self) -> None:
        """Movements that are due take effect, as far as they may; who is given up is told."""
        while self._due and self._scheduler.may_move():
            self._scheduler.move()
            sub_window, arrivals = self._due.popleft()
            self._ring.move(sub_window)
            self._arrived.pop(sub_window.number - self._ring.slots, None)
            for number, pieces in arrivals.items():
                self._ring.insert(number, pieces)
                self._arrived.setdefault(number, []).extend(pieces)
        while self._scheduler.failed:
            member = self._scheduler.failed.pop()
            msg = (
                f"the window moved on {max(member.restarts, member.lost)} times before the query"
                f" had read its {member.window} sub-windows"
            )
            hint = "Let it read the youngest first (ttu), or make sub-windows longer."
            self._fail(member, Overtaken(msg, hint=hint))

    def _ended(self, member: ReadMember, read: WindowRead) -> _Committed:
        """The state that a query has read, as it is at its commit."""
        assert member.answers is not None
        form = read.mergings[member.name].form
        numbers = member.wanted(member.answers)
        parts = [read.parts[one, form] for one in numbers]
        arrivals = []
        if not self._scheduler.keeps_state:
            for number, part in zip(numbers, parts, strict=True):
                pieces = self._arrived.get(number, [])[part.arrived :]
                arrivals += [SubWindow.numbered(number, self._ring.length, pieces)] * bool(pieces)
        columns = [one.columns for one in parts]
        return _Committed(member, read, member.answers, columns, arrivals)

    def _end(self, one: _Committed) -> None:
        """Make the answer of a query that has committed."""
        member, read = one.member, one.read
        merging = read.mergings[member.name]
        try:
            handed = [merging.part(sub_window) for sub_window in one.arrivals]
            rows = merging.whole([*one.parts, *handed])
        except Exception as error:
            with self._changed:
                self._fail(member, error)
                self._changed.notify_all()
            return
        with self._changed:
            del self._reads[member]
            read.answers[member.name] = WindowAnswer(rows, one.number, member.restarts)
            self._changed.notify_all()
            is_over = read.is_over
        if is_over:
            read.done(read)
