"""Plans for people and programs: as an indented tree, as JSON, as a graph for Graphviz."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.algebra.patterns import pattern_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.algebra.plan import Plan


def plan_text(plan: Plan, *, patterns: bool = False) -> str:
    """The plan as a tree, the result on top and the inputs at the bottom.

    With `patterns`, each line ends in the update pattern of its result.
    """
    return "\n".join(_lines(plan, 0, patterns))


def _lines(plan: Plan, depth: int, patterns: bool) -> Iterator[str]:
    note = f"  [{pattern_of(plan).value}]" if patterns else ""
    yield f"{'  ' * depth}{plan.label()}{note}"
    for child in plan.children:
        yield from _lines(child, depth + 1, patterns)


def plan_json(plan: Plan) -> dict[str, Any]:
    """The plan as nested dictionaries: operator, label, columns, pattern, inputs."""
    return {
        "operator": type(plan).__name__,
        "label": plan.label(),
        "columns": [{"name": f.name, "type": str(f.type)} for f in plan.schema],
        "pattern": pattern_of(plan).value,
        "inputs": [plan_json(child) for child in plan.children],
    }


def plan_dot(plan: Plan) -> str:
    """The plan as a Graphviz graph, rows flowing upwards."""
    lines = ["digraph plan {", "  rankdir=BT;", "  node [shape=box, fontname=monospace];"]
    _dot(plan, lines, [0])
    return "\n".join([*lines, "}"])


def _dot(plan: Plan, lines: list[str], counter: list[int]) -> int:
    number = counter[0]
    counter[0] += 1
    label = plan.label().replace("\\", "\\\\").replace('"', '\\"')
    lines.append(f'  n{number} [label="{label}"];')
    for child in plan.children:
        below = _dot(child, lines, counter)
        lines.append(f'  n{below} -> n{number} [label="{pattern_of(child).value}"];')
    return number
