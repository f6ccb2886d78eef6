"""The input of accumulators: elements entering and leaving groups, in order."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

Int64s = npt.NDArray[np.int64]
UInt64s = npt.NDArray[np.uint64]
Int32s = npt.NDArray[np.int32]
Int8s = npt.NDArray[np.int8]
Bytes = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]
Doubles = npt.NDArray[np.float64]
Payload = tuple[npt.NDArray[Any], ...]
"""What is kept with each element so that it can be taken out again, one array per part."""


@dataclass(frozen=True, slots=True)
class GroupEvents:
    """Elements entering (+1) and leaving (-1) groups, sorted by group slot, then by time.

    The order within one (group, instant) does not matter. A sign of 0 changes nothing, but a
    value may still be wanted there.

    Attributes:
        groups: The group slot of each event.
        times: The instant of each event.
        signs: +1 enters, -1 leaves.
        ends: The end of the element's interval, INFINITY if unknown; read of entering events only.
        points: Indexes of the last event of each (group, instant), where a value is wanted.
    """

    groups: Int64s
    times: Int64s
    signs: Int8s
    ends: Int64s
    points: Int64s

    def __post_init__(self) -> None:
        """Own every array, see `owned`."""
        for field in fields(self):
            object.__setattr__(self, field.name, owned(getattr(self, field.name)))

    def __len__(self) -> int:
        """The number of events."""
        return len(self.groups)

    @property
    def slots(self) -> int:
        """The number of group slots that these events reach to."""
        return int(self.groups[-1]) + 1 if len(self.groups) else 0

    def weights(self, known: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The signs, 0 for elements that an aggregate ignores, or times what they stand for."""
        weights: npt.NDArray[Any] = self.signs * known
        return weights


def owned(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array, copied if it is read-only or has gaps.

    Compiled loops are compiled once more for every such kind of array.
    """
    fit = array.flags.writeable and array.flags.c_contiguous
    return array if fit else np.array(array, order="C")
