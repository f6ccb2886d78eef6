"""The benchmark of window transactions: every scheduler runs, and does what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from penstock.errors import UnknownName
from penstock.transactions.transaction_schedulers import TRANSACTION_SCHEDULERS
from penstock_bench.transactions.reads_plot import write_reads_picture
from penstock_bench.transactions.sections import (
    MEASURES,
    SchedulersOfReads,
    TrafficEffort,
    sections,
)

if TYPE_CHECKING:
    from pathlib import Path

TINY = TrafficEffort((3,), (0.05,), rate=20_000, asked_every=0.05, seconds=0.4)


def test_every_scheduler_answers_while_the_window_moves(tmp_path: Path) -> None:
    chosen = sections(TINY)
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
    periodic, mixed = sections(TrafficEffort())
    assert (periodic.name, mixed.name) == ("periodic", "mixed")
    assert len(periodic.items) == 3 * 2 * len(TRANSACTION_SCHEDULERS)
    assert len(mixed.items) == 3 * len(TRANSACTION_SCHEDULERS)
    assert isinstance(periodic, SchedulersOfReads)


def test_a_section_that_there_is_not_is_refused() -> None:
    with pytest.raises(UnknownName, match='bench transactions measures nothing called "perodic"'):
        sections(TINY, ["perodic"])
