"""Sub-windows: rows by event time, skipping by what columns hold; a ring of them, and pins."""

from __future__ import annotations

import threading
from pathlib import Path

import pyarrow as pa
import pytest

from penstock.errors import InternalError
from penstock.store.layout import Home
from penstock.store.sub_windows.piece import MemoryPiece
from penstock.store.sub_windows.piece_files import PieceWriting
from penstock.store.sub_windows.ring import SubWindowRing
from penstock.store.sub_windows.sub_window import SubWindow


def piece(*rows: tuple[int, int | None, str]) -> MemoryPiece:
    ts, numbers, texts = zip(*rows, strict=True)
    table = pa.table({"k": pa.array(numbers, pa.int64()), "s": texts, "_ts": pa.array(ts)})
    return MemoryPiece(table)


def test_a_sub_window_gives_rows_by_event_time_and_of_one_instant_as_they_came() -> None:
    one = SubWindow.numbered(
        0, 10, [piece((1, 1, "a"), (5, 2, "b")), piece((1, 3, "c"), (5, 4, "d"), (6, 5, "e"))]
    )
    assert one.table(["s"])["s"].to_pylist() == ["a", "c", "b", "d", "e"]
    assert one.rows == 5
    assert SubWindow.numbered(3, 10).table().num_rows == 0


def test_what_columns_hold_says_which_sub_windows_can_be_skipped() -> None:
    one = SubWindow.numbered(0, 10, [piece((1, 5, "f"), (2, None, "k")), piece((3, 9, "h"))])
    assert one.may_hold("k", 5, 5)
    assert one.may_hold("k", 6, 9)
    assert not one.may_hold("k", 6, 8)
    assert not one.may_hold("k", None, 4)
    assert not one.may_hold("s", "l", None)
    assert one.may_hold("unknown", 1, 1)
    nulls = SubWindow.numbered(0, 10, [piece((1, None, "a"))])
    assert not nulls.may_hold("k", None, None)


def test_a_ring_keeps_the_newest_and_drops_the_oldest_whole() -> None:
    dropped: list[int] = []
    ring = SubWindowRing(10, 3, dropped=lambda one: dropped.append(one.number))
    for number in range(5):
        ring.move(SubWindow.numbered(number, 10, [piece((10 * number, number, "a"))]))
    assert [ring.read(slot).number for slot in range(3)] == [3, 4, 2]
    assert dropped == [-3, -2, -1, 0, 1]
    with pytest.raises(InternalError, match="6 does not follow 4"):
        ring.move(SubWindow.numbered(6, 10))


def test_a_pin_keeps_what_it_saw_until_it_is_released() -> None:
    dropped: list[int] = []
    ring = SubWindowRing(10, 2, dropped=lambda one: dropped.append(one.number))
    for number in range(2):
        ring.move(SubWindow.numbered(number, 10))
    dropped.clear()
    with ring.pin() as whole:
        newest = ring.pin(1)
        for number in range(2, 5):
            ring.move(SubWindow.numbered(number, 10))
        assert [one.number for one in whole.sub_windows] == [1, 0]
        assert [one.number for one in newest.sub_windows] == [1]
        assert dropped == [2]
    assert dropped == [2, 0]
    newest.release()
    newest.release()
    assert dropped == [2, 0, 1]
    assert ring.pins == ()


def test_readers_beside_movements_see_one_state() -> None:
    ring = SubWindowRing(1, 5)
    wrong: list[list[int]] = []

    is_over = threading.Event()
    reads: list[int] = []

    def read() -> None:
        while not is_over.is_set() or not reads:
            with ring.pin() as pin:
                numbers = [one.number for one in pin.sub_windows]
                reads.append(pin.latest)
                if numbers != list(range(pin.latest, pin.latest - 5, -1)):
                    wrong.append(numbers)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for one in readers:
        one.start()
    for number in range(5000):
        ring.move(SubWindow.numbered(number, 1))
    is_over.set()
    for one in readers:
        one.join()
    assert wrong == []
    assert reads


def test_a_file_that_was_removed_is_let_go_of_with_the_next_that_is_opened(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.open()
    pieces = []
    for record in (1, 2):
        with PieceWriting(home, record) as writer:
            pieces.append(writer.add(0, piece((5, 1, "a"), (9, 2, "b"))))
    first, second = pieces
    assert len(first.table()) == 2
    path = first.folder / first.file
    del first
    pieces.clear()
    assert is_mapped(path)
    path.unlink()
    assert len(second.table()) == 2
    assert not is_mapped(path)
    assert is_mapped(second.folder / second.file)
    home.close()


def is_mapped(path: Path) -> bool:
    return str(path) in Path("/proc/self/maps").read_text("utf-8")
