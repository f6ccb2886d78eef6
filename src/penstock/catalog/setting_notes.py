"""Notes on settings of work that are without effect, each with what would have one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.catalog.definitions import QueryDefinition, StreamDefinition
from penstock.catalog.work_settings import shown_size
from penstock.shedding.intake_rules import SEMANTIC

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.catalog.definitions import Catalog
    from penstock.catalog.work_settings import WorkSettings


def notes_on_settings(work: WorkSettings, catalog: Catalog) -> list[str]:
    """Sentences without their full stop."""
    return [*_on_shedding(work, catalog), *_on_scheduling(work, catalog)]


def _on_shedding(work: WorkSettings, catalog: Catalog) -> Iterator[str]:
    streams = [one for one in catalog if isinstance(one, StreamDefinition)]
    limit, bound = work.queue_limit, work.shedding_bound
    if work.shedding is not None and bound is None:
        yield (
            f"shedding is {work.shedding}, and there is no shedding_bound: nothing is shed."
            " SET shedding_bound = '64 MB' says how much may wait"
        )
    if work.shedding is None and bound is not None:
        yield (
            f"shedding_bound is {shown_size(bound)}, and shedding is none: nothing is shed."
            " SET shedding = random lets rows go"
        )
    if work.intake.sheds and limit is not None and limit >= (bound or 0):
        yield (
            f"queue_limit is {shown_size(limit)}, and shedding_bound {shown_size(bound)}: rows are"
            " shed before fewer are taken in at once. Set a queue_limit below the bound"
        )
    if (
        work.shedding == SEMANTIC
        and streams
        and all(one.shedding_columns.utility is None for one in streams)
    ):
        yield (
            "shedding is semantic, and no stream says how useful its rows are: nothing is shed."
            " Declare one with OPTIONS (utility 'column')"
        )


def _on_scheduling(work: WorkSettings, catalog: Catalog) -> Iterator[str]:
    if work.lane_budget is None:
        idle = [
            name
            for name, value in (
                ("queue_limit", work.queue_limit),
                ("shedding_bound", work.shedding_bound),
            )
            if value is not None
        ]
        if idle:
            yield (
                f"there is no lane_budget: lanes do all that comes, nothing waits, and"
                f" {' and '.join(idle)} has no effect. SET lane_budget = '200 ms' lets work wait"
            )
        return
    queries = [one for one in catalog if isinstance(one, QueryDefinition)]
    if work.scheduler == "chain_flush" and queries and not any(one.latency for one in queries):
        yield (
            "the scheduler is chain_flush, and no query allows a latency: it does as chain does."
            " SET latency = '2 s' stands before CREATE QUERY"
        )
