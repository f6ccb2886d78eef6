"""The orders of probes that running operators have chosen by themselves, and use now."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from penstock.planner.statistics.measuring import by_operator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from penstock.planner.statistics.measuring import Lanes


def described_use(lanes: Lanes) -> list[str]:
    """The choice of each operator that has one; where lanes differ, on how many of them."""
    return [line for reports in by_operator(lanes) for line in _described(reports)]


def _described(reports: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    used = Counter(filter(None, map(_used, reports)))
    if not used:
        return
    label, lanes = reports[0]["label"], used.total()
    texts = [
        text if len(used) == 1 else f"{text} ({n} of {lanes} lanes)" for text, n in used.items()
    ]
    yield f"In use: {label}: {'; or '.join(texts)}"


def _used(report: Mapping[str, Any]) -> str:
    """The choice of a lane's operator; empty if it has none."""
    if not report.get("probes"):
        return ""
    times = report["reordered"]
    changed = f", changed {times} time{'s' if times > 1 else ''}" if times else ""
    return f"probing {probing(report['probes'])}{changed}"


def probing(probes: Sequence[Mapping[str, Any]]) -> str:
    """In which order the rows of each input of a join of many probe the others.

    >>> probing([{"origin": "a", "target": "c"}, {"origin": "a", "target": "b"}])
    'a: c b'
    """
    orders: dict[str, list[str]] = {}
    for one in probes:
        orders.setdefault(one["origin"], []).append(one["target"])
    return "; ".join(f"{name}: {' '.join(others)}" for name, others in orders.items())
