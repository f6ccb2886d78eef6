"""Results kept by their ends: rows come into any sub-window, and reads are of one state."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import Any

import pytest

from penstock.errors import InternalError, Refused
from penstock.reference.arrow_rows import stream_table
from penstock.store.sub_windows.piece import MemoryPiece
from penstock.store.sub_windows.ring import SubWindowRing
from penstock.store.sub_windows.sub_window import SubWindow
from penstock.transactions.latest_scheduler import OnConflict
from penstock.transactions.merging import Merging
from penstock.transactions.read_transactions import Priority
from penstock.transactions.transaction_schedulers import TRANSACTION_SCHEDULERS
from penstock.transactions.window_reads import WindowRead, WindowReads
from transactions.packets import LENGTH, SCHEMA, Packets, merged

SLOTS = 4
RESULTS = Merging(
    merged("SELECT source, COUNT(*) AS n, SUM(size) AS b FROM packets [RANGE 40] GROUP BY source")
)
LARGEST = Merging(merged("SELECT MAX(size) AS b, COUNT(*) AS n FROM packets [RANGE 40]"))
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in TRANSACTION_SCHEDULERS),
    ("lws", {"on_conflict": OnConflict.UNDO}),
    ("ttu", {"on_conflict": OnConflict.UNDO}),
]


class Results:
    """A ring of results by their ends, and each state that it had, kept whole."""

    def __init__(self, scheduler: str, seed: int, **options: Any) -> None:
        self.random = Random(seed)
        self.rows = Packets(seed, 400).rows
        ring = SubWindowRing(LENGTH, SLOTS)
        self.held: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
        self.states: dict[int, list[tuple[Any, ...]]] = {}
        for number in range(SLOTS):
            self.held[number] = self.drawn()
            ring.move(SubWindow.numbered(number, LENGTH, pieces(self.held[number])))
        made = TRANSACTION_SCHEDULERS[scheduler](SLOTS, SLOTS - 1, **options)
        self.reads = WindowReads(ring, made, by_expiry=True)
        self.latest = SLOTS - 1
        self.keep()

    def drawn(self) -> list[tuple[Any, ...]]:
        return list(self.random.choice(self.rows))

    def keep(self) -> None:
        numbers = range(self.latest - SLOTS + 1, self.latest + 1)
        self.states[self.latest] = [row for one in numbers for row in self.held[one]]

    def move(self) -> None:
        """The first results end, others come that end last, and some that end in between."""
        self.latest += 1
        self.held[self.latest] = self.drawn()
        others = [self.latest - self.random.randrange(SLOTS) for _ in range(2)]
        arrivals = {one: self.drawn() for one in others}
        for number, rows in arrivals.items():
            self.held[number] = [*self.held[number], *rows]
        new = self.held[self.latest]
        if self.latest in arrivals:
            new = new[: len(new) - len(arrivals[self.latest])]
        self.keep()
        self.reads.move(
            SubWindow.numbered(self.latest, LENGTH, pieces(new)),
            {number: pieces(rows) for number, rows in arrivals.items()},
        )


def pieces(rows: list[tuple[Any, ...]]) -> list[MemoryPiece]:
    if not rows:
        return []
    table = stream_table(SCHEMA, rows)
    return [MemoryPiece(table.append_column("_ts", table["ts"]))]


def require_right(results: Results, read: WindowRead) -> None:
    assert read.failures == {}
    groups = read.answers["groups"]
    expected: dict[Any, list[int]] = defaultdict(list)
    for one in results.states[groups.number]:
        expected[one[1]].append(one[2])
    wanted = {
        (source, len(sizes), sum(known) if (known := [s for s in sizes if s is not None]) else None)
        for source, sizes in expected.items()
    }
    assert {tuple(one.values()) for one in groups.rows.to_pylist()} == wanted
    largest = read.answers["largest"]
    sizes = [one[2] for one in results.states[largest.number]]
    most = max((one for one in sizes if one is not None), default=None)
    assert largest.rows.to_pylist() == [{"b": most, "n": len(sizes)}]


@pytest.mark.parametrize(("scheduler", "options"), OPTIONS)
def test_reads_are_of_one_state_however_movements_come_between(
    scheduler: str, options: dict[str, Any]
) -> None:
    for seed in range(4):
        results = Results(scheduler, seed, **options)
        reads = []
        for _ in range(40):
            if results.random.random() < 0.2:
                mergings = {"groups": RESULTS, "largest": LARGEST}
                reads.append(results.reads.submit(mergings, results.random.choice(list(Priority))))
            if results.random.random() < 0.3:
                results.move()
            before = [one for one in reads if not one.is_over]
            results.reads.work()
            for one in before:
                if one.is_over and scheduler in ("lws", "ttu"):
                    assert max(a.number for a in one.answers.values()) == results.latest
        while results.reads.work():
            pass
        assert all(one.is_over for one in reads)
        for one in reads:
            require_right(results, one)


def test_who_reads_slowly_is_handed_what_came_into_what_he_has_read() -> None:
    results = Results("ttu", seed=1)
    read = results.reads.submit({"groups": RESULTS, "largest": LARGEST}, Priority.PERIODIC)
    for _ in range(3):
        results.reads.work()
        results.move()
    while results.reads.work():
        pass
    require_right(results, read)
    assert [one.number for one in read.answers.values()] == [SLOTS + 2] * 2
    assert [one.restarts for one in read.answers.values()] == [0, 0]


def test_short_windows_over_results_by_their_ends_are_refused() -> None:
    short = Merging(merged("SELECT size FROM packets [RANGE 20]"))
    with pytest.raises(Refused, match="results that are kept by their ends are read whole"):
        Results("ttu", seed=1).reads.answer(short)


def test_rows_that_come_into_what_is_gone_are_our_bug() -> None:
    ring = SubWindowRing(LENGTH, SLOTS, latest=9)
    with pytest.raises(InternalError, match="sub-window 5 is not there"):
        ring.insert(5, [])
