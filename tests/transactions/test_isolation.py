"""The checker: histories of the theory, and random ones against states that are kept whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import DataError
from penstock.transactions.histories import Act, Operation, TransactionHistory, read_history
from penstock.transactions.isolation import Isolation, judged, judgements, verdict_of
from transactions.conflict_graph import edges, is_acyclic, keeps_commit_order

AFTER_BOTH = {("T5", "Q"), ("T6", "Q")}
BEFORE_BOTH = {("Q", "T5"), ("Q", "T6")}

# Five sub-windows, of which a query reads all; reads name places of the array.
FIVE = {
    "Ha": ("r4 r0 W5 W6 r1 r2 r3 cQ", {("T6", "Q"), ("Q", "T5")}, (0, 2, 3, 4, 6), "NONE"),
    "Hb": ("r4 r0 r1 W5 W6 r2 r3 cQ", BEFORE_BOTH, (0, 1, 2, 3, 4), "WINDOW"),
    "Hc": ("r4 W5 r0 r1 W6 r2 r3 cQ", {("T5", "Q"), ("Q", "T6")}, (1, 2, 3, 4, 5), "WINDOW"),
    "Hd": ("r4 W5 W6 r0 r1 r2 r3 cQ", AFTER_BOTH, (2, 3, 4, 5, 6), "LATEST"),
    "He": ("r4 W5 r0 r3 r2 W6 r1 cQ", AFTER_BOTH, (2, 3, 4, 5, 6), "LATEST"),
    "Hf": ("r0 W5 r1 r2 r3 W6 r4 cQ", BEFORE_BOTH, (0, 1, 2, 3, 4), "WINDOW"),
    "Hg": ("r4 r0 w5 W6 r1 r2 r3 cQ c5", {("T6", "Q"), ("Q", "T5")}, (0, 2, 3, 4, 6), "NONE"),
    "Hh": ("r4 W5 w6 r0 r1 r2 r3 cQ c6", AFTER_BOTH, (2, 3, 4, 5, 6), "LATEST"),
}  # fmt: skip


@pytest.mark.parametrize("name", FIVE)
def test_a_history_of_the_theory_has_its_conflicts_and_its_verdict(name: str) -> None:
    text, conflicts, read, verdict = FIVE[name]
    history = read_history(text, 5, by_place=True)
    (judgement,) = judgements(history)
    assert edges(history) == conflicts
    assert judgement.read == read
    assert judgement.isolation is Isolation[verdict]
    assert is_acyclic(edges(history))


def test_commit_order_is_another_thing_than_reading_the_latest_window() -> None:
    found = {
        name: keeps_commit_order(read_history(FIVE[name][0], 5, by_place=True)) for name in FIVE
    }
    assert {name for name, holds in found.items() if holds} == {"Hd", "He", "Hg"}


def test_a_movement_behind_the_commit_does_not_matter() -> None:
    history = read_history("r4 W5 r0 r3 r2 r1 cQ W6", 5, by_place=True)
    assert verdict_of(history) is Isolation.LATEST


# Windows of two sub-windows, the youngest of five.
@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        # Its window has lost sub-window 3, and no conflict says so: only place 0 was written.
        ("r3 W5 r4 cQ", Isolation.WINDOW),
        ("r4 W5 r0 cQ", Isolation.LATEST),
        ("r4 W5 W6 r0 cQ", Isolation.WINDOW),
        ("r2 r3 cQ", Isolation.WINDOW),
        ("r4 W5 W6 r1 cQ", Isolation.NONE),
        ("r3 r3 cQ", Isolation.NONE),
    ],
)
def test_short_windows_are_judged_by_what_they_read(text: str, verdict: Isolation) -> None:
    history = read_history(text, 5, {"Q": 2}, by_place=True)
    assert verdict_of(history) is verdict


def test_a_conflict_graph_misses_what_a_short_window_must_not_do() -> None:
    history = read_history("r3 W5 r4 cQ", 5, {"Q": 2}, by_place=True)
    assert edges(history) == set()
    assert keeps_commit_order(history)
    assert verdict_of(history) is not Isolation.LATEST


def test_what_was_not_written_yet_is_no_state() -> None:
    assert judged((4, 5), window=2, latest=4) is Isolation.NONE
    assert judged((4, 5), window=2, latest=5) is Isolation.LATEST


def test_two_queries_can_make_a_cycle_and_one_cannot() -> None:
    text = "r0@A W5 r0@B r1@B r2@B r3@B r4@B W6 r1@A r2@A r3@A r4@A cQ@A cQ@B"
    history = read_history(text, 5, by_place=True)
    assert not is_acyclic(edges(history))
    assert [one.isolation for one in judgements(history)] == [Isolation.NONE, Isolation.WINDOW]


def test_undone_and_aborted_reads_do_not_count() -> None:
    undone = read_history("r0 r1 W3 u0 r2 r3 cQ", 3)
    assert verdict_of(undone) is Isolation.LATEST
    aborted = read_history("r0 r1 W3 aQ r3 r2 r1 cQ", 3)
    assert verdict_of(aborted) is Isolation.LATEST


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("r4 W7", "movement 7 stands behind movement 4"),
        ("r5", "r5 reads a place that the array does not have"),
        ("r4 x", '"x" is no operation of a history'),
        ("r4 u3 cQ", "u3 undoes what was not read"),
    ],
)
def test_a_text_that_is_no_history_is_refused(text: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        judgements(read_history(text, 5, by_place=True))


def test_a_text_is_the_history_that_it_shows() -> None:
    text = "r4@A W5 r5@B u4@A w6 aQ@B c6 r4@A cQ@A"
    assert str(read_history(text, 5)) == text


LENGTH = 3
WINDOWS = {"A": 3, "B": 2, "C": 1}


@st.composite
def histories(draw: st.DrawFn) -> TransactionHistory:
    """Anything that three queries and some movements can do, sensible or not."""
    latest, operations = LENGTH - 1, []
    done: dict[str, list[int]] = {name: [] for name in WINDOWS}
    for _ in range(draw(st.integers(0, 14))):
        kind = draw(st.sampled_from([Act.MOVE, *[Act.READ] * 4, Act.UNDO, Act.COMMIT, Act.ABORT]))
        query, number = draw(st.sampled_from(sorted(WINDOWS))), -1
        if kind is Act.MOVE:
            query, number = "", latest + 1
            latest = number
        elif kind is Act.READ:
            number = draw(st.integers(max(0, latest - LENGTH), latest))
            done[query].append(number)
        elif kind is Act.UNDO:
            if not done[query]:
                continue
            number = draw(st.sampled_from(done[query]))
            done[query].remove(number)
        else:
            done[query] = []
        operations.append(Operation(kind, query, number))
    return TransactionHistory(LENGTH, tuple(operations), WINDOWS, LENGTH - 1)


def by_states(history: TransactionHistory) -> list[Isolation]:
    """The verdicts by the states of the window, each kept whole, and bags of what was read."""
    states = [tuple(range(number)) for number in range(1, LENGTH + 1)]
    bags: dict[str, list[int]] = {name: [] for name in WINDOWS}
    found = []
    for one in history.operations:
        if one.act is Act.MOVE:
            states.append((*states[-1][1:], one.number))
        elif one.act is Act.READ:
            bags[one.query].append(one.number)
        elif one.act is Act.UNDO:
            bags[one.query].remove(one.number)
        else:
            bag, bags[one.query] = sorted(bags[one.query]), []
            if one.act is Act.ABORT:
                continue
            window = WINDOWS[one.query]
            seen = [len(bag) == window and list(state[-window:]) == bag for state in states]
            verdict = Isolation.LATEST if seen[-1] else Isolation.WINDOW
            found.append(verdict if any(seen) else Isolation.NONE)
    return found


@given(histories())
def test_the_checker_says_what_the_states_say(history: TransactionHistory) -> None:
    assert [one.isolation for one in judgements(history)] == by_states(history)


@st.composite
def whole_reads(draw: st.DrawFn) -> TransactionHistory:
    """One query that reads each place of the array once, in any order, while the window moves."""
    length = draw(st.integers(1, 5))
    reads = draw(st.permutations([f"r{place}" for place in range(length)]))
    moves = [f"W{length + number}" for number in range(draw(st.integers(0, 6)))]
    is_move = draw(st.permutations([True] * len(moves) + [False] * length))
    texts = {True: iter(moves), False: iter(reads)}
    return read_history(
        " ".join([*(next(texts[one]) for one in is_move), "cQ"]), length, by_place=True
    )


@given(whole_reads())
def test_for_windows_as_long_as_the_array_the_graph_says_the_same(
    history: TransactionHistory,
) -> None:
    before = {int(a[1:]) for a, b in edges(history) if b == "Q"}
    behind = {int(b[1:]) for a, b in edges(history) if a == "Q"}
    verdict = verdict_of(history)
    assert (verdict >= Isolation.WINDOW) == all(i < j for i in before for j in behind)
    assert (verdict is Isolation.LATEST) == (not behind) == keeps_commit_order(history)
