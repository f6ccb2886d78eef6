"""The sections of `./penstock bench transactions`, as in the experiments of the thesis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table

from penstock.transactions.transaction_schedulers import TRANSACTION_SCHEDULERS
from penstock_bench.choosing import chosen
from penstock_bench.kernels import SectionOutcome
from penstock_bench.transactions.orders_of_reads import OrdersOfReads
from penstock_bench.transactions.traffic_run import TrafficRun, WindowTraffic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from penstock_bench.report import Figures


@dataclass(frozen=True)
class TrafficEffort:
    """The size of the experiments.

    Args:
        lengths: Numbers of sub-windows.
        every: Seconds between two movements.
        rate: Rows that come in a second.
        asked_every: Seconds between two one-time queries, on average.
        seconds: How long each run takes.
        reads: How many reads each run takes that needs no clock.
    """

    lengths: tuple[int, ...] = (10, 50, 100)
    every: tuple[float, ...] = (0.2, 1.0)
    rate: int = 125_000
    asked_every: float = 0.25
    seconds: float = 6.0
    reads: int = 100_000


QUICK = TrafficEffort(lengths=(4, 8), every=(0.1,), rate=100_000, seconds=1.0, reads=10_000)


def sections(
    effort: TrafficEffort, names: Sequence[str] = ()
) -> list[SchedulersOfReads | OrdersOfReads]:
    """The sections that are wanted; all, if no names are given.

    Raises:
        UnknownName: There is no such section.
    """
    first = (min(effort.every),)
    every: list[SchedulersOfReads | OrdersOfReads] = [
        OrdersOfReads(effort.reads),
        SchedulersOfReads("periodic", effort, effort.every, 0.0),
        SchedulersOfReads("mixed", effort, first, effort.asked_every),
    ]
    return chosen("transactions", every, names)


@dataclass(frozen=True)
class SchedulersOfReads:
    """All schedulers under the same traffic, for each number and length of sub-windows.

    Args:
        name: In the list of sections.
        effort: How much.
        every: Seconds between two movements.
        asked_every: Seconds between two one-time queries, on average; 0: there are none.
    """

    name: str
    effort: TrafficEffort
    every: tuple[float, ...]
    asked_every: float

    @property
    def items(self) -> list[tuple[WindowTraffic, str]]:
        """Traffic and schedulers."""
        return [(one, name) for one in self._traffics() for name in TRANSACTION_SCHEDULERS]

    def _traffics(self) -> list[WindowTraffic]:
        return [
            WindowTraffic(length, every, self.effort.rate, self.asked_every, self.effort.seconds)
            for every in self.every
            for length in self.effort.lengths
        ]

    def measure(self, done: Callable[[], None]) -> SectionOutcome:
        """Run one after the other; `done` is called after each."""
        # Operators compile what they need when they run first.
        warm = WindowTraffic(2, 0.05, 20_000, 0.05, 0.5)
        for name in TRANSACTION_SCHEDULERS:
            TrafficRun(warm, name).run()
        found: dict[str, Figures] = {}
        for traffic in self._traffics():
            label = f"{traffic.length} sub-windows of {traffic.every:g} s"
            found[label] = {
                "length": traffic.length,
                "every": traffic.every,
                "rows": traffic.rows * traffic.length,
            }
            for name in TRANSACTION_SCHEDULERS:
                found[label][name] = TrafficRun(traffic, name).run()
                done()
        return SectionOutcome(self.name, _table(self.name, found), found)


MEASURES = {
    "aborted": "aborted reads",
    "per_scan": "movements in a scan",
    "staleness": "staleness, s",
    "between": "between executions, s",
    "throughput": "queries a second",
    "per_cpu": "queries a CPU second",
    "cpu": "of a core",
    "response": "one-time response, s",
    "asked_staleness": "one-time staleness, s",
}
"""The figures that are compared."""


def _table(name: str, found: Mapping[str, Mapping[str, Any]]) -> Table:
    """A row for each traffic and measure."""
    table = Table(title=f"{name}: {' / '.join(TRANSACTION_SCHEDULERS)}", title_justify="left")
    table.add_column("window")
    table.add_column("measure")
    for scheduler in TRANSACTION_SCHEDULERS:
        table.add_column(scheduler, justify="right")
    for label, one in found.items():
        for measure, words in MEASURES.items():
            values = [one[scheduler].get(measure) for scheduler in TRANSACTION_SCHEDULERS]
            if any(value is not None for value in values):
                table.add_row(label, words, *("" if v is None else f"{v:.3g}" for v in values))
        table.add_section()
    return table
