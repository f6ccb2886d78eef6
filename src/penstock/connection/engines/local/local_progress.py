"""The progress of the queries of this process, as facts for the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import Stream
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.catalog.definitions import QueryDefinition
from penstock.catalog.setting_notes import notes_on_settings
from penstock.scheduling.work_notes import notes_on_work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.connection.engines.local.local_engine import LocalEngine


def progress_of(engine: LocalEngine) -> dict[str, Any]:
    """Streams, queries and state."""
    queries = [one for one in engine.catalog if isinstance(one, QueryDefinition)]
    lanes = [lane.reports() for one in engine.feeding.batches for lane in one.lanes.lanes]
    return {
        "running": not engine.is_finished,
        "record": engine.position,
        "streams": {name: _stream_facts(engine, name) for name in engine.feeding.intakes},
        "queries": {
            one.name: _query_facts(engine, one)
            for one in queries
            if isinstance(one, QueryDefinition)
        },
        "notes": _notes(engine, queries),
        "intake": engine.feeding.monitor.facts(engine.feeding.held_back),
        "state": {
            part: sum(getattr(one, f"state_{part}") for lane in lanes for one in lane)
            for part in ("rows", "bytes")
        },
    }


def _notes(engine: LocalEngine, queries: Sequence[QueryDefinition]) -> list[str]:
    """Settings that have no effect, or that lanes cannot keep."""
    work = engine.session.settings.work
    lanes = (lane for one in engine.feeding.batches for lane in one.lanes.lanes)
    reports = {str(number): lane.work_report() for number, lane in enumerate(lanes)}
    allowed = {one.name: one.latency for one in queries if one.latency is not None}
    return [
        *notes_on_settings(work, engine.catalog),
        *notes_on_work(reports, allowed, work.lane_budget),
    ]


def _stream_facts(engine: LocalEngine, name: str) -> dict[str, Any]:
    intake, aside = engine.feeding.intakes[name], engine.feeding.aside
    return {
        "rows": intake.brought,
        "late": aside.count(name, late=True),
        "late_by": intake.late_by,
        "aside": aside.count(name, late=False),
        "forgotten": aside.forgotten(name),
        "shed": intake.shed,
        "watermark": _instant(intake.watermark),
        "latest": _instant(intake.latest),
    }


def _query_facts(engine: LocalEngine, query: QueryDefinition) -> dict[str, Any]:
    batch = engine.registry.batch_of(query.name)
    log = None if batch is None else batch.outcomes[query.name]
    clock = BEGINNING if log is None else log.clock
    names = {one.name for one in different_nodes(query.plan) if isinstance(one, Stream)}
    latest = max((engine.feeding.intakes[name].latest for name in names), default=BEGINNING)
    return {
        "running": batch is not None,
        "clock": _instant(clock),
        "lag": None if BEGINNING in (clock, latest) else max(0, latest - clock),
        "exact_from": None if (exact := engine.exact_from(query.name)) == BEGINNING else exact,
        "elements": 0 if log is None else log.end,
        "shed": {} if batch is None else dict(batch.shed.get(query.name, {})),
        "failures": engine.failures(query.name),
    }


def _instant(value: int) -> int | None:
    return None if value in (BEGINNING, INFINITY) else value
