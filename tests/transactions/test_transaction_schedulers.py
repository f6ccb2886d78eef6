"""The four schedulers: what each promises, on random interleavings and on all small ones."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InternalError
from penstock.transactions.farthest_update_scheduler import FarthestUpdateScheduler
from penstock.transactions.histories import Act
from penstock.transactions.isolation import Isolation, verdict_of
from penstock.transactions.latest_scheduler import LatestScheduler, OnConflict
from penstock.transactions.read_transactions import (
    Priority,
    ReadMember,
    ReadTransaction,
    single,
)
from penstock.transactions.serial_scheduler import SerialScheduler
from penstock.transactions.transaction_schedulers import TRANSACTION_SCHEDULERS
from penstock.transactions.window_scheduler import WindowScheduler
from transactions.simulation import Simulation

if TYPE_CHECKING:
    from penstock.transactions.transaction_scheduler import TransactionScheduler

LATEST = (LatestScheduler, FarthestUpdateScheduler)
KINDS = [
    *((kind, {}) for kind in TRANSACTION_SCHEDULERS.values()),
    *((kind, {"on_conflict": OnConflict.UNDO}) for kind in LATEST),
]


def test_the_list_knows_every_scheduler() -> None:
    known = {SerialScheduler, WindowScheduler, LatestScheduler, FarthestUpdateScheduler}
    assert set(TRANSACTION_SCHEDULERS.values()) == known
    assert all(name == kind.name for name, kind in TRANSACTION_SCHEDULERS.items())


transactions = st.builds(
    lambda windows, priority: (windows, priority),
    st.lists(st.integers(1, 5), min_size=1, max_size=3),
    st.sampled_from(Priority),
)
"""The windows of those who share a scan, and their class."""


@pytest.mark.parametrize(("kind", "options"), KINDS)
@given(data=st.data())
def test_random_interleavings_have_the_isolation_that_is_promised(
    kind: type[TransactionScheduler], options: dict[str, Any], data: st.DataObject
) -> None:
    simulation, windows = Simulation(kind, 5, **options), dict[str, int]()
    for action in data.draw(st.lists(st.sampled_from("RRRRWWB"), max_size=40)):
        if action != "B":
            simulation.perform(action)
            continue
        lengths, priority = data.draw(transactions)
        members = [ReadMember(f"q{len(windows) + n}", one) for n, one in enumerate(lengths)]
        windows |= {one.name: one.window for one in members}
        simulation.begin(ReadTransaction(members, priority))
    simulation.finish()
    assert verdict_of(simulation.history(windows)) >= kind.isolation
    assert {one.name for one in simulation.committed} == set(windows)
    assert simulation.due == 0


@pytest.mark.parametrize("kind", TRANSACTION_SCHEDULERS.values())
def test_without_movements_every_sub_window_is_read_once(kind: type[TransactionScheduler]) -> None:
    simulation = Simulation(kind, 4)
    simulation.begin(single("A", 4), single("B", 2))
    simulation.finish()
    assert simulation.count(Act.READ) == 6
    assert verdict_of(simulation.history({"B": 2})) is Isolation.LATEST


def test_serial_lets_movements_wait_and_others_do_not() -> None:
    moved = {}
    for name, kind in TRANSACTION_SCHEDULERS.items():
        simulation = Simulation(kind, 3)
        simulation.begin(single("A", 3), single("B", 3))
        simulation.perform("RW")
        moved[name] = simulation.scheduler.latest
        simulation.perform("RR")
        # Movements that have waited precede the next query.
        assert simulation.scheduler.latest == 3
    assert moved == {"serial": 2, "ws": 3, "lws": 3, "ttu": 3}


def test_one_time_reads_suspend_periodic_ones_but_under_serial() -> None:
    first = {}
    for name, kind in TRANSACTION_SCHEDULERS.items():
        simulation = Simulation(kind, 3)
        simulation.begin(single("periodic", 3))
        simulation.perform("R")
        simulation.begin(single("asked", 3, Priority.ONE_TIME))
        simulation.finish()
        first[name] = simulation.committed[0].name
    assert first == {"serial": "periodic", "ws": "asked", "lws": "asked", "ttu": "asked"}


def test_a_suspended_read_goes_on_in_the_window_that_is_there_then() -> None:
    simulation = Simulation(FarthestUpdateScheduler, 3)
    simulation.begin(single("periodic", 3))
    simulation.perform("R")
    simulation.begin(single("asked", 3, Priority.ONE_TIME))
    simulation.perform("RWRRRR")
    simulation.finish()
    assert simulation.count(Act.ABORT) == 0
    assert {one.answers for one in simulation.committed} == {3}


def attempts(window: int, most_moves: int) -> list[str]:
    """All traces of as many reads as a window has sub-windows, with some movements between."""
    return [
        "R" + "".join("W" * gap + "R" for gap in gaps)
        for gaps in product(range(most_moves + 1), repeat=window - 1)
        if sum(gaps) <= most_moves
    ]


def can_commit(trace: str, length: int, window: int) -> bool:
    """Whether some order of reads leads to the latest window at the end; each is tried."""

    def goes_on(at: int, latest: int, taken: frozenset[int]) -> bool:
        if at == len(trace):
            return taken == set(range(latest - window + 1, latest + 1))
        if trace[at] == "W":
            return goes_on(at + 1, latest + 1, taken)
        wanted = set(range(latest - window + 1, latest + 1)) - taken
        return any(goes_on(at + 1, latest, taken | {one}) for one in wanted)

    return goes_on(0, length - 1, frozenset())


def keeps_pace(trace: str, window: int) -> bool:
    """Hall's condition: at most window - i movements behind read i."""
    behind, read = trace.count("W"), 0
    for one in trace:
        behind -= one == "W"
        read += one == "R"
        if one == "R" and behind > window - read:
            return False
    return True


