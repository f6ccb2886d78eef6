"""What EXPLAIN says of a query of a connection: how it runs here, by what was measured here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.pipeline.keys import is_routable
from penstock.planner.building import Choices
from penstock.planner.explaining import explained
from penstock.planner.in_use import described_use
from penstock.planner.measuring import measured

if TYPE_CHECKING:
    from penstock.catalog.definitions import QueryDefinition
    from penstock.spark.pipeline import Pipeline
    from penstock.spark.program import Program


def explained_query(query: QueryDefinition, program: Program, pipeline: Pipeline) -> str:
    """The plan, which key divides it among lanes and, if it is cut, the lanes of each part.

    Of a query that runs, estimates rely on what its lanes have measured, as last reported; so does
    what its joins use now.
    """
    group = program.group_of(query.name)
    bound = pipeline.ledger.plan.groups
    if group is None or group.number not in bound:
        return explained(query.plan, Choices.of(query.tactics))
    parts = bound[group.number].described_fragments()
    lanes = pipeline.status.operators
    choices = bound[group.number].choices
    whole = explained(query.plan, choices, measured(lanes), group.known, is_routable)
    own = {name: one for name, one in lanes.items() if name.startswith(f"{group.number}.")}
    return "\n".join([whole, *parts, *described_use(own, choices.strategy)])
