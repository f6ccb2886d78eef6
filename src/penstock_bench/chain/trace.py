"""The trace of a run of the model: memory of queues, and when results came."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

ROUNDING = 1e-9
"""Instants that differ by no more are the same."""


class Trace:
    """Memory as it changes, and results as they leave."""

    def __init__(self) -> None:
        self._times: list[float] = []
        self._sizes: list[float] = []
        self._size = 0.0
        self.done: list[float] = []
        self.latencies: list[float] = []

    def grows(self, time: float, size: float) -> None:
        """The queues hold so much more, or less, from an instant on."""
        self._size += size
        if self._times and time - self._times[-1] <= ROUNDING:
            self._sizes[-1] = self._size
        else:
            self._times.append(time)
            self._sizes.append(self._size)

    def leaves(self, time: float, arrival: float) -> None:
        """The results of a block are complete."""
        self.done.append(time)
        self.latencies.append(time - arrival)

    @property
    def peak(self) -> float:
        """The most that queues held."""
        return max(self._sizes, default=0.0)

    @property
    def mean_memory(self) -> float:
        """On average over the time until all was done."""
        times = np.array(self._times)
        spent = np.dot(np.diff(times), self._sizes[:-1])
        return float(spent / max(times[-1] - times[0], ROUNDING))

    @property
    def mean_latency(self) -> float:
        """Of all blocks."""
        return float(np.mean(self.latencies))

    @property
    def longest_latency(self) -> float:
        """Of the block that took longest."""
        return max(self.latencies)

    @property
    def points(self) -> tuple[Sequence[float], Sequence[float]]:
        """Instants at which memory changed, and what it was from then on."""
        return self._times, self._sizes

    def latencies_over_time(self, groups: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean latency of the results of some times that are equally long, and when."""
        done, latencies = np.array(self.done), np.array(self.latencies)
        places = np.minimum((done / max(done.max(), ROUNDING) * groups).astype(int), groups - 1)
        counts = np.bincount(places, minlength=groups)
        sums = np.bincount(places, weights=latencies, minlength=groups)
        middles = (np.arange(groups) + 0.5) * done.max() / groups
        return middles[counts > 0], (sums[counts > 0] / counts[counts > 0])

    def memory(self, instants: ArrayLike) -> NDArray[np.float64]:
        """The content of queues, after all that happened at each of some instants."""
        places = np.searchsorted(self._times, np.asarray(instants) + ROUNDING, side="right")
        return np.concatenate([[0.0], self._sizes])[places]
