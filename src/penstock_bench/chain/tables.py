"""The figures of the schedulers, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping


def compared_table(found: Mapping[str, Mapping[str, Any]]) -> Table:
    """A row for each workload and traffic: peaks, then the mean latency, of each scheduler."""
    names = [*next(iter(found.values()))["schedulers"]] if found else []
    table = _table("Peak memory in blocks / mean latency in units", "queries, traffic", "least")
    for name in names:
        table.add_column(name, justify="right")
    for label, one in found.items():
        cells = [
            f"{made['peak_memory']:.1f} / {made['mean_latency']:.0f}"
            for made in one["schedulers"].values()
        ]
        least = f"{one['least_peak']:.1f}" if "least_peak" in one else ""
        table.add_row(label, least, *cells)
    return table


def flush_table(found: Mapping[str, Mapping[str, Any]]) -> Table:
    """A row for each latency."""
    table = _table(
        "Chain-Flush by latency", "queries", "latency", "peak", "p99 / latency", "late",
        "peak, exact", "late, exact",
    )  # fmt: skip
    for name, one in found.items():
        table.add_row(f"{name}, FIFO", _longest(one["fifo"]), _peak(one["fifo"]))
        for made in one["latencies"]:
            flush = made["chain_flush"]
            cells = [_peak(flush), f"{flush['p99_to_latency']:.3f}", f"{flush['late']:.1%}"]
            if "exact" in made:
                cells += [_peak(made["exact"]), f"{made['exact']['late']:.1%}"]
            table.add_row(name, f"{made['latency']:.0f}", *cells)
        table.add_row(f"{name}, Chain", _longest(one["chain"]), _peak(one["chain"]))
        table.add_section()
    return table


def mixed_table(found: Mapping[str, Mapping[str, Any]]) -> Table:
    """A row for each slope."""
    table = _table("Mixed by slope", "queries", "slope", "peak", "mean latency", "longest")
    for name, one in found.items():
        rows = [("Chain", one["chain"])]
        rows += [(f"{made['threshold']:.3f}", made) for made in one["thresholds"]]
        for slope, made in [*rows, ("FIFO", one["fifo"])]:
            table.add_row(name, slope, _peak(made), f"{made['mean_latency']:.1f}", _longest(made))
        table.add_section()
    return table


def overhead_table(found: Mapping[str, Mapping[str, Any]]) -> Table:
    """A row for each number of operators."""
    names = [*next(iter(found.values()))] if found else []
    table = _table("CPU time of a step, microseconds", "operators", *names)
    for operators, one in found.items():
        table.add_row(operators, *(f"{one[name]:.1f}" for name in names))
    return table


def _peak(made: Mapping[str, float]) -> str:
    return f"{made['peak_memory']:.2f}"


def _longest(made: Mapping[str, float]) -> str:
    return f"{made['longest_latency']:.0f}"


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left")
    return table
