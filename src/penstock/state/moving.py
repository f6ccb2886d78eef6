"""Giving back room: when most of it is empty, what is left moves together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.state.row_store import grown

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Places, Values

SPARE = 4
"""Room for more than so many times what was there lately is too much."""
LEAST = 256
"""Room for so many rows times `SPARE` is never too much."""
FADING = 8
"""Each step forgets one of so many parts of what was there before it."""


class Occupancy:
    """The number of rows lately, so that room is not given back only to be asked for again.

    A burst fades from memory within some ten steps; rows that come and go within every step
    do not.

    >>> lately = Occupancy()
    >>> lately.note(1_000_000)
    >>> lately.leaves_empty(1_500_000, 1000)
    False
    >>> for step in range(20):
    ...     lately.note(1000)
    >>> lately.leaves_empty(1_500_000, 1000)
    True
    """

    def __init__(self) -> None:
        self._rows = 0

    def note(self, rows: int) -> None:
        """So many are there, before some of them go."""
        self._rows = max(rows, self._rows - -(-self._rows // FADING))

    def leaves_empty(self, room: int, rows: int) -> bool:
        """Most of the room has been empty for a while; so many rows are there now."""
        return room > SPARE * max(self._rows, rows, LEAST)


class Moved(NamedTuple):
    """Slots that were given new numbers: `kept[new]` is the old slot, `numbers[old]` the new one.

    A slot that was free has become the first free one. Its number is still there to be looked up,
    because something may name a slot that has been set free.
    """

    kept: Ints
    numbers: Ints

    def rows(self, by_slot: Values) -> Values:
        """The values of an array for each slot, moved; with room for the first free one."""
        return grown(by_slot[self.kept], len(self.kept) + 1)

    def links(self, slots: Ints | Places) -> None:
        """Write the new slots over old ones, in place; negative numbers are no slots and stay."""
        linked = slots >= 0
        slots[linked] = self.numbers[slots[linked]]