def commits(kind: type[LatestScheduler], trace: str, length: int, window: int) -> bool:
    simulation = Simulation(kind, length, most_restarts=0)
    simulation.begin(single("Q", window))
    simulation.perform(trace)
    return bool(simulation.committed)


@pytest.mark.parametrize(("length", "window"), [(1, 1), (3, 2), (3, 3), (4, 4), (5, 3), (5, 5)])
def test_farthest_update_first_aborts_least_of_all_orders(length: int, window: int) -> None:
    for trace in attempts(window, most_moves=window + 1):
        possible = can_commit(trace, length, window)
        assert possible == keeps_pace(trace, window), trace
        assert commits(FarthestUpdateScheduler, trace, length, window) == possible, trace


def test_the_order_of_the_array_aborts_where_another_does_not() -> None:
    assert commits(FarthestUpdateScheduler, "RWRR", 3, 3)
    assert not commits(LatestScheduler, "RWRR", 3, 3)
    assert not commits(FarthestUpdateScheduler, "RRWWR", 3, 3)


@pytest.mark.parametrize("length", [2, 5, 10])
def test_one_movement_at_any_phase_aborts_the_order_of_the_array_in_nearly_half(
    length: int,
) -> None:
    aborted = 0
    for phase, reads in product(range(length), range(length)):
        simulation = Simulation(LatestScheduler, length)
        simulation.perform("W" * phase)
        simulation.begin(single("Q", length))
        simulation.perform("R" * reads + "W")
        aborted += simulation.count(Act.ABORT)
    assert aborted * 2 * length == (length - 1) * length**2


def least(trace: str, length: int, *, undo: bool) -> int:
    """The fewest aborts, or undone reads, of one query that reads the whole array in any order.

    A read of what has left takes a turn. Behind the trace only reads come.
    """

    @cache
    def price(at: int, latest: int, taken: frozenset[int], undoing: int) -> int:
        window = frozenset(range(latest - length + 1, latest + 1))
        if not undoing and taken == window:
            return 0
        if trace[at : at + 1] == "W":
            gone = latest + 1 - length
            if gone not in taken:
                return price(at + 1, latest + 1, taken, undoing)
            left = taken - {gone} if undo else frozenset[int]()
            return 1 + price(at + 1, latest + 1, left, undoing + undo)
        if at >= len(trace) and not undo:
            return 0
        if undoing:
            return price(at + 1, latest, taken, undoing - 1)
        return min(price(at + 1, latest, taken | {one}, 0) for one in window - taken)

    return price(0, length - 1, frozenset(), 0)


def farthest_first(trace: str, length: int, **options: Any) -> Simulation:
    simulation = Simulation(FarthestUpdateScheduler, length, **options)
    simulation.begin(single("Q", length))
    simulation.perform(trace)
    simulation.finish()
    return simulation


def test_with_restarts_inside_a_trace_another_order_can_do_better() -> None:
    """The theorem is about attempts: here, to fail early leaves time for the next one."""
    assert farthest_first("RWRWWRRWW", 3).count(Act.ABORT) == 2
    assert least("RWRWWRRWW", 3, undo=False) == 1


def test_farthest_update_first_undoes_nothing_where_some_order_can() -> None:
    for trace in ("R" + "".join(rest) for rest in product("RW", repeat=6)):
        undone = farthest_first(trace, 3, on_conflict=OnConflict.UNDO).count(Act.UNDO)
        assert (undone == 0) == (least(trace, 3, undo=True) == 0), trace


@given(
    st.integers(2, 6),
    st.lists(st.integers(1, 6), min_size=1, max_size=4),
    st.lists(st.integers(0, 4), max_size=20),
)
def test_who_reads_between_any_two_movements_is_never_aborted(
    length: int, windows: list[int], more: list[int]
) -> None:
    simulation = Simulation(FarthestUpdateScheduler, length)
    for number, window in enumerate(windows):
        priority = Priority(number % 2)
        simulation.begin(single(f"q{number}", min(window, length), priority))
    for reads in more:
        begun = sum(one.begun is not None for one in simulation.scheduler.running)
        simulation.perform("R" * (begun + reads) + "W")
    simulation.finish()
    assert simulation.count(Act.ABORT) == 0
    assert len(simulation.committed) == len(windows)


