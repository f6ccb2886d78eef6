"""Operators of a physical plan as a tree, fragments put together: what EXPLAIN prints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.operators.source_specs import ExchangeSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from penstock.planner.physical.graph import Node
    from penstock.planner.physical.physical_plan import Fragment, PhysicalPlan


@dataclass(frozen=True, eq=False)
class ShownOperator:
    """An operator of a plan that runs, and those it reads.

    Args:
        node: The operator.
        identity: What it is by content.
        children: The operators whose results it reads.
    """

    node: Node
    identity: str
    children: tuple[ShownOperator, ...] = field(repr=False)

    def label(self) -> str:
        """It in a line."""
        return self.node.label


def shown(plan: PhysicalPlan) -> dict[str, ShownOperator]:
    """The operators with the results of queries, by name; what is read twice is one object."""
    sent: dict[str, ShownOperator] = {}
    made: dict[str, ShownOperator] = {}
    for fragment in plan.fragments:
        found = _fragment(fragment, sent)
        results = {name: found[number] for name, number in fragment.graph.results.items()}
        (sent if fragment.name is not None else made).update(results)
    return made


def _fragment(fragment: Fragment, sent: Mapping[str, ShownOperator]) -> list[ShownOperator]:
    found: list[ShownOperator] = []
    for node, identity in zip(fragment.graph.nodes, fragment.graph.identities, strict=True):
        if isinstance(node.spec, ExchangeSpec) and node.spec.source.name in sent:
            found.append(sent[node.spec.source.name])
        else:
            found.append(ShownOperator(node, identity, tuple(found[one] for one in node.inputs)))
    return found


def all_shown(top: ShownOperator) -> list[ShownOperator]:
    """An operator and all below it, each once."""
    found: dict[int, ShownOperator] = {}
    waiting = [top]
    while waiting:
        one = waiting.pop()
        if id(one) not in found:
            found[id(one)] = one
            waiting += one.children
    return list(found.values())


def tree_text(top: ShownOperator, note: Callable[[ShownOperator], str]) -> str:
    """Operators as a tree, the result on top; what was shown before is only named again."""
    return "\n".join(_lines(top, 0, note, set()))


def _lines(
    one: ShownOperator, depth: int, note: Callable[[ShownOperator], str], seen: set[int]
) -> Iterator[str]:
    start = f"{'  ' * depth}{one.label()}"
    if id(one) in seen and one.children:
        yield f"{start}  as above"
        return
    seen.add(id(one))
    yield f"{start}  {note(one)}"
    for child in one.children:
        yield from _lines(child, depth + 1, note, seen)
