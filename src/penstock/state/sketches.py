"""Sketches: about how many different values a column has, in a few hundred bytes (HyperLogLog).

A sketch remembers for each of some registers the longest run of zeros that the hash of a value
began with. It is the same whatever the order of the values and however often each came; those of
several lanes are put together register by register. Hashes are those that routes go by: the same in
every process, as fingerprints are not.
"""

from __future__ import annotations

import base64
import math
import zlib
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from penstock.state.arrays import Words

BITS = 9
REGISTERS = 1 << BITS
"""So many that counts are wrong by about 5 %."""
_SHARE = 0.7213 / (1 + 1.079 / REGISTERS)
_ROUNDS = 60
"""Halvings of an interval after which nothing changes."""


class Sketch:
    """Counts different values, and how often two values are the same.

    Attributes:
        rows: How many values were added, the same ones each time.
        pairs: How many pairs of values that were added together were compared.
        equal: How many of them were two times the same.
    """

    def __init__(self) -> None:
        self.rows = self.pairs = self.equal = 0
        self._registers: npt.NDArray[np.uint8] = np.zeros(REGISTERS, np.uint8)

    def add(self, hashes: Words) -> None:
        """Take in values, by hashes that are spread over 64 bits."""
        places = (hashes >> np.uint64(64 - BITS)).astype(np.int64)
        # The bit at the end bounds the run of zeros.
        rest = (hashes << np.uint64(BITS)) | np.uint64(1 << (BITS - 1))
        runs = (65 - np.frexp(rest.astype(np.float64))[1]).astype(np.uint8)
        np.maximum.at(self._registers, places, runs)
        self.rows += len(hashes)
        ordered = np.sort(hashes)
        starts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
        copies = np.diff(starts, prepend=0, append=len(hashes))
        self.pairs += len(hashes) * (len(hashes) - 1) // 2
        self.equal += int((copies * (copies - 1)).sum()) // 2

    def merge(self, other: Sketch) -> None:
        """Take in what another one has."""
        self.rows += other.rows
        self.pairs += other.pairs
        self.equal += other.equal
        np.maximum(self._registers, other._registers, out=self._registers)

    @property
    def different(self) -> float:
        """The number of different values that were added, about."""
        empty = int(np.count_nonzero(self._registers == 0))
        found = _SHARE * REGISTERS**2 / float(np.sum(0.5 ** self._registers.astype(np.float64)))
        if empty and found <= 2.5 * REGISTERS:
            return min(REGISTERS * math.log(REGISTERS / empty), float(self.rows))
        return min(found, float(self.rows))

    def to_json(self) -> dict[str, int | str]:
        """As it travels: text."""
        packed = zlib.compress(self._registers.tobytes(), 1)
        return {
            "rows": self.rows,
            "pairs": self.pairs,
            "equal": self.equal,
            "registers": base64.b64encode(packed).decode(),
        }

    @staticmethod
    def from_json(values: dict[str, int | str]) -> Sketch:
        """As it travelled."""
        made = Sketch()
        made.rows, made.pairs, made.equal = (int(values[k]) for k in ("rows", "pairs", "equal"))
        content = zlib.decompress(base64.b64decode(str(values["registers"])))
        made._registers = np.frombuffer(content, np.uint8).copy()
        return made


def values_among(different: float, looked_at: float, rows: float) -> float:
    """The number of values there are, of which so many were found in some of the rows.

    All are thought to be equally frequent: v of them show v * (1 - exp(-n / v)) in n rows. There
    are at most as many as rows.

    >>> round(values_among(5, 1000, 1000)), round(values_among(630, 1000, 70_000))
    (5, 992)
    >>> values_among(1000, 1000, 70_000)
    70000
    """
    least, most = different, rows
    if looked_at <= 0 or most * -math.expm1(-looked_at / most) <= different:
        return rows
    for _ in range(_ROUNDS):
        middle = (least + most) / 2
        if middle * -math.expm1(-looked_at / middle) < different:
            least = middle
        else:
            most = middle
    return most
