"""Changes of what a pipeline runs, while no micro-batch does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.pipeline.replanning import due, replace_group
from penstock.pipeline.rescaling import needs_rescaling, rescale
from penstock.pipeline.switching import switch

if TYPE_CHECKING:
    from penstock.pipeline.plans import PipelinePlan
    from penstock.spark.pipeline import Pipeline


def change_lanes(pipeline: Pipeline, lanes: int) -> None:
    """Let all queries go on with so many lanes.

    Those whose state cannot be divided anew keep their number, and the status says so.
    """
    ledger = pipeline.ledger
    with pipeline.lock:
        if not needs_rescaling(ledger, lanes):
            return
        is_over = ledger.record.kind == "flush"
        if ledger.record.lanes:
            pipeline.tick(to_the_end=True)
        for query, reason in rescale(ledger, lanes).items():
            pipeline.note_error(f'query "{query}" goes on with as many lanes as before: {reason}')
        if is_over:
            # The end of the input holds until more rows come.
            pipeline.flush()
        pipeline.write_status()


def replace_groups(pipeline: Pipeline) -> bool:
    """Let new plans take over that have run beside old ones for long enough; whether any did."""
    ledger = pipeline.ledger
    with pipeline.lock:
        waiting = due(ledger)
        if not waiting or ledger.record.kind == "flush":
            return False
        pipeline.tick(to_the_end=True)
        replaced = [number for number in waiting if replace_group(ledger, number)]
        return bool(replaced)


def switch_query(pipeline: Pipeline, plan: PipelinePlan, query: str, made: str) -> bool:
    """Let a query go on as another one does, in a plan; whether it has come as far."""
    with pipeline.lock:
        if pipeline.ledger.record.kind == "flush":
            return False
        pipeline.tick(to_the_end=True)
        has_switched = switch(pipeline.ledger, plan, query, made)
        pipeline.tell()
        return has_switched
