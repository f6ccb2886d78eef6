"""The progress of a pipeline, as facts for the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.catalog.setting_notes import notes_on_settings
from penstock.observe.lag import lag_of
from penstock.scheduling.work_notes import notes_on_work
from penstock.store.records import StreamProgress

if TYPE_CHECKING:
    from penstock.spark.pipeline_runner import PipelineRunner
    from penstock.spark.program import Program
    from penstock.store.records import Record


def progress_of(program: Program, running: PipelineRunner, queries: list[str]) -> dict[str, Any]:
    """Streams, queries, state: all of the same record, but for what operators remember."""
    record = running.record
    streams = program.session.catalog.of_kind("stream")
    lanes = running.pipeline.status.operators.values()
    return {
        "running": running.pipeline.is_running,
        "record": record.number,
        "streams": {one.name: _stream_facts(record, one.name) for one in streams},
        "queries": {name: _query_facts(program, record, name) for name in queries},
        "notes": _notes(program, running, queries),
        "intake": running.pipeline.monitor.facts(running.pipeline.status.held_back),
        "state": {
            part: sum(one[f"state_{part}"] for lane in lanes for one in lane)
            for part in ("rows", "bytes")
        },
    }


def _notes(program: Program, running: PipelineRunner, queries: list[str]) -> list[str]:
    """Settings that have no effect, or that lanes cannot keep, as last reported."""
    work = program.session.settings.work
    found = [program.definition(name) for name in queries]
    allowed = {one.name: one.latency for one in found if one.latency is not None}
    return [
        *notes_on_settings(work, program.session.catalog),
        *notes_on_work(running.pipeline.status.work, allowed, work.lane_budget),
    ]


def _stream_facts(record: Record, name: str) -> dict[str, Any]:
    known = record.streams.get(name)
    if known is None:
        known = StreamProgress()
    return {
        "rows": known.rows,
        "late": known.late,
        "late_by": known.late_by,
        "aside": known.aside,
        "forgotten": known.forgotten,
        "shed": known.shed,
        "watermark": _instant(known.watermark),
        "latest": _instant(known.latest),
    }


def _query_facts(program: Program, record: Record, name: str) -> dict[str, Any]:
    return {
        "running": program.group_of(name) is not None,
        "clock": _instant(record.clocks.get(name, BEGINNING)),
        "lag": lag_of(record, program.definition(name)),
        "exact_from": _exact(program.exact_from(name)),
        "elements": record.result_rows.get(name, 0),
        "shed": dict(record.shed.get(name, {})),
        "failures": dict(record.failures.get(name, {})),
    }


def _exact(value: int) -> int | None:
    return None if value == BEGINNING else value


def _instant(value: int) -> int | None:
    return None if value in (BEGINNING, INFINITY) else value
