"""Ends of the members of groups, and what accumulators keep of groups, beside the groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.operators.aggregate.accumulators.accumulator_division import GROUP, divided_calls
from penstock.operators.declared_state.slot_entries import SlotQueue
from penstock.operators.division import netted, with_column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from penstock.operators.aggregate.accumulators.accumulator import Accumulator
    from penstock.operators.division import Moves
    from penstock.operators.operator import Segments
    from penstock.state.arrays import Ints
    from penstock.state.expiry import ExpiryQueue
    from penstock.state.moving import Moved

SLOT, CHANGE = np.dtype(np.int32), np.dtype(np.int8)
"""What is kept of each end besides the payload of the accumulators: the group, and the change."""
SAVED_SLOT = np.dtype(np.int64)
"""As which a group is saved."""
_ENDS = "ends"


def kept_payload(accumulators: Sequence[Accumulator]) -> list[np.dtype[Any]]:
    """The payload of all calls that is kept of each row until it leaves."""
    return [type_ for one in accumulators for type_ in kept_types(one)]


def kept_types(accumulator: Accumulator) -> tuple[np.dtype[Any], ...]:
    """The payload of one call."""
    # What drops expired candidates by itself does not have to be told who leaves.
    return tuple(accumulator.payload_types) if accumulator.needs_departures else ()


class GroupEnds(SlotQueue):
    """The ends of members of groups, and what the accumulators keep of these.

    Both have codes for texts: they are divided, and numbered anew, together. What call number i
    keeps is saved under names that begin with `i/`.
    """

    def __init__(
        self,
        queue: ExpiryQueue,
        types: Sequence[np.dtype[Any]],
        accumulators: Sequence[Accumulator],
    ) -> None:
        super().__init__(queue, _ENDS, types, is_net=True, counts=True)
        self._accumulators = accumulators

    def segments(self, numbers: Ints) -> Segments:
        """The ends, and what the accumulators keep."""
        made = super().segments(numbers)
        for call, accumulator in enumerate(self._accumulators):
            for name, table in accumulator.segments().items():
                made[f"{call}/{name}"] = _renumbered(table, numbers)
        return made

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take them back."""
        super().restore(segments)
        for call, accumulator in enumerate(self._accumulators):
            start = f"{call}/"
            accumulator.restore(
                {k.removeprefix(start): one for k, one in segments.items() if k.startswith(start)}
            )

    def divided(self, parts: Sequence[Segments], moves: Moves) -> list[Segments]:
        """All of it where the groups are."""
        ends = [netted(part[_ENDS], "payload1") for part in parts]
        divided_ends, made = divided_calls(self._accumulators, parts, ends, moves)
        return [own | {_ENDS: one} for own, one in zip(made, divided_ends, strict=True)]

    def move(self, moved: Moved) -> None:
        """Groups have been given other slots."""
        super().move(moved)
        for accumulator in self._accumulators:
            accumulator.move(moved)

    def shrink(self) -> None:
        """Give back the room of what the accumulators keep, and have their new codes."""
        column = len((SLOT, CHANGE))
        for accumulator in self._accumulators:
            for number, codes in accumulator.shrink().items():
                self.queue.renumber(codes, column + number)
            column += len(kept_types(accumulator))

    def __len__(self) -> int:
        return len(self.queue) + sum(one.state_rows for one in self._accumulators)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self.queue.nbytes + sum(one.state_bytes for one in self._accumulators)


def _renumbered(table: pa.Table, numbers: Ints) -> pa.Table:
    """The state of groups, under other numbers of these; a pool is not about groups."""
    if GROUP not in table.column_names:
        return table
    return with_column(table, GROUP, numbers[table[GROUP].to_numpy()])
