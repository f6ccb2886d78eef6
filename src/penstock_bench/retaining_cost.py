"""The cost of retaining rows, end to end: the same pipeline on Spark with RETAIN and without."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import penstock
from penstock_bench.retained_questions import BATCH, QUERY, STREAM, batches_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

WARM = 3
RULES = ("NONE", "1 HOUR")


def cost(batches: int, rounds: int, say: Callable[[str], None]) -> dict[str, object]:
    """Rows a second with either rule, in turns; micro-batches follow each other at once."""
    tables = list(batches_of((batches + WARM) * BATCH))
    found: dict[str, list[float]] = {rule: [] for rule in RULES}
    with tempfile.TemporaryDirectory(prefix="penstock-cost-") as folder:
        for number in range(rounds):
            for rule in RULES if number % 2 else reversed(RULES):
                home = Path(folder) / f"{number}-{rule.split()[0]}"
                found[rule].append(_rows_a_second(home, rule, tables))
    rates = {rule: statistics.median(one) for rule, one in found.items()}
    share = rates["NONE"] / rates["1 HOUR"] - 1
    say(
        f"retaining: {rates['1 HOUR']:,.0f} rows a second, {rates['NONE']:,.0f} without,"
        f" {share:+.1%} time (of {rounds} rounds each)"
    )
    return {
        "rows_per_second": {rule: round(one) for rule, one in rates.items()},
        "all_rounds": {rule: [round(one) for one in several] for rule, several in found.items()},
        "cost": round(share, 4),
    }


def _rows_a_second(home: Path, rule: str, tables: list[pa.Table]) -> float:
    db = penstock.connect(home=home)
    db.execute(f"{STREAM.format(rule)} CREATE QUERY q AS {QUERY};")
    for table in tables[:WARM]:
        db.insert("s", table)
        db.wait_idle()
    began = time.perf_counter()
    for table in tables[WARM:]:
        db.insert("s", table)
        db.wait_idle()
    seconds = time.perf_counter() - began
    db.close()
    return BATCH * (len(tables) - WARM) / seconds
