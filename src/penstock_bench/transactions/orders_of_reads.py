"""Orders of reads on no clock: the share of aborts, by movements in the time of a scan."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table

from penstock.transactions.histories import Act
from penstock.transactions.read_transactions import single
from penstock.transactions.transaction_schedulers import TRANSACTION_SCHEDULERS
from penstock_bench.kernels import SectionOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_bench.report import Figures

LENGTH = 50
MOVEMENTS = (1, 2, 5, 25)
"""In the time of as many reads as there are sub-windows, on average."""
ORDERS = ("lws", "ttu")
"""The schedulers that abort; restarts have no cap here."""
SEED = 5


@dataclass(frozen=True)
class OrdersOfReads:
    """Aborts under LWS and TTU where movements come at random between reads.

    Args:
        reads: Reads of sub-windows in each run.
        name: In the list of sections.
    """

    reads: int = 100_000
    name: str = "orders"

    @property
    def items(self) -> list[tuple[int, str]]:
        """Movements in a scan, and schedulers."""
        return [(often, name) for often in MOVEMENTS for name in ORDERS]

    def measure(self, done: Callable[[], None]) -> SectionOutcome:
        """Run one after the other; `done` is called after each."""
        table = Table(title=f"{self.name}: aborted, {LENGTH} sub-windows", title_justify="left")
        for column in ("movements a scan", *ORDERS):
            table.add_column(column, justify="right")
        found: dict[str, Figures] = {}
        for often in MOVEMENTS:
            shares: Figures = {}
            for name in ORDERS:
                shares[name] = round(aborted(name, often, self.reads), 4)
                done()
            found[str(often)] = shares
            table.add_row(str(often), *(f"{shares[name]:.2%}" for name in ORDERS))
        return SectionOutcome(self.name, table, found)


def aborted(name: str, often: float, reads: int, length: int = LENGTH) -> float:
    """The share of attempts that are aborted; one query after the other reads the whole window."""
    acts = dict.fromkeys(Act, 0)

    def counted(act: Act) -> None:
        acts[act] += 1

    scheduler = TRANSACTION_SCHEDULERS[name](length, length - 1, lambda one: counted(one.act))
    moves = np.random.default_rng(SEED).poisson(often / length, reads)
    numbers = count()
    for several in moves:
        for _ in range(several):
            scheduler.move()
        scan = scheduler.choose()
        if scan is None:
            # The one before has committed, or was given up.
            scheduler.begin(single(str(next(numbers)), length))
            scan = scheduler.choose()
            assert scan is not None
        scheduler.finish(scan)
    return acts[Act.ABORT] / max(acts[Act.ABORT] + acts[Act.COMMIT], 1)
