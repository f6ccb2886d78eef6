"""The best that any order of work can do if it knows what will come, by trying all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from penstock.scheduling.chart import Chart
    from penstock_bench.chain.model import BlockArrival

State = tuple[tuple[int, int], ...]
"""Of each block that has come: the number of its chart, and the units of work done on it."""


class Trials:
    """All ways to spend units of time on blocks; one that is done is left out.

    Args:
        charts: For each input.
        arrivals: At whole instants, in order.
    """

    def __init__(self, charts: Sequence[Chart], arrivals: Sequence[BlockArrival]) -> None:
        self._arrivals = arrivals
        self._sizes = [_sizes(chart) for chart in charts]

    def least(self, instants: int) -> list[float]:
        """The least memory at each instant by itself, over all ways to get there."""
        states: set[State] = {()}
        found = []
        for instant in range(instants):
            if instant:
                states = {one for state in states for one in self._onward(state)}
            came = self._came(instant)
            # Blocks of one chart are alike: which of them got how far makes no difference.
            states = {tuple(sorted(state + came)) for state in states}
            found.append(min(map(self._memory, states)))
        return found

    def least_peak(self, latency: int) -> float | None:
        """The least peak over the ways in which no result is late; None: there is no such way.

        Where all have the same latency, blocks of one input may as well be completed in order.
        """
        peaks: dict[State, float] = {(): 0.0}
        instant, todo = 0, len(self._arrivals)
        ages: list[int] = []
        while todo or any(peaks):
            if instant:
                peaks = _best(
                    (one, peak) for state, peak in peaks.items() for one in self._onward(state)
                )
            came = self._came(instant)
            todo -= len(came)
            ages += [instant] * len(came)
            peaks = _best(
                (now, max(peak, self._memory(now)))
                for state, peak in peaks.items()
                for now in [tuple(sorted(state + came, reverse=True))]
                if _is_in_time(len(now), ages, instant - latency)
            )
            if not peaks:
                return None
            instant += 1
        return min(peaks.values())

    def _came(self, instant: int) -> State:
        return tuple((int(one.source), 0) for one in self._arrivals if one.time == instant)

    def _memory(self, state: State) -> float:
        return sum(self._sizes[chart][done] for chart, done in state)

    def _onward(self, state: State) -> Iterator[State]:
        """What a unit of time can make of it."""
        yield state
        for place, (chart, done) in enumerate(state):
            others = state[:place] + state[place + 1 :]
            if done + 1 == len(self._sizes[chart]):
                yield others
            else:
                yield (*state[:place], (chart, done + 1), *state[place + 1 :])


def _sizes(chart: Chart) -> list[float]:
    """The size of a block after each unit of work, but the last."""
    ends = {point.time: point.size for point in chart.points}
    sizes: list[float] = []
    for unit in range(int(chart.time)):
        sizes.append(ends.get(float(unit), sizes[-1] if sizes else 1.0))
    return sizes


def _best(found: Iterator[tuple[State, float]]) -> dict[State, float]:
    """The least peak by which each state can be reached."""
    best: Mapping[State, float] = {}
    made = dict(best)
    for state, peak in found:
        made[state] = min(peak, made.get(state, peak))
    return made


def _is_in_time(left: int, ages: Sequence[int], latest: int) -> bool:
    """True if all blocks are done that came by an instant, if the oldest are done first."""
    return sum(one > latest for one in ages) >= left
