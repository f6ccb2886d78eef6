"""EXPLAIN of joins of three inputs or more: how they run, why, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.planner.physical.multiway import condition_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.planner.explain.annotate import Annotations
    from penstock.planner.physical.building import Choices
    from penstock.planner.physical.multiway_choice import MultiwayChoice


def described_joins(
    ways: Sequence[MultiwayChoice], choices: Choices, notes: Annotations
) -> list[str]:
    """A line for each join, and one for each input whose rows probe the others."""
    return [line for way in ways for line in _described(way, choices, notes)]


def _described(way: MultiwayChoice, choices: Choices, notes: Annotations) -> Iterator[str]:
    names = way.many.names
    one, two = notes.price(way.cost), notes.price(way.of_tree)
    inputs = f"{', '.join(names[:-1])} and {names[-1]}"
    steps = "in parts" if way.is_mixed else "two by two"
    if not way.is_chosen:
        yield f"Joins: {inputs} {steps}, {_why(way)}: {two}; in one operator {one}"
        return
    how = f"{choices.join_evaluation} evaluation, {choices.join_expiration} expiration"
    yield f"Joins: {inputs} in one operator ({how}), {_why(way)}: {one}; {steps} {two}"
    for row in expected_rows(way):
        order = ", then ".join(
            f"{names[place]} ({'; '.join(asked)})" if asked else names[place]
            for place, asked in zip(row.order, row.asked, strict=True)
        )
        seen, made = notes.amount(row.visits), notes.amount(row.found)
        yield f"  a row of {names[row.origin]} probes {order}: visits {seen} rows, finds {made}"


def _why(way: MultiwayChoice) -> str:
    """By `SET joins`, or by cost."""
    return "as is set" if way.is_set else "as time and the fourth root of memory say"


@dataclass(frozen=True)
class NewRowEstimate:
    """The estimates for a new row of an input.

    Args:
        origin: The input.
        order: The inputs it probes.
        asked: The conditions behind each probe, in the order in which they are asked.
        visits: Rows that are visited for it.
        found: Combinations that it makes.
    """

    origin: int
    order: tuple[int, ...]
    asked: list[list[str]]
    visits: float
    found: float


def expected_rows(way: MultiwayChoice) -> Iterator[NewRowEstimate]:
    """The estimates for a row of each input."""
    many = way.many
    texts = [condition_text(many.flat, one) for one in many.agreed.conditions]
    for origin, order in enumerate(many.orders):
        probes = [*many.model.probes(origin, order)]
        _, *behind = many.model.asked_behind(origin, order)
        asked = [[texts[number] for number in numbers] for numbers in behind]
        visits = sum(one.visits for one in probes)
        yield NewRowEstimate(origin, order, asked, visits, probes[-1].found)


def joins_json(ways: Sequence[MultiwayChoice], choices: Choices) -> list[dict[str, Any]]:
    """The same for programs."""
    return [_json(way, choices) for way in ways]


def _json(way: MultiwayChoice, choices: Choices) -> dict[str, Any]:
    names = way.many.names
    return {
        "inputs": names,
        "runs": "multiway" if way.is_chosen else "parts" if way.is_mixed else "tree",
        "because": "set" if way.is_set else "cost",
        "times_cheaper_in_one_operator": way.ratio,
        "evaluation": choices.join_evaluation,
        "expiration": choices.join_expiration,
        "orders": [
            {
                "of": names[row.origin],
                "probes": [names[place] for place in row.order],
                "asks": row.asked,
                "rows_visited": row.visits,
                "combinations": row.found,
            }
            for row in expected_rows(way)
        ],
    }
