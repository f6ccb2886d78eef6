"""The key index and the slot pool against a dictionary and a set."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.state import probing
from penstock.state.keys import UNKNOWN, KeyIndex
from penstock.state.slots import SlotPool

Key = tuple[int, int]
KEYS = st.tuples(
    st.sampled_from([0, 1, 2, 2**63, 2**64 - 1]) | st.integers(0, 40), st.sampled_from([0, 1])
)


def words(keys: list[Key]) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    return np.array(keys, np.uint64).reshape(len(keys), 2)


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_an_index_is_a_dictionary_of_slots(data: st.DataObject) -> None:
    index, known = KeyIndex(), dict[Key, int]()
    for _ in range(data.draw(st.integers(1, 10))):
        keys = data.draw(st.lists(KEYS, max_size=30))
        assert index.find(words(keys)).tolist() == [known.get(key, UNKNOWN) for key in keys]
        slots, new = index.find_or_add(words(keys))
        first = [at for at, key in enumerate(keys) if key not in known and key not in keys[:at]]
        assert new.tolist() == first
        for key, slot in zip(keys, slots.tolist(), strict=True):
            assert known.setdefault(key, slot) == slot
        check(index, known)
        if known:
            gone = data.draw(st.lists(st.sampled_from(sorted(known)), unique=True))
            index.remove(np.array([known.pop(key) for key in gone], np.int64))
            check(index, known)
        if data.draw(st.sampled_from([False, False, True])):
            index = KeyIndex()
            index.restore(words(list(known)), np.array(list(known.values()), np.int64))
            check(index, known)
        if data.draw(st.sampled_from([False, False, True])):
            before = index.capacity
            moved = index.compact()
            assert moved.kept.tolist() == sorted(known.values())
            assert all(moved.numbers[slot] <= len(known) for slot in range(before + 1))
            known = {key: int(moved.numbers[slot]) for key, slot in known.items()}
            assert index.capacity == len(known)
            check(index, known)


def check(index: KeyIndex, known: dict[Key, int]) -> None:
    assert len(index) == len(known)
    assert index.live_slots().tolist() == sorted(known.values())
    assert len(set(known.values())) == len(known)
    assert all(slot < index.capacity for slot in known.values())
    assert index.find(words(list(known))).tolist() == list(known.values())


def test_an_index_of_passing_keys_stays_small() -> None:
    index, sizes = KeyIndex(), []
    for start in range(0, 100_000, 1000):
        slots, _ = index.find_or_add(words([(key, 0) for key in range(start, start + 1000)]))
        index.remove(slots)
        sizes.append(index.nbytes)
    assert index.capacity <= 1000
    assert max(sizes[10:]) <= max(sizes[:10])


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_a_pool_gives_each_slot_to_one_owner(data: st.DataObject) -> None:
    pool, used, most = SlotPool(), set[int](), 0
    for _ in range(data.draw(st.integers(1, 12))):
        slots = pool.allocate(data.draw(st.integers(0, 20))).tolist()
        assert len(set(slots)) == len(slots)
        assert not used & set(slots)
        used |= set(slots)
        most = max(most, len(used))
        # Dense: no new slot while another is free.
        assert pool.capacity == most
        assert all(0 <= slot < pool.capacity for slot in slots)
        back = data.draw(st.lists(st.sampled_from(sorted(used)), unique=True)) if used else []
        pool.release(np.array(back, np.int64))
        used -= set(back)
        assert len(pool) == len(used)
        unused = pool.allocate(data.draw(st.integers(0, 20)))
        kept = data.draw(st.integers(0, len(unused)))
        pool.give_back(unused[kept:])
        used |= set(unused[:kept].tolist())
        assert len(pool) == len(used)
        # What is given back from the end is not there any more.
        assert max(used, default=-1) < pool.capacity <= max(most, len(used))
        most = pool.capacity
        if data.draw(st.booleans()):
            moved = pool.compact()
            assert moved.kept.tolist() == sorted(used)
            used, most = set(range(len(used))), len(used)
            assert pool.taken().tolist() == sorted(used)


def test_an_index_reserves_for_new_keys_not_for_rows() -> None:
    index = KeyIndex()
    for _ in range(3):
        index.find_or_add(words([(row % 50, 0) for row in range(100_000)]))
    assert index.nbytes < 50_000


def test_keys_of_two_small_numbers_are_told_apart_quickly() -> None:
    """Exchanged words, or such with the same differences, do not all begin at one place."""
    keys = words([(first, second) for first in range(64) for second in range(64)])
    assert len(set(probing.marks_of(keys).tolist())) == len(keys)


def test_room_is_kept_for_what_comes_and_goes_in_every_step() -> None:
    index = KeyIndex()
    for start in range(0, 300_000, 10_000):
        slots, _ = index.find_or_add(words([(key, 0) for key in range(start, start + 10_000)]))
        index.remove(slots)
        assert not index.is_spacious
    for start in range(40):
        slots, _ = index.find_or_add(words([(start, 0)]))
        index.remove(slots)
    assert index.is_spacious
    index.compact()
    assert index.nbytes < 5000