def test_each_member_of_a_shared_scan_has_its_own_abort_test() -> None:
    simulation = Simulation(FarthestUpdateScheduler, 4)
    long, short = ReadMember("long", 4), ReadMember("short", 2)
    simulation.begin(ReadTransaction([long, short]))
    # Sub-window 3 leaves the short window with movement 5, and stays in the long one.
    simulation.perform("RWW")
    assert (long.restarts, short.restarts) == (0, 1)
    simulation.finish()
    assert [long.answers, short.answers] == [5, 5]
    history = simulation.history({"short": 2})
    assert verdict_of(history) is Isolation.LATEST
    assert simulation.count(Act.READ) == 4 + 1 + 2


def test_who_is_aborted_in_a_shared_scan_begins_anew_alone_and_the_others_go_on() -> None:
    simulation = Simulation(FarthestUpdateScheduler, 4)
    shared = ReadTransaction([ReadMember("long", 4), ReadMember("short", 2)])
    simulation.begin(shared)
    simulation.perform("RWW")
    assert [one.name for one in shared.members] == ["long"]
    assert (shared.begun, shared.members[0].taken) == (3, {3})
    alone = [one for one in simulation.scheduler.running if one is not shared]
    assert [[member.name for member in one.members] for one in alone] == [["short"]]
    assert alone[0].begun is None


def test_those_of_a_class_read_in_turns() -> None:
    simulation = Simulation(WindowScheduler, 4)
    simulation.begin(single("P", 4))
    simulation.begin(single("Q", 4))
    simulation.perform("RRRR")
    reads = [one.query for one in simulation.history({}).operations if one.act is Act.READ]
    assert reads == ["P", "Q", "P", "Q"]


def test_who_has_not_read_since_the_last_movement_goes_before_one_time_queries() -> None:
    simulation = Simulation(FarthestUpdateScheduler, 4)
    simulation.begin(single("P", 4))
    simulation.perform("RW")
    simulation.begin(single("O", 4, Priority.ONE_TIME))
    simulation.perform("RR")
    reads = [one.query for one in simulation.history({}).operations if one.act is Act.READ]
    assert reads == ["P", "P", "O"]


def test_a_shared_scan_reads_once_what_several_want() -> None:
    simulation = Simulation(WindowScheduler, 4)
    simulation.begin(ReadTransaction([ReadMember("long", 4), ReadMember("short", 2)]))
    reads = 0
    while simulation.read():
        reads += 1
    assert reads == 4
    assert simulation.count(Act.READ) == 6


def test_what_was_read_in_vain_is_undone_instead_of_aborted() -> None:
    counts = {}
    for kind in LATEST:
        simulation = Simulation(kind, 4, on_conflict=OnConflict.UNDO)
        simulation.begin(single("Q", 4))
        simulation.perform("RRWRRR")
        simulation.finish()
        assert verdict_of(simulation.history({})) is Isolation.LATEST
        assert simulation.count(Act.ABORT) == 0
        counts[kind.name] = simulation.count(Act.UNDO)
    assert counts == {"lws": 1, "ttu": 0}


def test_who_is_overtaken_too_often_is_given_up() -> None:
    simulation = Simulation(LatestScheduler, 3, most_restarts=2)
    simulation.begin(single("Q", 3))
    simulation.perform("RRWW" * 5)
    assert [one.name for one in simulation.scheduler.failed] == ["Q"]
    assert simulation.count(Act.ABORT) == 3
    assert not simulation.scheduler.running


def test_a_movement_during_a_read_takes_effect_before_it() -> None:
    windows = {"whole": 3, "short": 1}
    for kind in LATEST:
        simulation = Simulation(kind, 3, most_restarts=1)
        scheduler = simulation.scheduler
        simulation.begin(ReadTransaction([ReadMember(*one) for one in windows.items()]))
        scan = scheduler.choose()
        assert scan is not None
        simulation.move()
        assert scheduler.finish(scan) == []
        # Sub-window 0 or 2 is in no window of one any more; of three, 2 still is.
        simulation.finish()
        assert {one.name for one in simulation.committed} == set(windows)
        assert verdict_of(simulation.history(windows)) is Isolation.LATEST
        assert simulation.count(Act.ABORT) == 0


def test_who_reads_in_vain_too_often_is_given_up() -> None:
    simulation = Simulation(FarthestUpdateScheduler, 3, most_restarts=2)
    simulation.begin(single("Q", 1))
    for _ in range(3):
        scan = simulation.scheduler.choose()
        assert scan is not None
        simulation.move()
        simulation.scheduler.finish(scan)
    assert [one.name for one in simulation.scheduler.failed] == ["Q"]
    assert simulation.scheduler.choose() is None


@pytest.mark.parametrize("members", [[], [ReadMember("Q", 0)], [ReadMember("Q", 4)]])
def test_a_read_of_what_is_not_there_is_our_bug(members: list[ReadMember]) -> None:
    with pytest.raises(InternalError, match="a read of 1 to 3 sub-windows"):
        SerialScheduler(3, 2).begin(ReadTransaction(members))
