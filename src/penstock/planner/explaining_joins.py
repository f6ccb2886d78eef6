"""What EXPLAIN says about joins of three inputs or more: how they run, why, and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.planner.annotating import Annotations
    from penstock.planner.building import Choices
    from penstock.planner.ways import Way


def described_joins(ways: Sequence[Way], choices: Choices, notes: Annotations) -> list[str]:
    """A line for each join, and one for each input whose rows probe the others."""
    return [line for way in ways for line in _described(way, choices, notes)]


def _described(way: Way, choices: Choices, notes: Annotations) -> Iterator[str]:
    names = way.many.names
    one, two = notes.price(way.cost), notes.price(way.of_tree)
    inputs = f"{', '.join(names[:-1])} and {names[-1]}"
    if not way.is_chosen:
        yield f"Joins: {inputs} two by two, {_why(way)}: {two}; in one operator {one}"
        return
    how = f"{choices.join_evaluation} evaluation, {choices.join_expiration} expiration"
    yield f"Joins: {inputs} in one operator ({how}), {_why(way)}: {one}; two by two {two}"
    for origin, (probes, visits, found) in enumerate(expected_probes(way)):
        order = ", then ".join(names[place] for place in probes)
        seen, made = notes.amount(visits), notes.amount(found)
        yield f"  a row of {names[origin]} probes {order}: visits {seen} rows, finds {made}"


def _why(way: Way) -> str:
    """By `SET joins`, or by cost."""
    return "as is set" if way.is_set else "as time and the fourth root of memory say"


def expected_probes(way: Way) -> Iterator[tuple[tuple[int, ...], float, float]]:
    """For a row of each input: its order, rows that it visits, combinations that it finds."""
    for origin, order in enumerate(way.many.orders):
        probes = [*way.many.model.probes(origin, order)]
        yield order, sum(one.visits for one in probes), probes[-1].found


def joins_json(ways: Sequence[Way], choices: Choices) -> list[dict[str, Any]]:
    """The same for programs."""
    return [_json(way, choices) for way in ways]


def _json(way: Way, choices: Choices) -> dict[str, Any]:
    names = way.many.names
    return {
        "inputs": names,
        "runs": "multiway" if way.is_chosen else "tree",
        "because": "set" if way.is_set else "cost",
        "times_cheaper_in_one_operator": way.ratio,
        "evaluation": choices.join_evaluation,
        "expiration": choices.join_expiration,
        "orders": [
            {
                "of": names[origin],
                "probes": [names[place] for place in order],
                "rows_visited": visits,
                "combinations": found,
            }
            for origin, (order, visits, found) in enumerate(expected_probes(way))
        ],
    }
