"""The stages that a block passes in the model: the paths of each input as a tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.scheduling.paths import Path

Port = tuple[str, int]
"""An input of an operator: the name of the stream that enters there, or the operator before it."""


@dataclass(eq=False)
class Stage:
    """A step of paths that have been the same so far.

    Args:
        operator: Its number.
        port: By which of its inputs a block comes here.
        time: What the operator takes for a block.
        size: What is left of a block that waits here.
        left: The time from here to the last result.
        latency: The least that a query above allows.
        onward: The stages that a block goes to next; none: its results leave.
    """

    operator: int
    port: Port
    time: float
    size: float
    left: float = 0.0
    latency: float = inf
    onward: list[Stage] = field(default_factory=list)


def entries(paths: Iterable[Path]) -> dict[str, list[Stage]]:
    """The first stages of each input: it is copied for each that is another operator."""
    found: dict[tuple[str, tuple[int, ...]], Stage] = {}
    first: dict[str, list[Stage]] = {}
    for path in paths:
        before: Stage | None = None
        for step in range(len(path.operators)):
            key = (path.source, path.operators[: step + 1])
            if key not in found:
                found[key] = _stage(path, step)
                (first.setdefault(path.source, []) if before is None else before.onward).append(
                    found[key]
                )
            before = found[key]
            before.left = max(before.left, path.chart.left(step))
            before.latency = min(before.latency, inf if path.latency is None else path.latency)
    return first


def _stage(path: Path, step: int) -> Stage:
    start, end = path.chart.points[step : step + 2]
    port = ("", path.operators[step - 1]) if step else (path.source, -1)
    return Stage(path.operators[step], port, end.time - start.time, start.size)


def below(first: Iterable[Stage]) -> list[Stage]:
    """These stages and all that follow."""
    found = [*first]
    for one in found:
        found += one.onward
    return found
