"""A table of the operators and their work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.planner.statistics.measuring import selectivity_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SUMMED = (
    "rows_in", "rows_out", "withdrawn", "waiting", "state_rows", "state_bytes", "seconds",
)  # fmt: skip
"""What reports of several lanes count together."""


def operator_table(operators: Iterable[Sequence[Any]]) -> pa.Table:
    """Operators, each with its reports from all lanes: objects, or the same as dicts."""
    rows = []
    for reports in operators:
        sums = {name: sum(_value(one, name) for one in reports) for name in SUMMED}
        row = {"operator": _value(reports[0], "label")}
        row |= {name: sums[name] for name in SUMMED if name != "waiting"}
        rows.append({**row, "selectivity": selectivity_of(sums)})
    return pa.Table.from_pylist(rows)


def _value(report: Any, name: str) -> Any:
    return report[name] if isinstance(report, dict) else getattr(report, name)
