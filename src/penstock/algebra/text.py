"""Plans for people and programs: as an indented tree, as JSON, as a graph for Graphviz."""

from __future__ import annotations

import itertools
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from penstock.algebra.operators import OnArrival
from penstock.algebra.patterns import pattern_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.algebra.plan import Plan

    Note = Callable[[Any], str]
    """A note about an operator."""


class DrawableNode(Protocol):
    """An operator that can be drawn, with those below it."""

    @property
    def children(self) -> Sequence[Any]:
        """The operators it reads."""

    def label(self) -> str:
        """It in a line."""


WIDTH = 100
"""Letters in a line of what is said about a plan in a graph."""


def plan_text(plan: Plan, note: Callable[[Plan], str] | None = None) -> str:
    """The plan as a tree, the result on top and the inputs at the bottom.

    With `note`, each line ends in what that says about its operator.
    """
    return "\n".join(_lines(plan, plan, 0, note))


def _lines(plan: Plan, sender: Plan, depth: int, note: Note | None) -> Iterator[str]:
    behind = f"  {note(sender)}" if note else ""
    yield f"{'  ' * depth}{plan.label()}{behind}"
    for child in plan.children:
        yield from _lines(child, _sender(plan, child), depth + 1, note)


def _sender(above: Any, plan: Plan) -> Plan:
    """The sender of the rows of an input: the input, or what is above it.

    What a read on arrival applies to each row is no operator of its own, whose results would be
    withdrawn when the relation changes.
    """
    return above if isinstance(above, OnArrival) else plan


def pattern_note(plan: Plan) -> str:
    """The update pattern of a plan's result, in brackets."""
    return f"[{pattern_of(plan).value}]"


def plan_json(plan: Plan, facts: Callable[[Plan], dict[str, Any]] | None = None) -> dict[str, Any]:
    """The plan as nested dictionaries: operator, label, columns, pattern, `facts`, inputs."""
    return _json(plan, plan, facts)


def _json(
    plan: Plan, sender: Plan, facts: Callable[[Plan], dict[str, Any]] | None
) -> dict[str, Any]:
    return {
        "operator": type(plan).__name__,
        "label": plan.label(),
        "columns": [{"name": f.name, "type": str(f.type)} for f in plan.schema],
        "pattern": pattern_of(sender).value,
        **(facts(plan) if facts else {}),
        "inputs": [_json(child, _sender(plan, child), facts) for child in plan.children],
    }


@dataclass(frozen=True)
class Drawn:
    """A plan in a graph.

    Args:
        plan: The plan.
        note: What is said about each operator: the last line of its box.
        name: What it is called, if there are others.
        below: What is said about all of it, line by line.
    """

    plan: DrawableNode
    note: Note | None = None
    name: str | None = None
    below: Sequence[str] = ()

    @property
    def label(self) -> str:
        """Its name, and what is said about it, in lines that are no longer than boxes are."""
        lines = [] if self.name is None else [self.name]
        for line in self.below:
            lines += textwrap.wrap(line, WIDTH, subsequent_indent="  ")
        return "".join(f"{_quoted(line)}\\l" for line in lines)


def plans_dot(plans: Sequence[Drawn]) -> str:
    """Plans in one graph of Graphviz, rows flowing upwards; one that has a name, in a frame.

    What a plan reads twice is drawn once.
    """
    lines = [
        "digraph plan {",
        "  rankdir=BT;",
        # Of this font Graphviz knows the widths, also where no fonts are installed.
        "  node [shape=box, fontname=Courier];",
        "  edge [fontname=Courier];",
    ]
    names = itertools.count()
    for number, one in enumerate(plans):
        drawn: list[str] = []
        if one.label:
            drawn.append(f'fontname=Courier; labelloc=b; labeljust=l; label="{one.label}";')
        _dot(one.plan, drawn, {}, names, one.note)
        if one.name is None:
            lines += [f"  {line}" for line in drawn]
        else:
            lines.append(f"  subgraph cluster_{number} {{")
            lines += [*(f"    {line}" for line in drawn), "  }"]
    return "\n".join([*lines, "}"])


def _dot(
    plan: DrawableNode,
    lines: list[str],
    known: dict[int, str],
    names: Iterator[int],
    note: Note | None,
) -> str:
    """Add a plan to the lines of a graph, unless it is there; what it is called."""
    if id(plan) in known:
        return known[id(plan)]
    name = known[id(plan)] = f"n{next(names)}"
    label = _quoted(plan.label()) + (f"\\n{_quoted(note(plan))}" if note else "")
    lines.append(f'{name} [label="{label}"];')
    for child in plan.children:
        below = _dot(child, lines, known, names, note)
        # With notes, the box that rows come from says of which pattern they are.
        shown = "" if note else f' [label="{pattern_of(_sender(plan, child)).value}"]'
        lines.append(f"{below} -> {name}{shown};")
    return name


def _quoted(text: str) -> str:
    """A text within a label; Graphviz would take `&lt;` for a single letter."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
