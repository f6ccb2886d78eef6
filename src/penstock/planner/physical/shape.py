"""What tells operator graphs apart, so that state is only given to operators that made it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.planner.partition.partitioning import Partitioning
    from penstock.planner.physical.graph import Graph


def shape_of(parts: Iterable[tuple[Graph, Partitioning]]) -> str:
    """Different for different operators, or rows that are divided among lanes otherwise."""
    found = [
        (
            [(node.label, node.inputs, node.pattern.value) for node in graph.nodes],
            [str(type_) for node in graph.nodes for type_ in node.types],
            {name: str(route) for name, route in partitioning.routes.items()},
        )
        for graph, partitioning in parts
    ]
    return hashlib.sha256(repr(found).encode()).hexdigest()[:16]
