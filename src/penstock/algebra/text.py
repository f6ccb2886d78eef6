"""Plans for people and programs: as an indented tree, as JSON, as a graph for Graphviz."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.algebra.patterns import pattern_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.algebra.plan import Plan


def plan_text(plan: Plan, note: Callable[[Plan], str] | None = None) -> str:
    """The plan as a tree, the result on top and the inputs at the bottom.

    With `note`, each line ends in what that says about its operator.
    """
    return "\n".join(_lines(plan, 0, note))


def _lines(plan: Plan, depth: int, note: Callable[[Plan], str] | None) -> Iterator[str]:
    behind = f"  {note(plan)}" if note else ""
    yield f"{'  ' * depth}{plan.label()}{behind}"
    for child in plan.children:
        yield from _lines(child, depth + 1, note)


def pattern_note(plan: Plan) -> str:
    """The update pattern of a plan's result, in brackets."""
    return f"[{pattern_of(plan).value}]"


def plan_json(plan: Plan, facts: Callable[[Plan], dict[str, Any]] | None = None) -> dict[str, Any]:
    """The plan as nested dictionaries: operator, label, columns, pattern, `facts`, inputs."""
    return {
        "operator": type(plan).__name__,
        "label": plan.label(),
        "columns": [{"name": f.name, "type": str(f.type)} for f in plan.schema],
        "pattern": pattern_of(plan).value,
        **(facts(plan) if facts else {}),
        "inputs": [plan_json(child, facts) for child in plan.children],
    }


def plan_dot(plan: Plan, note: Callable[[Plan], str] | None = None) -> str:
    """The plan as a Graphviz graph, rows flowing upwards; `note` has the last line of each box."""
    lines = ["digraph plan {", "  rankdir=BT;", "  node [shape=box, fontname=monospace];"]
    _dot(plan, lines, [0], note)
    return "\n".join([*lines, "}"])


def _dot(
    plan: Plan, lines: list[str], counter: list[int], note: Callable[[Plan], str] | None
) -> int:
    number = counter[0]
    counter[0] += 1
    label = _quoted(plan.label()) + (f"\\n{_quoted(note(plan))}" if note else "")
    lines.append(f'  n{number} [label="{label}"];')
    for child in plan.children:
        below = _dot(child, lines, counter, note)
        lines.append(f'  n{below} -> n{number} [label="{pattern_of(child).value}"];')
    return number


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
