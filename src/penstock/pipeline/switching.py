"""Switching: a query takes the place of one that runs, at one record.

It has run beside it under a name of its own until it had caught up. What the old one said and is
still valid is withdrawn, and what the new one says takes its place; who follows the results sees
the net difference.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING
from penstock.operators.block import to_table
from penstock.pipeline.bound import bound
from penstock.pipeline.plan_changes import kept_facts
from penstock.pipeline.result_folding import left_of_results
from penstock.store.bundles import write_bundle
from penstock.store.contents import net_difference

if TYPE_CHECKING:
    from penstock.operators.block import Block
    from penstock.pipeline.ledger import Ledger
    from penstock.pipeline.plans import PipelinePlan


def switch(ledger: Ledger, plan: PipelinePlan, query: str, made: str) -> bool:
    """Let a query go on as another one does.

    All lanes have come equally far: the last record was by a tick.

    Args:
        ledger: What runs.
        plan: The plan after it: the new query has the old one's name there.
        query: The old one.
        made: The name under which the new one runs.

    Returns:
        Whether that was possible; False if the new one has not come as far as the old one.
    """
    record = ledger.record
    clock, new = (record.clocks.get(one, BEGINNING) for one in (query, made))
    if new < clock:
        return False
    together = replace(record, clocks={**record.clocks, query: clock, made: clock})
    left = left_of_results(ledger.home, together, ledger.plan)
    block = net_difference(left.get(query), left.get(made), clock)
    after = bound(plan, ledger.plan)
    queries = {name for group in plan.groups for name in group.queries}
    facts = kept_facts(record, ledger.plan, after, queries)
    facts["clocks"][query] = new
    facts["result_rows"][query] = record.result_rows.get(query, 0) + len(block or ())
    for name in ("failures", "shed"):
        known = getattr(record, name)
        facts[name] = {k: v for k, v in facts[name].items() if k != query}
        facts[name] |= {query: known[made]} if made in known else {}
    files = _written(ledger, query, block, after.columns(query)) if block is not None else ()
    ledger.change(after, {**facts, "results": files})
    return True


def _written(ledger: Ledger, query: str, block: Block, columns: tuple[str, ...]) -> tuple[str, ...]:
    """The file with the difference, if there is any."""
    if not len(block):
        return ()
    name = ledger.home.new_segment(ledger.record.number + 1, 0, "results")
    path = ledger.home.segments / name
    write_bundle(path, {f"query/{query}": to_table(block, columns)}, durable=True)
    return (name,)
