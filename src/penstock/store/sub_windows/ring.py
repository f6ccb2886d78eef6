"""The ring: the sub-windows of a window in slots, of which each newest one takes the oldest's.

What a window transaction works on. A slide is `move`: it writes one slot, and commits at once. A
reader reads slots one by one while the ring moves on, or pins it and sees one state to its end.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from penstock.errors import InternalError
from penstock.store.sub_windows.sub_window import SubWindow

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from penstock.store.sub_windows.piece import Piece


class Pin:
    """A state of a ring that is kept until `release`, however the ring moves on.

    Attributes:
        latest: The number of the newest sub-window.
        sub_windows: The sub-windows, newest first.
    """

    def __init__(
        self, ring: SubWindowRing, latest: int, sub_windows: tuple[SubWindow, ...]
    ) -> None:
        self.latest = latest
        self.sub_windows = sub_windows
        self._ring = ring

    def release(self) -> None:
        """Let go of it; once is enough, more often does no harm."""
        self._ring.unpin(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


class SubWindowRing:
    """So many slots; sub-window j is in slot j modulo their number.

    All methods may be called from any thread. A slot is read or written whole.

    Args:
        length: The length of each sub-window, in steps of the stream's time.
        slots: How many there are: a window is at most `length` times `slots` long.
        latest: The number of the newest sub-window; it and all before it are empty.
        dropped: Called with each sub-window that is in no slot and no pin any more.
    """

    def __init__(
        self,
        length: int,
        slots: int,
        latest: int = -1,
        dropped: Callable[[SubWindow], None] = lambda _: None,
    ) -> None:
        self.length = length
        self.slots = slots
        self._latest = latest
        self._dropped = dropped
        self._lock = threading.Lock()
        self._pins: list[Pin] = []
        self._content = {
            number % slots: SubWindow.numbered(number, length)
            for number in range(latest - slots + 1, latest + 1)
        }

    @property
    def latest(self) -> int:
        """The number of the newest sub-window: how often the ring has moved, one might say."""
        return self._latest

    @property
    def pins(self) -> tuple[Pin, ...]:
        """The pins that have not been released, oldest first."""
        with self._lock:
            return tuple(self._pins)

    def slot_of(self, number: int) -> int:
        """The slot of a sub-window."""
        return number % self.slots

    def read(self, slot: int) -> SubWindow:
        """The sub-window that is in a slot now."""
        with self._lock:
            return self._content[slot]

    def move(self, sub_window: SubWindow) -> None:
        """Let a sub-window take the slot of the oldest one: the next number, empty or not.

        Listeners are told before anybody can read the slot again.
        """
        with self._lock:
            if sub_window.number != self._latest + 1:
                msg = f"sub-window {sub_window.number} does not follow {self._latest}"
                raise InternalError(msg)
            slot = self.slot_of(sub_window.number)
            gone = self._content[slot]
            self._content[slot] = sub_window
            self._latest = sub_window.number
            is_pinned = self._is_pinned(gone)
        if not is_pinned:
            self._dropped(gone)

    def insert(self, number: int, pieces: Sequence[Piece]) -> None:
        """Let rows come into a sub-window that is there.

        For results that are kept by when they end, which is known when they come: there a
        sub-window holds what ends with it, and the oldest ends first.
        """
        with self._lock:
            known = self._content[self.slot_of(number)]
            if known.number != number:
                msg = f"sub-window {number} is not there"
                raise InternalError(msg)
            whole = replace(known, pieces=(*known.pieces, *pieces))
            self._content[self.slot_of(number)] = whole

    def pin(self, count: int | None = None) -> Pin:
        """Keep the newest `count` sub-windows, or all, as they are now; `with` releases them."""
        with self._lock:
            numbers = range(self._latest, self._latest - (count or self.slots), -1)
            found = tuple(self._content[self.slot_of(one)] for one in numbers)
            made = Pin(self, self._latest, found)
            self._pins.append(made)
            return made

    def unpin(self, pin: Pin) -> None:
        """Let go of a pin; what only it has kept is dropped."""
        with self._lock:
            if pin not in self._pins:
                return
            self._pins.remove(pin)
            gone = [
                one
                for one in pin.sub_windows
                if self._content[self.slot_of(one.number)].number != one.number
                and not self._is_pinned(one)
            ]
        for one in gone:
            self._dropped(one)

    def _is_pinned(self, sub_window: SubWindow) -> bool:
        return any(one.number == sub_window.number for pin in self._pins for one in pin.sub_windows)
