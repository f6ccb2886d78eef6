"""Rows in slots, with what is beside them: saved, moved together and divided among lanes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from penstock.errors import InternalError
from penstock.operators.declared_state.slot_entries import SlotLinks, SlotQueue
from penstock.operators.declared_state.slot_table import SlotTable
from penstock.operators.declared_state.state_part import DeclaredState
from penstock.operators.division import CannotDivide, Division, Spread
from penstock.operators.window.merged_numbers import Numbers
from penstock.state.expiry import CalendarQueue
from penstock.state.lane_hash import lanes_of

PAIR = (np.dtype(np.int64), np.dtype(np.int64))


class Kept:
    """Different rows, a count and the latest end of each, and ends that name them."""

    def __init__(self) -> None:
        self.table = SlotTable([pa.string()], keyed=1)
        self.counts = self.table.column(np.int32, "_count")
        self.latest = self.table.column(np.int64, "_latest", fill=-5, merge=np.maximum)
        self.alive = self.table.column(np.bool_, None, there=True)
        queue = CalendarQueue(PAIR, 100, 4)
        self.ends = self.table.beside(SlotQueue(queue, "ends", PAIR, is_net=True, counts=True))

    def add(self, *rows: tuple[str, int]) -> None:
        texts, ends = zip(*rows, strict=True)
        slots, _ = self.table.enter([pa.array(texts)], len(texts))
        np.add.at(self.counts.values, slots, 1)
        np.maximum.at(self.latest.values, slots, ends)
        self.ends.queue.push(np.array(ends), [slots, np.full(len(ends), -1)])

    def content(self) -> dict[str, tuple[int, int, list[int]]]:
        slots = self.table.live_slots()
        (texts,) = self.table.take(slots)
        ends, (named, _) = self.ends.queue.contents()
        return {
            text: (
                int(self.counts.values[slot]),
                int(self.latest.values[slot]),
                sorted(ends[named == slot].tolist()),
            )
            for text, slot in zip(texts.to_pylist(), slots, strict=True)
        }


def division(lanes: int, keys: bool = True, meets: bool = True) -> Division:
    spread = Spread(1, [lambda columns, length, failures: columns[0]] if keys else None)
    return Division("it", [spread], spread, lanes, Numbers(), meets=meets)


def test_rows_keep_what_is_beside_them_when_they_move_together() -> None:
    kept = Kept()
    kept.add(("a", 3), ("b", 4), ("a", 7), ("c", 9))
    gone = kept.table.find([pa.array(["b"])], 1)
    kept.table.remove(gone)
    expected = kept.content()
    assert expected == {"a": (2, 7, [3, 7]), "c": (1, 9, [9])}
    moved = kept.table.compact()
    assert moved.numbers.tolist() == [0, 2, 1, 2]
    assert kept.content() == expected
    assert kept.latest.values[2] == -5
    # The end of the row that is gone names the first slot that is free.
    assert kept.ends.queue.contents()[1][0].tolist().count(2) == 1


def test_saved_rows_come_back_in_the_slots_of_their_places() -> None:
    kept, other = Kept(), Kept()
    kept.add(("a", 3), ("b", 4), ("c", 9))
    kept.table.remove(kept.table.find([pa.array(["a"])], 1))
    kept.counts.values[kept.table.find([pa.array(["c"])], 1)] = 2**29
    state = DeclaredState(kept=kept.table)
    assert sorted(state.segments()) == ["kept/ends", "kept/rows"]
    DeclaredState(kept=other.table).restore(state.segments())
    assert other.table.live_slots().tolist() == [0, 1]
    assert other.content() == kept.content()
    assert other.alive.values[:3].tolist() == [True, True, False]
    assert len(other.table) == len(kept.table) == 2 + 3
    assert other.table.nbytes > 0


def test_unknown_parts_are_refused() -> None:
    with pytest.raises(InternalError, match="does not keep: other/rows"):
        DeclaredState(kept=Kept().table).restore({"other/rows": pa.table({})})


@pytest.mark.parametrize("lanes", [1, 2, 3])
def test_rows_go_where_their_keys_do_with_what_is_beside_them(lanes: int) -> None:
    first, second = Kept(), Kept()
    first.add(("a", 3), ("b", 4), ("a", 7))
    second.add(("c", 9), ("d", 2))
    found: dict[str, tuple[int, int, list[int]]] = {}
    parts = [one.table.segments() for one in (first, second)]
    for lane, segments in enumerate(Kept().table.divided(parts, division(lanes))):
        made = Kept()
        made.table.restore(segments)
        texts = list(made.content())
        assert lanes_of([pa.array(texts, pa.string())], len(texts), lanes).tolist() == [lane] * len(
            texts
        )
        found |= made.content()
    assert found == first.content() | second.content()


def test_rows_alike_of_several_lanes_become_one() -> None:
    first, second, made = Kept(), Kept(), Kept()
    first.add(("a", 3), ("b", 4))
    second.add(("a", 9))
    parts = [one.table.segments() for one in (first, second)]
    (segments,) = made.table.divided(parts, division(1, keys=False, meets=False))
    made.table.restore(segments)
    assert made.content() == {"a": (2, 9, [3, 9]), "b": (1, 4, [4])}


def test_rows_without_a_key_are_not_guessed() -> None:
    kept = Kept()
    kept.add(("a", 3))
    with pytest.raises(CannotDivide):
        kept.table.divided([kept.table.segments()], division(2, keys=False))


def test_chosen_columns_of_an_input_say_where_rows_go() -> None:
    def counting() -> SlotTable:
        table = SlotTable([pa.string()], keyed=1, columns=[1])
        table.column(np.int64, "_count")
        return table

    table = counting()
    table.enter([pa.array(["a", "b", "c"])], 3)
    spread = Spread(2, [lambda columns, length, failures: columns[1]])
    asked = Division("it", [spread], spread, 2, Numbers(), meets=True)
    for lane, segments in enumerate(counting().divided([table.segments()], asked)):
        texts = segments["rows"]["0"].combine_chunks()
        assert set(lanes_of([texts], len(texts), 2).tolist()) <= {lane}


def test_links_follow_the_rows_of_another_table() -> None:
    rows, heads = SlotTable([pa.int64()]), SlotTable((), keyed=0, derived=True)
    following = rows.column(np.int64, None, width=2)
    first = heads.column(np.int64, None)
    rows.beside(SlotLinks(following, slice(1)))
    rows.beside(SlotLinks(first))
    slots = rows.add([pa.array([7, 8, 9])], 3)
    keys, _ = heads.find_or_add(np.array([[5, 5]], np.uint64))
    following.values[slots] = [[-1, 1], [0, 1], [1, 1]]
    first.values[keys] = 2
    rows.remove(slots[:1])
    rows.compact()
    assert following.values[:2].tolist() == [[2, 1], [0, 1]]
    assert first.values[keys].tolist() == [1]
    assert (len(heads), heads.segments()) == (0, {})
