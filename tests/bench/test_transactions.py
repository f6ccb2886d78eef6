"""The benchmark of window transactions: every scheduler runs, and does what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from penstock.errors import UnknownName
from penstock.transactions.transaction_schedulers import TRANSACTION_SCHEDULERS
from penstock_bench.transactions.orders_of_reads import MOVEMENTS, ORDERS, aborted
from penstock_bench.transactions.reads_plot import write_reads_picture
from penstock_bench.transactions.sections import (
    MEASURES,
    SchedulersOfReads,
    TrafficEffort,
    sections,
)

if TYPE_CHECKING:
    from pathlib import Path

TINY = TrafficEffort((3,), (0.05,), rate=20_000, asked_every=0.05, seconds=0.4, reads=2_000)


def test_every_scheduler_answers_while_the_window_moves(tmp_path: Path) -> None:
    chosen = [one for one in sections(TINY) if isinstance(one, SchedulersOfReads)]
    outcomes = [one.measure(lambda: None) for one in chosen]
    for section, outcome in zip(chosen, outcomes, strict=True):
        ((_, found),) = outcome.figures.items()
        runs: dict[str, Any] = {name: found[name] for name in TRANSACTION_SCHEDULERS}
        assert all(one["movements"] > 0 for one in runs.values())
        assert all(one["throughput"] > 0 for one in runs.values())
        assert [runs[name]["aborted"] for name in ("serial", "ws")] == [0, 0]
        asks = section.asked_every > 0
        assert all(("response" in one) == asks for one in runs.values())
        assert set(MEASURES) - {"response", "asked_staleness"} <= set(runs["ttu"])
    picture = tmp_path / "transactions.png"
    write_reads_picture(outcomes, picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_both_sections_run_all_schedulers_for_every_window() -> None:
    orders, periodic, mixed = sections(TrafficEffort())
    assert orders.name == "orders"
    assert (periodic.name, mixed.name) == ("periodic", "mixed")
    assert len(periodic.items) == 3 * 2 * len(TRANSACTION_SCHEDULERS)
    assert len(mixed.items) == 3 * len(TRANSACTION_SCHEDULERS)


@pytest.mark.parametrize("often", MOVEMENTS)
def test_what_leaves_first_is_better_read_last(often: int) -> None:
    shares = {name: aborted(name, often, reads=10_000) for name in ORDERS}
    assert shares["ttu"] < shares["lws"]
    if often == 1:
        # A movement at any phase aborts (n - 1) / 2n of them; here none may come, or several.
        assert 0.3 < shares["lws"] < 0.6
        assert shares["ttu"] < 0.01


def test_a_section_that_there_is_not_is_refused() -> None:
    with pytest.raises(UnknownName, match='bench transactions measures nothing called "perodic"'):
        sections(TINY, ["perodic"])
