"""Schedulers on lanes, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

COLUMNS = (
    *("least", "peak, MB", "of FIFO's", "median, ms"),
    *("p99, ms", "p99 / allowed", "at least", "CPU, s"),
)


def lane_table(found: Mapping[str, Mapping[str, Any]]) -> Table:
    """A row for each kind of traffic and scheduler."""
    made = Table(title=_title(found), title_justify="left", box=None)
    made.add_column("traffic, scheduler")
    for name in COLUMNS:
        made.add_column(name, justify="right")
    for traffic, one in found.items():
        for label, figures in one["schedulers"].items():
            least = f"{one['least_peak'] / 1e6:.2f}" if "least_peak" in one else ""
            cells = _cells(figures, one["schedulers"]["fifo"], one["least_p99"])
            made.add_row(f"{traffic}, {label}", least, *cells)
    return made


def _title(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The title, with what each scheduler adds under each kind of traffic."""
    shares: dict[str, list[str]] = {}
    for one in found.values():
        for name, share in one.get("overhead", {}).get("share", {}).items():
            shares.setdefault(name, []).append(f"{share:.1%}")
    told = ", ".join(f"{name} {' '.join(each)}" for name, each in shares.items())
    return f"Bursts; scheduling adds to the time: {told}" if told else "Bursts"


def _cells(one: Mapping[str, Any], fifo: Mapping[str, Any], least: float) -> list[str]:
    is_bounded = "p99_to_latency" in one
    return [
        f"{one['peak'] / 1e6:.2f}",
        f"{one['peak'] / max(fifo['peak'], 1):.2f}",
        f"{one['median'] * 1e3:.1f}",
        f"{one['p99'] * 1e3:.1f}",
        f"{one['p99_to_latency']:.2f}" if is_bounded else "",
        f"{least / one['latency']:.2f}" if is_bounded else "",
        f"{one['cpu']:.2f}" if "cpu" in one else "",
    ]
