"""Reports of measurements, as tables for people and as figures for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock_bench.contests import Score
    from penstock_bench.driving import Speed
    from penstock_bench.lengths import LengthCosts
    from penstock_bench.memory import Footprint

Figures = dict[str, object]

RATIO_AIM, SPREAD_AIM, MEMORY_AIM = 1 / 3, 1.5, 2.0
"""What issue 3 asks for: of the bound's speed; from length to length; of a row's own bytes."""

BARS = "▁▂▃▄▅▆▇█"


def operators_table(speeds: Mapping[str, Speed]) -> Table:
    """A row for each operator."""
    table = _table("Operators: inline, one core", "operator", "M rows/s", "results per row",
                   "in operators", "first run, s")  # fmt: skip
    for name, one in speeds.items():
        table.add_row(
            name,
            f"{one.rows_per_second / 1e6:.2f}",
            f"{one.results / one.rows:.2f}",
            f"{one.in_operators:.0%}",
            f"{one.first_seconds:.2f}",
        )
    return table


def speed_figures(one: Speed) -> Figures:
    """An operator's speed."""
    return {
        "rows_per_second": round(one.rows_per_second),
        "results_per_row": round(one.results / one.rows, 4),
        "in_operators": round(one.in_operators, 3),
        "first_run_seconds": round(one.first_seconds, 3),
        "best_run_seconds": round(one.seconds, 4),
        "busy": round(one.busy, 3),
        "runs": one.runs,
    }


def ratios_table(scores: Mapping[str, Score]) -> Table:
    """A row for each way to compute a headline query."""
    table = _table("The same complete result in one batch, one thread", "query", "engine", "how",
                   "M rows/s", "ours / theirs", left=3)  # fmt: skip
    for name, score in scores.items():
        for number, one in enumerate(score.standings):
            ratio = f"{score.own_rate / one.rows_per_second:.2f}" if number else ""
            if one is score.bound:
                ratio = f"bound {_judged(score.ratio, score.ratio >= RATIO_AIM)}"
            how = f"{one.name} [dim]({one.easier})[/dim]" if one.easier else one.name
            speed = f"{one.rows_per_second / 1e6:.2f}"
            table.add_row(name if not number else "", one.engine, how, speed, ratio)
        table.add_section()
    return table


def score_figures(score: Score) -> Figures:
    """The figures of a contest: the score, and every way that was measured."""
    return {
        "rows": score.rows,
        "rows_per_second": round(score.own_rate),
        "bound_rows_per_second": round(score.bound.rows_per_second),
        "bound_by": f"{score.bound.engine}: {score.bound.name}",
        "ratio": round(score.ratio, 3),
        "aim": round(RATIO_AIM, 3),
        "others": [
            {
                "engine": one.engine,
                "how": one.name,
                "rows_per_second": round(one.rows_per_second),
                "easier": one.easier,
            }
            for one in score.standings[1:]
        ],
        "equal_changes": score.equal_changes,
    }


def lengths_table(costs: Mapping[str, LengthCosts]) -> Table:
    """A row for each query, a column for each length."""
    lengths = list(next(iter(costs.values())).nanoseconds) if costs else []
    titles = [f"{length:,} tuples" for length in lengths]
    table = _table("Nanoseconds per row, by tuples in the window", "query", *titles, "max / min")
    for name, one in costs.items():
        cells = [f"{one.nanoseconds[length]:.0f}" for length in lengths]
        table.add_row(name, *cells, _judged(one.spread, one.spread <= SPREAD_AIM))
    return table


def costs_figures(one: LengthCosts) -> Figures:
    """Cost and results per row, by length."""
    return {
        "nanoseconds_per_row": {str(n): round(cost, 1) for n, cost in one.nanoseconds.items()},
        "results_per_row": {str(n): round(many, 3) for n, many in one.results_per_row.items()},
        "spread": round(one.spread, 3),
        "aim": SPREAD_AIM,
    }


def memory_table(footprints: Mapping[str, Footprint]) -> Table:
    """A row for each query: bytes per live row, and memory after each of its windows."""
    table = _table("Memory over the length of 50 windows", "query", "row + index, B",
                   "state per live row, B", "ratio", "state by window", "end / early",
                   "process by window", "end / early")  # fmt: skip
    for name, one in footprints.items():
        table.add_row(
            name,
            f"{one.needed_bytes:.0f}",
            f"{one.state_per_row:.0f}",
            _judged(one.ratio, one.ratio <= MEMORY_AIM),
            sparkline([sample.state_bytes for sample in one.samples]),
            f"{one.state_growth:.2f}",
            sparkline([sample.process_bytes for sample in one.samples]),
            f"{one.process_growth:.2f}",
        )
    return table


def footprint_figures(one: Footprint) -> Figures:
    """Bytes per live row, and every sample."""
    return {
        "live_rows": one.live_rows,
        "row_bytes": round(one.row_bytes, 1),
        "row_interval_index_bytes": round(one.needed_bytes, 1),
        "state_bytes_per_live_row": round(one.state_per_row, 1),
        "ratio": round(one.ratio, 3),
        "aim": MEMORY_AIM,
        "state_growth": round(one.state_growth, 3),
        "process_growth": round(one.process_growth, 3),
        "state_rows": [sample.state_rows for sample in one.samples],
        "state_bytes": [sample.state_bytes for sample in one.samples],
        "process_bytes": [sample.process_bytes for sample in one.samples],
    }


def sparkline(values: Sequence[int], cells: int = 17) -> str:
    """A line of bars from zero to the highest value, so that what is flat looks flat.

    >>> sparkline([4, 8, 8, 1])
    '▄██▁'
    """
    top = max(values, default=0) or 1
    step = -(-len(values) // cells)
    highest = [max(values[start : start + step]) for start in range(0, len(values), step)]
    return "".join(BARS[max(value * len(BARS) // top - 1, 0)] for value in highest)


def _judged(value: float, good: bool) -> str:
    return f"[{'green' if good else 'yellow'}]{value:.2f}[/]"


def _table(title: str, *columns: str, left: int = 1) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number < left else "right")
    return table
