"""Bursty traffic: when blocks come in."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

FLOW_GAP = 1.0
"""The mean time from the start of a flow to that of the next."""
PARETO_SHAPE = 1.3
"""Of the times for which flows send: below 2 they vary without bound, so bursts have all sizes."""
LEAST_SENDING = 0.25
"""The time for which a flow sends at least."""
DAY = 48
"""Counts of a day in a trace: one for half an hour."""
DAYS = 14


def flow_rates(seed: int, steps: int, step: float = 0.05) -> NDArray[np.float64]:
    """The number of flows that send in each step of time.

    Flows start as a Poisson process and send for Pareto times, all at the same rate.
    """
    random = np.random.default_rng(seed)
    # Those that had begun before are there, too.
    warm = steps // 2
    span = (steps + warm) * step
    starts = np.sort(random.uniform(0, span, random.poisson(span / FLOW_GAP)))
    ends = starts + LEAST_SENDING * (1 + random.pareto(PARETO_SHAPE, len(starts)))
    edges = np.arange(steps + warm + 1) * step
    active = np.searchsorted(starts, edges) - np.searchsorted(np.sort(ends), edges)
    return active[warm:-1].astype(np.float64)


def made_up_trace(seed: int) -> NDArray[np.float64]:
    """Two weeks of a town's traffic by the half hour: quiet nights, two peaks, calmer weekends."""
    random = np.random.default_rng(seed)
    slots = np.arange(DAY * DAYS)
    hour, day = slots % DAY / 2, slots // DAY
    peaks = 14 * _bump(hour, 8.5, 2.0) + 20 * _bump(hour, 19.0, 3.5) + 9 * _bump(hour, 13.0, 4.0)
    weekend = np.where(day % 7 >= 5, 0.7, 1.0)
    counts = (2.0 + peaks) * weekend * np.exp(random.normal(0, 0.15, len(slots)))
    # A storm or a concert: now and then an hour with a multiple of what is usual.
    events = random.choice(len(slots), DAYS, replace=False)
    counts[events] *= random.uniform(2, 4, len(events))
    return counts


def _bump(hour: NDArray[np.float64], at: float, width: float) -> NDArray[np.float64]:
    return np.exp(-(((hour - at) / width) ** 2))


def read_trace(path: Path) -> NDArray[np.float64]:
    """The counts of a CSV file: its last column, below a header.

    Raises:
        ValueError: It holds something else, or too little.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = [*csv.reader(file)][1:]
    counts = np.array([float(row[-1]) for row in rows if row])
    if len(counts) < 2 or not (counts >= 0).all() or not counts.sum():
        msg = "it needs two counts or more, none below 0"
        raise ValueError(msg)
    return counts


def arrivals(rates: NDArray[np.float64], blocks: int, duration: float) -> NDArray[np.float64]:
    """The instants at which so many blocks come, in a time, at rates that are like these.

    A block comes when its last row does.
    """
    come = np.concatenate([[0.0], np.cumsum(rates)])
    edges = np.linspace(0, duration, len(come))
    wanted = np.arange(1, blocks + 1) * (come[-1] / blocks)
    found: NDArray[np.float64] = np.interp(wanted, come, edges)
    return found
