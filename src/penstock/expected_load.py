"""The load that is expected of queries before they run: rates of streams, state that only grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.amounts import short_number, shown_rate
from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import Stream
from penstock.catalog.definitions import StreamDefinition
from penstock.errors import PenstockError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock.algebra.plan import Plan
    from penstock.algebra.tactics import Tactics
    from penstock.catalog.definitions import Catalog, QueryDefinition
    from penstock.planner.statistics.statistics import ExpectedRate, Statistics


def stated_by(catalog: Catalog, plan: Plan) -> dict[str, float]:
    """The rates that the streams of a query state, in rows in a step of time."""
    return {one.name: one.rate for one in _streams(catalog, [plan]) if one.rate is not None}


def stated_of(queries: Iterable[QueryDefinition]) -> Statistics:
    """Statistics that queries had when they were created: the rates that their streams state."""
    from penstock.planner.statistics.statistics import stated_rates

    return stated_rates({name: rate for one in queries for name, rate in one.rates.items()})


def expected_by(catalog: Catalog, plans: Iterable[Plan]) -> dict[str, ExpectedRate]:
    """The rates that streams of queries state, or that the first rows of their files have."""
    # The planner and the readers of files are loaded for those that ask.
    from penstock.files.sampled_rates import rate_of_first_rows
    from penstock.planner.statistics.statistics import ExpectedRate

    found: dict[str, ExpectedRate] = {}
    for one in _streams(catalog, plans):
        if one.rate is not None:
            found[one.name] = ExpectedRate(one.rate, "stated")
            continue
        try:
            rate = rate_of_first_rows(one)
        except (PenstockError, OSError):
            continue  # Whoever reads it says what is wrong.
        if rate is not None:
            found[one.name] = ExpectedRate(rate, "first rows")
    return found


def state_needed(catalog: Catalog, plan: Plan, tactics: Tactics) -> str:
    """A sentence about the memory that a query needs whose state, or answer, only grows."""
    from penstock.planner.explain.explain import Explaining
    from penstock.planner.physical.building import Choices
    from penstock.planner.statistics.statistics import Statistics, endless_name, stated_rates

    rates = expected_by(catalog, [plan])
    chosen_by = stated_rates(stated_by(catalog, plan))
    query = Explaining({"": plan}, Choices.of(tactics), chosen_by=chosen_by, rates=rates)
    size = short_number(query.memory(""), "B")
    come = " and ".join(_described_rates(catalog, plan, Statistics(expected=rates)))
    return f"after {endless_name(plan.unit)} this takes about {size}, and it grows on, with {come}"


def _described_rates(catalog: Catalog, plan: Plan, known: Statistics) -> Iterator[str]:
    for one in _streams(catalog, [plan]):
        origin = known.rate_origin(one.name)
        rate = shown_rate(known.rate(one.name, one.unit), one.unit)
        example = "RATE 3 PER 100" if one.unit.micros is None else "RATE 2 PER HOUR"
        hint = f"; CREATE STREAM ... {example} states another" if origin == "assumed" else ""
        yield f'{rate} of "{one.name}" ({origin}{hint})'


def _streams(catalog: Catalog, plans: Iterable[Plan]) -> list[StreamDefinition]:
    """The declarations of the streams that queries read, by name."""
    nodes = (node for plan in plans for node in different_nodes(plan))
    names = sorted({one.name for one in nodes if isinstance(one, Stream)})
    found = (catalog.get(name) for name in names)
    return [one for one in found if isinstance(one, StreamDefinition)]
