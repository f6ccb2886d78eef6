"""The costs of strategies, as tables for people and as figures for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from penstock_bench.patterns_cases import DOWN, UP
from penstock_bench.patterns_run import STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock_bench.patterns_cases import PatternCase
    from penstock_bench.patterns_run import MeasuredForm, StrategyCost
    from penstock_bench.report import Figures

BASE = "upa"
"""The strategy that others are compared with."""


def item(form: str, window: int) -> str:
    """The name of a measurement: each form over each length."""
    return f"{form} {window}"


def case_table(
    case: PatternCase, found: Mapping[str, MeasuredForm], chosen: Mapping[str, Mapping[str, str]]
) -> Table:
    """A row for each form and length, columns for each strategy.

    `chosen` has the forms that the optimizer runs where a form is measured as it is written.
    """
    title = f"{case.title} ({case.name}): CPU ms for 1000 tuples, and state"
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("answer" if case.optimized else "negation")
    others = [one for one in STRATEGIES if one != BASE]
    columns = ["window", *STRATEGIES, *(f"{one} / {BASE}" for one in others)]
    columns += [f"{one}, kB" for one in STRATEGIES]
    columns += ["results per tuple", "premature", *(["different rows"] if case.distinct else [])]
    columns += ["optimizer runs"] if chosen else []
    for column in columns:
        table.add_column(column, justify="right")
    for name, one in found.items():
        table.add_row(one.form, *_cells(one), *([chosen[name]["measured"]] if chosen else []))
    return table


def batches_table(found: Iterable[tuple[int, MeasuredForm]]) -> Table:
    """A row for each case and size of batches."""
    title = "Rows that come at once (batches): CPU ms for 1000 tuples"
    table = Table(title=title, title_justify="left", title_style="bold")
    others = [one for one in STRATEGIES if one != BASE]
    table.add_column("case")
    for column in ("window", "rows", *STRATEGIES, *(f"{one} / {BASE}" for one in others)):
        table.add_column(column, justify="right")
    for rows, one in found:
        times = [f"{one.costs[name].least:.3f}" for name in STRATEGIES]
        ratios = [f"{one.costs[name].least / one.costs[BASE].least:.2f}" for name in others]
        table.add_row(one.case.name, f"{one.window:,}", f"{rows:,}", *times, *ratios)
    return table


def _cells(one: MeasuredForm) -> list[str]:
    base = one.costs[BASE].least
    ratios = {name: cost.least / base for name, cost in one.costs.items()}
    cells = [f"{one.window:,}", *(f"{one.costs[name].least:.3f}" for name in STRATEGIES)]
    cells += [f"{ratios[name]:.2f}" for name in STRATEGIES if name != BASE]
    cells += [_kilobytes(one.costs[name]) for name in STRATEGIES]
    cells += [f"{one.results:.2f}", f"{one.premature:.0%}" if one.premature else ""]
    return cells + ([f"{one.output_rows:,}"] if one.case.distinct else [])


def _kilobytes(cost: StrategyCost) -> str:
    kept = f" + {cost.answer_bytes / 1e3:,.0f}" if cost.answer_bytes else ""
    return f"{cost.state_bytes / 1e3:,.0f}{kept}"


def figures(one: MeasuredForm) -> Figures:
    """A form over windows of a length, with all that was measured."""
    base = one.costs[BASE].least
    made: Figures = {
        "form": one.form,
        "window": one.window,
        "tuples_of_a_turn": one.tuples,
        "results_per_tuple": round(one.results, 4),
        "premature_share": round(one.premature, 4),
        "changes_agreed_on": one.agreed,
        "strategies": {name: _cost_figures(cost) for name, cost in one.costs.items()},
        f"to_{BASE}": {
            name: round(cost.least / base, 3) for name, cost in one.costs.items() if name != BASE
        },
    }
    if one.case.distinct:
        made["output_rows"] = one.output_rows
        made["state_bytes_per_output_row"] = {
            name: round(cost.state_bytes / max(one.output_rows, 1), 1)
            for name, cost in one.costs.items()
        }
    return made


def _cost_figures(cost: StrategyCost) -> Figures:
    return {
        "ms_per_1000": round(cost.least, 4),
        "highest": round(max(cost.milliseconds), 4),
        "state_bytes": cost.state_bytes,
        "answer_bytes": cost.answer_bytes,
        "share_of_operators": {label: round(share, 3) for label, share in cost.shares.items()},
    }


def down_to_up(found: Mapping[str, MeasuredForm]) -> dict[str, Figures]:
    """The ratio of the negation pushed down to it pulled up, by length and strategy."""
    lengths = dict.fromkeys(one.window for one in found.values())
    pairs = {window: [found[item(form, window)] for form in (DOWN, UP)] for window in lengths}
    return {
        str(window): {
            name: round(down.costs[name].least / up.costs[name].least, 3) for name in STRATEGIES
        }
        for window, (down, up) in pairs.items()
    }
