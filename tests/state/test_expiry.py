"""Queues of ends against a sorted list."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.algebra.patterns import Pattern
from penstock.state.expiry import (
    CalendarQueue,
    ExpiryQueue,
    FifoQueue,
    expiry_queue,
)

TYPES = (np.dtype(np.int64), np.dtype(np.float64))
Entry = tuple[int, int, float]


def push(queue: ExpiryQueue, entries: list[Entry]) -> None:
    ends, first = (np.array([entry[place] for entry in entries], np.int64) for place in (0, 1))
    second = np.array([entry[2] for entry in entries], np.float64)
    queue.push(ends, [first, second])


def popped(queue: ExpiryQueue, clock: int) -> list[Entry]:
    ends, (first, second) = queue.pop(clock)
    return list(zip(ends.tolist(), first.tolist(), second.tolist(), strict=True))


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_entries_come_back_by_end_once_the_clock_has_passed(data: st.DataObject) -> None:
    fifo = data.draw(st.booleans())
    span, partitions = data.draw(st.sampled_from([(1, 1), (7, 3), (100, 4), (1, 8), (10**9, 2)]))

    def make() -> ExpiryQueue:
        return FifoQueue(TYPES) if fifo else CalendarQueue(TYPES, span, partitions)

    queue, held, clock, latest, number = make(), list[Entry](), -50, -50, 0
    for _ in range(data.draw(st.integers(1, 12))):
        # A FIFO takes what ends in order from push to push; a calendar even what ended long ago.
        least = latest if fifo else clock - 20
        ends = data.draw(st.lists(st.integers(least, least + 60), max_size=8))
        entries = [(end, number + place, place / 2) for place, end in enumerate(ends)]
        number += len(ends)
        latest = max([latest, *ends])
        push(queue, entries)
        held += entries
        clock += data.draw(st.sampled_from([0, 1, 5, 200]))
        found = popped(queue, clock)
        assert [entry[0] for entry in found] == sorted(entry[0] for entry in found)
        assert Counter(found) == Counter(entry for entry in held if entry[0] < clock)
        held = [entry for entry in held if entry[0] >= clock]
        latest = max(latest, clock)
        assert len(queue) == len(held)
        if data.draw(st.sampled_from([False, False, True])):
            contents, queue = queue.contents(), make()
            queue.push(*contents)
            assert len(queue) == len(held)
        if data.draw(st.sampled_from([False, False, True])):
            queue.renumber(np.arange(number)[::-1])
            held = [(end, number - 1 - slot, other) for end, slot, other in held]
    assert Counter(popped(queue, 10**6)) == Counter(held)
    assert len(queue) == 0


@pytest.mark.parametrize(
    ("pattern", "kind"),
    [
        (Pattern.MON, FifoQueue),
        (Pattern.WKS, FifoQueue),
        (Pattern.WK, CalendarQueue),
        (Pattern.STR, CalendarQueue),
    ],
)
def test_the_pattern_chooses_the_queue(pattern: Pattern, kind: type) -> None:
    assert isinstance(expiry_queue(pattern, TYPES, 10, 4), kind)


@pytest.mark.parametrize("pattern", [Pattern.WKS, Pattern.WK])
def test_memory_follows_what_is_held(pattern: Pattern) -> None:
    queue, sizes = expiry_queue(pattern, TYPES, 1000, 8), []
    for start in range(0, 200_000, 1000):
        ends = np.arange(start, start + 1000) + 1000
        queue.push(ends, [ends, ends / 2])
        queue.pop(start + 1000)
        sizes.append(queue.nbytes)
    # Of three numbers each; what has been taken may be there as often as what is left.
    assert max(sizes[100:]) <= 2 * 24 * 1000
    assert len(queue) == 1000


def test_there_are_as_many_partitions_as_entries_are_worth() -> None:
    queue = CalendarQueue(TYPES, 1000, 8)
    before = 0
    expected: list[int] = []
    for count in (10, 50_000, 3000, 10, 0, 10):
        ends = np.random.default_rng(count).integers(before + 1, before + 1000, count)
        queue.push(ends, [ends, ends / 2])
        expected = sorted([*expected, *ends.tolist()])
        before += 900
        found, (values, halves) = queue.pop(before)
        due = [one for one in expected if one < before]
        assert found.tolist() == values.tolist() == due
        assert (halves * 2).tolist() == due
        expected = expected[len(due) :]
    assert len(queue) == len(expected)


@pytest.mark.parametrize("pattern", [Pattern.WKS, Pattern.WK])
@pytest.mark.parametrize("at_once", [3, 100, 5000])
def test_little_memory_is_not_in_use(pattern: Pattern, at_once: int) -> None:
    """What is held for a window of 20,000 entries, pushed in small parts and in large ones."""
    queue = expiry_queue(pattern, (np.dtype(np.int32), np.dtype(np.int8)), 20_000, 32)
    for start in range(0, 60_000, at_once):
        ends = np.arange(start, start + at_once) + 20_000
        queue.push(ends, [ends, ends % 3])
        taken, (first, second) = queue.pop(start + at_once)
        assert (first == taken).all()
        assert (second == taken % 3).all()
        assert [one.itemsize for one in (first, second)] == [4, 1]
    assert len(queue) == 20_000
    assert queue.nbytes <= 1.3 * 13 * 20_000


def test_a_fifo_of_many_pieces() -> None:
    """One push into several pieces, taken bit by bit; then a push into what is left of a piece."""
    queue = FifoQueue(TYPES)
    ends = np.arange(100_000)
    queue.push(ends, [ends, ends / 2])
    for clock in (10, 20_000, 20_001, 99_999):
        left = queue.contents()[0]
        taken, (first, second) = queue.pop(clock)
        assert taken.tolist() == left[left < clock].tolist()
        assert (first == taken).all()
        assert (second == taken / 2).all()
    assert len(queue) == 1
    queue.push(ends[:10] + 100_000, [ends[:10], ends[:10] / 2])
    assert queue.contents()[0].tolist() == [99_999, *range(100_000, 100_010)]
    assert len(queue.pop(10**6)[0]) == 11
    assert (len(queue), queue.nbytes) == (0, 0)
