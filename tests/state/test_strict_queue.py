"""Ends of rows that may be withdrawn, against counts of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.state import strict_queue
from penstock.state.cancelling import CancellingQueue
from penstock.state.strict_queue import REMEMBERED, StrictQueue

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Values
    from penstock.state.expiry import ExpiryQueue

Waiting = Counter[tuple[int, int]]
"""Copies that leave, by end and slot; negative, if more were withdrawn than came."""


def push(queue: ExpiryQueue, entries: list[tuple[int, int, int]]) -> None:
    ends, slots, deltas = (np.array([one[n] for one in entries], np.int64) for n in range(3))
    queue.push(ends, [slots, deltas.astype(np.int8)])


def added_up(ends: Ints, payload: list[Values]) -> Waiting:
    slots, deltas = payload
    assert set(deltas.tolist()) <= {-1, 1}
    found = Waiting()
    for end, slot, delta in zip(ends.tolist(), slots.tolist(), deltas.tolist(), strict=True):
        found[end, slot] -= delta
    return Waiting({key: copies for key, copies in found.items() if copies})


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_what_ends_is_what_came_and_was_not_withdrawn(data: st.DataObject) -> None:
    span, partitions = data.draw(st.sampled_from([(1, 1), (7, 3), (100, 4), (10**9, 2)]))
    remembered = data.draw(st.sampled_from([1, 3, REMEMBERED]))
    is_fixed = data.draw(st.booleans())
    with mock.patch.object(strict_queue, "REMEMBERED", remembered):
        queue: ExpiryQueue = (
            CancellingQueue(span, partitions) if is_fixed else StrictQueue(span, partitions)
        )
        held, clock = Waiting(), -50
        for _ in range(data.draw(st.integers(1, 12))):
            ends = st.integers(clock, clock + 60)
            new = data.draw(st.lists(st.tuples(ends, st.integers(0, 3)), max_size=40))
            there = sorted(key for key, copies in held.items() for _ in range(copies))
            gone = data.draw(st.lists(st.sampled_from(there), max_size=40)) if there else []
            gone = list((Waiting(gone) & held).elements())
            entries = [(*key, -1) for key in new] + [(*key, 1) for key in gone]
            push(queue, data.draw(st.permutations(entries)))
            held += Waiting(new)
            held -= Waiting(gone)
            clock += data.draw(st.sampled_from([0, 1, 5, 200]))
            ended, payload = queue.pop(clock)
            assert ended.tolist() == sorted(ended.tolist())
            assert added_up(ended, payload) == Waiting(
                {key: copies for key, copies in held.items() if key[0] < clock}
            )
            held = Waiting({key: copies for key, copies in held.items() if key[0] >= clock})
            assert added_up(*queue.contents()) == held
            assert len(queue) == len(queue.contents()[0])
            if data.draw(st.sampled_from([False, False, True])):
                queue.renumber(np.array([3, 2, 1, 0]))
                held = Waiting({(end, 3 - slot): copies for (end, slot), copies in held.items()})
        assert added_up(*queue.pop(10**6)) == held
        assert len(queue) == 0


def test_which_kind_it_is_follows_the_share_that_is_withdrawn() -> None:
    queue = StrictQueue(1000, 8)
    rows = 2 * REMEMBERED
    ends, slots = np.arange(rows) % 900 + 100, np.arange(rows) % 50

    def bring(withdrawn: int) -> None:
        again = np.concatenate([np.arange(rows), np.arange(withdrawn)])
        deltas = np.concatenate([np.full(rows, -1), np.ones(withdrawn)]).astype(np.int8)
        queue.push(ends[again], [slots[again], deltas])

    bring(rows // 10)
    assert queue.structure == "calendar(8)"
    for _ in range(4):
        bring(rows)
    assert queue.structure == "hashed"
    size = len(queue)
    bring(rows)
    # All that came is gone again.
    assert len(queue) == size
    for _ in range(5):
        bring(0)
    assert queue.structure == "calendar(8)"


def test_room_is_given_back() -> None:
    queue = CancellingQueue(1000, 10)
    ends, slots = np.arange(100_000) % 1000, np.arange(100_000)
    queue.push(ends, [slots, np.full(len(slots), -1, np.int8)])
    full = queue.nbytes
    for clock in range(100, 2100, 100):
        queue.pop(clock)
    assert len(queue) == 0
    assert queue.nbytes < full / 100
