"""The choices that running operators made by themselves: structures, orders of probes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from penstock.planner.statistics.measuring import by_operator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from penstock.algebra.patterns import Strategy
    from penstock.planner.statistics.measuring import Lanes


def described_use(lanes: Lanes, strategy: Strategy) -> list[str]:
    """The choice of each operator that has one; where lanes differ, on how many of them."""
    return [line for reports in by_operator(lanes) for line in _described(reports, strategy)]


def _described(reports: Sequence[Mapping[str, Any]], strategy: Strategy) -> Iterator[str]:
    used = Counter(filter(None, (_used(one, strategy) for one in reports)))
    if not used:
        return
    label, lanes = reports[0]["label"], used.total()
    texts = [
        text if len(used) == 1 else f"{text} ({n} of {lanes} lanes)" for text, n in used.items()
    ]
    yield f"In use: {label}: {'; or '.join(texts)}"


def _used(report: Mapping[str, Any], strategy: Strategy) -> str:
    """The choice of a lane's operator; empty if it has none."""
    words = []
    # Rows that leave in the order they came are never withdrawn before.
    kept = report.get("structures", ())
    if strategy == "auto" and any(one != "fifo" for one in kept):
        words.append(" + ".join(kept))
    if report.get("probes"):
        times = report["reordered"]
        changed = f", changed {times} time{'s' if times > 1 else ''}" if times else ""
        words.append(f"probing {probing(report['probes'])}{changed}")
    return ", ".join(words)


def probing(probes: Sequence[Mapping[str, Any]]) -> str:
    """In which order the rows of each input of a join of many probe the others.

    >>> probing([{"origin": "a", "target": "c"}, {"origin": "a", "target": "b"}])
    'a: c b'
    """
    orders: dict[str, list[str]] = {}
    for one in probes:
        orders.setdefault(one["origin"], []).append(one["target"])
    return "; ".join(f"{name}: {' '.join(others)}" for name, others in orders.items())
