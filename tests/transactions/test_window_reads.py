"""Reads and movements of a ring for real: several threads, Arrow rows, answers of the oracle."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from penstock.errors import DataError, Overtaken, Refused
from penstock.store.sub_windows.piece import MemoryPiece
from penstock.store.sub_windows.ring import SubWindowRing
from penstock.store.sub_windows.sub_window import SubWindow
from penstock.transactions.histories import Operation, TransactionHistory
from penstock.transactions.isolation import Isolation, verdict_of
from penstock.transactions.latest_scheduler import OnConflict
from penstock.transactions.merging import Merging
from penstock.transactions.read_transactions import Priority
from penstock.transactions.transaction_schedulers import TRANSACTION_SCHEDULERS
from penstock.transactions.window_reads import WindowRead, WindowReads
from transactions.packets import LENGTH, Packets, bound, merged, same

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from penstock.reference.timeline import Row

SLOTS, MOVES = 4, 25
QUERIES = {
    "totals": "SELECT source, SUM(size) AS b, MEDIAN(size) AS m"
    " FROM packets [RANGE 40] GROUP BY source",
    "top": "SELECT source, SUM(size) AS b"
    " FROM packets [RANGE 20] GROUP BY source ORDER BY b LIMIT 2",
    "asked": "SELECT COUNT(*) AS n, MAX(cost) AS c FROM packets [RANGE 30] WHERE size > 0",
}
SHARING, ASKED = ("totals", "top"), ("asked",)
MERGINGS = {name: Merging(merged(query)) for name, query in QUERIES.items()}
PACKETS = Packets(seed=2, numbers=SLOTS + MOVES)


class Store:
    """A ring that is full, who reads it, and the history."""

    def __init__(self, scheduler: str, **options: Any) -> None:
        self.dropped: list[int] = []
        self.operations: list[Operation] = []
        self.windows: dict[str, int] = {}
        self.ring = SubWindowRing(
            LENGTH, SLOTS, dropped=lambda one: self.dropped.append(one.number)
        )
        for number in range(SLOTS):
            self.ring.move(PACKETS.sub_window(number))
        self.dropped.clear()
        record = self.operations.append
        made = TRANSACTION_SCHEDULERS[scheduler](SLOTS, SLOTS - 1, record, **options)
        self.reads = WindowReads(self.ring, made)

    def submit(self, queries: Sequence[str], priority: Priority = Priority.PERIODIC) -> WindowRead:
        """Queries that share a scan, under names that no others have."""
        names = {f"{one}_{len(self.windows)}": one for one in queries}
        self.windows |= {name: MERGINGS[one].query.span // LENGTH for name, one in names.items()}
        return self.reads.submit({name: MERGINGS[one] for name, one in names.items()}, priority)

    def move(self, number: int) -> None:
        self.reads.move(PACKETS.sub_window(number))

    def verdict(self) -> Isolation:
        operations = tuple(self.operations)
        return verdict_of(TransactionHistory(SLOTS, operations, self.windows, SLOTS - 1))


@cache
def expected(query: str, number: int) -> list[Row]:
    return PACKETS.expected(bound(QUERIES[query]), number)


def require_right(read: WindowRead) -> None:
    assert not read.failures
    for name, answer in read.answers.items():
        assert same(expected(name.split("_")[0], answer.number), answer.rows)


@pytest.mark.parametrize("scheduler", TRANSACTION_SCHEDULERS)
def test_threads_that_read_while_another_moves_have_the_answers_of_the_oracle(
    scheduler: str,
) -> None:
    store, found, stop = Store(scheduler), list[WindowRead](), threading.Event()
    naming = threading.Lock()

    def reader(queries: Sequence[str], priority: Priority) -> None:
        while not stop.is_set():
            with naming:
                read = store.submit(queries, priority)
            while not read.is_over:
                if not store.reads.work():
                    store.reads.wait(lambda over=read: over.is_over)  # type: ignore[misc]
            found.append(read)

    arguments = [
        (SHARING, Priority.PERIODIC),
        (ASKED, Priority.ONE_TIME),
        (ASKED, Priority.PERIODIC),
    ]
    threads = [threading.Thread(target=reader, args=one, daemon=True) for one in arguments]
    for one in threads:
        one.start()
    for number in range(SLOTS, SLOTS + MOVES):
        before = len(found)
        store.move(number)
        while len(found) == before:
            assert all(one.is_alive() for one in threads)
            stop.wait(0.001)
    stop.set()
    for one in threads:
        one.join()
    for read in found:
        require_right(read)
    assert store.verdict() >= TRANSACTION_SCHEDULERS[scheduler].isolation
    assert store.ring.latest == SLOTS + MOVES - 1
    assert store.ring.pins == ()
    assert sorted(store.dropped) == list(range(MOVES))


@pytest.mark.parametrize("on_conflict", OnConflict)
def test_a_read_that_a_movement_overtakes_has_the_answer_of_the_latest_window(
    on_conflict: OnConflict,
) -> None:
    store = Store("lws", on_conflict=on_conflict)
    read = store.submit(SHARING)
    for number in range(SLOTS, SLOTS + 3):
        store.reads.work()
        store.reads.work()
        store.move(number)
    while store.reads.work():
        pass
    require_right(read)
    assert {one.number for one in read.answers.values()} <= {SLOTS + 1, SLOTS + 2}
    assert any(one.restarts for one in read.answers.values()) == (on_conflict is OnConflict.ABORT)
    assert store.verdict() is Isolation.LATEST


def test_the_state_that_a_read_began_with_is_kept_for_it() -> None:
    store = Store("ws")
    read = store.submit(("totals",))
    store.reads.work()
    for number in range(SLOTS, SLOTS + 2):
        store.move(number)
    assert store.dropped == []
    while store.reads.work():
        pass
    assert [one.number for one in read.answers.values()] == [SLOTS - 1]
    require_right(read)
    assert sorted(store.dropped) == [0, 1]


def test_who_is_overtaken_again_and_again_is_told() -> None:
    store = Store("lws", most_restarts=1)
    read = store.submit(("totals",))
    for number in range(SLOTS, SLOTS + 8):
        store.reads.work()
        store.reads.work()
        store.move(number)
    (failure,) = read.failures.values()
    assert isinstance(failure, Overtaken)
    assert str(failure) == (
        "the window moved on 2 times before the query had read its 4 sub-windows\n"
        "  Let it read the youngest first (ttu), or make sub-windows longer."
    )


@pytest.mark.parametrize("span", [15, 50])
def test_a_window_that_is_none_of_whole_sub_windows_is_refused(span: int) -> None:
    merging = Merging(merged(f"SELECT size FROM packets [RANGE {span}]"))
    with pytest.raises(Refused, match=f"a window of {span} cannot be read in whole sub-windows"):
        Store("ttu").reads.answer(merging)


class Damaged(MemoryPiece):
    """A piece whose file is gone."""

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        msg = "a file is missing"
        raise DataError(msg)


@pytest.mark.parametrize("scheduler", TRANSACTION_SCHEDULERS)
def test_a_damaged_sub_window_fails_those_who_read_it_and_nobody_else(scheduler: str) -> None:
    store = Store(scheduler)
    piece = next(one for one in map(PACKETS.sub_window, range(SLOTS)) if one.pieces).pieces[0]
    store.reads.move(SubWindow.numbered(SLOTS, LENGTH, [Damaged(piece.table())]))
    with pytest.raises(DataError, match="a file is missing"):
        store.reads.answer(MERGINGS["totals"])
    for number in range(SLOTS + 1, 2 * SLOTS + 1):
        store.move(number)
    answer = store.reads.answer(MERGINGS["totals"])
    assert same(expected("totals", answer.number), answer.rows)
    assert store.ring.pins == ()
