"""EXPLAIN for a query of a connection: how it runs here, by what was measured here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.expected_load import expected_by, stated_of
from penstock.files.folders import is_folder
from penstock.lane_host.routable_keys import is_routable
from penstock.pipeline.query_groups import groups_for
from penstock.planner.exactness import explained_exactness
from penstock.planner.explain.explain import Explaining
from penstock.planner.physical.building import Choices
from penstock.planner.physical.in_use import described_use
from penstock.planner.statistics.measuring import measured
from penstock.scheduling.work_text import described_work

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.catalog.definitions import Catalog, QueryDefinition
    from penstock.spark.pipeline import Pipeline
    from penstock.spark.program import Program


def explained_query(query: QueryDefinition, program: Program, pipeline: Pipeline) -> str:
    """The plan, which key divides it among lanes and, if it is cut, the lanes of each part.

    Of a query that runs, estimates rely on what its lanes have measured, as last reported; so does
    what its joins use now.
    """
    catalog = program.session.catalog
    group = program.group_of(query.name)
    bound = pipeline.ledger.plan.groups
    if group is None or group.number not in bound:
        waiting = program.waiting
        together = waiting if query.name in waiting else {query.name: query}
        return registered_together(together, catalog)[query.name].text(query.name)
    runs = bound[group.number]
    lanes = pipeline.status.operators
    known = measured(lanes)
    whole = Explaining(
        runs.plans,
        runs.choices,
        known,
        group.known,
        routes=is_routable,
        physical=runs.physical,
        rates=expected_by(catalog, runs.plans.values()),
    )
    own = {name: one for name, one in lanes.items() if name.startswith(f"{group.number}.")}
    used = described_use(own)
    of_files = [one for one in pipeline.ledger.plan.streams if is_folder(one)]
    reads_files = any(one.name in runs.streams for one in of_files)
    files = [f"Files: {pipeline.reading}"] if reads_files and pipeline.reading else []
    reports = {name: pipeline.status.work.get(name, {}) for name in own}
    work = described_work(reports, query.name, query.latency)
    exact = explained_exactness(query.plan, program.exact_from(query.name))
    lines = [*runs.described_fragments(), *files, *used, *work, *exact]
    if group.catches_up:
        lines.append("Catching up: no answer yet")
    return "\n".join([whole.text(query.name), *lines])


def registered_together(
    queries: Mapping[str, QueryDefinition], catalog: Catalog
) -> dict[str, Explaining]:
    """For each of the queries that are registered at once, those that it would run with."""
    found: dict[str, Explaining] = {}
    for tactics in dict.fromkeys(one.tactics for one in queries.values()):
        alike = {name: one for name, one in queries.items() if one.tactics == tactics}
        plans, known = {name: one.plan for name, one in alike.items()}, stated_of(alike.values())
        rates = expected_by(catalog, plans.values())
        for group in groups_for(plans, 0, 1, known=known):
            together = {name: plans[name] for name in group.queries}
            choices = Choices.of(tactics)
            explaining = Explaining(together, choices, chosen_by=known, rates=rates)
            found |= dict.fromkeys(together, explaining)
    return found
