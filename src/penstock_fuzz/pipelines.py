"""The common part of trials of pipelines: a home, a plan, and reading what was committed."""

from __future__ import annotations

import tempfile
from collections import Counter
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from penstock.pipeline.plans import PipelinePlan
from penstock.pipeline.query_groups import groups_for
from penstock.planner.physical.building import Choices
from penstock.reference.arrow_rows import stream_table
from penstock.reference.inputs import RelationHistory
from penstock.shedding.shedding import SHED
from penstock.store.layout import Home
from penstock.store.rejected_rows import REASON, read_rejected
from penstock.store.result_files import result_blocks
from penstock.testing.inline import QUERY, answer_of, changes_table
from penstock_fuzz.shed_rows import settings_of, shed_rows
from penstock_fuzz.trial import TrialResult, late_rows, only_read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from penstock.algebra.plan import Plan
    from penstock.pipeline.ledger import Ledger
    from penstock.shedding.shedding import Shedding
    from penstock_fuzz.trial import Feed, Late, Trial


@contextmanager
def new_home() -> Iterator[Home]:
    """A home for one trial, in memory where the machine has such a folder."""
    memory = Path("/dev/shm")
    place = memory if memory.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="penstock-fuzz-", dir=place) as folder:
        home = Home(Path(folder))
        home.open()
        try:
            yield home
        finally:
            home.close()


def plan_of(trial: Trial, plan: Plan, settings: Sequence[str] = ()) -> PipelinePlan:
    """The query of a trial as the plan of a pipeline, under more settings."""
    chosen = "; ".join(f"SET {key} = {value}" for key, value in asdict(trial.tactics).items())
    create = f"CREATE QUERY {QUERY} AS {trial.query}"
    statements = (trial.script, chosen, *settings_of(trial), *settings, create)
    choices = Choices.of(trial.tactics, trial.partitions)
    groups = groups_for({QUERY: plan}, 0, trial.lanes, choices)
    return PipelinePlan(statements, tuple(groups), trial.partitions)


def stream_rows(trial: Trial, ledger: Ledger, feed: Feed) -> dict[str, pa.Table]:
    """The rows of each stream that come with a feed."""
    return {
        one.name: stream_table(one.schema, trial.streams[one.name].rows[feed[one.name]])
        for one in ledger.plan.streams
        # Streams that keep rows are taken in though no query reads them.
        if one.name in trial.streams
    }


def change_relations(trial: Trial, ledger: Ledger, feed: Feed | None) -> None:
    """The changes of relations that come with a feed; without one, what they hold at first."""
    # A query that is planned anew is of two groups.
    groups = ledger.plan.groups.values()
    relations = {name: one for group in groups for name, one in group.relations.items()}
    for name, relation in relations.items():
        given = trial.relations.get(name)
        if given is None:
            continue
        if feed is None:
            history = RelationHistory(given.initial)
        else:
            history = RelationHistory((), given.changes[feed[name]])
        if history.initial or history.changes:
            ledger.change_relation(name, changes_table(relation.schema, history))


def ran(
    home: Home,
    ledger: Ledger,
    trial: Trial,
    plan: Plan,
    decisions: Sequence[Shedding | None] = (),
) -> TrialResult:
    """The result of a trial, as committed; of each feed, what was decided to shed."""
    records = list(home.chain.since(0))
    blocks = [block for record in records for block in result_blocks(home, record, QUERY)]
    failures = sum(ledger.record.failures.get(QUERY, {}).values())
    late = late_rows(trial)
    shed: Late = frozenset()
    if trial.shedding is not None:
        shed = shed_rows(only_read(trial, plan), decisions, late)
    return TrialResult(
        answer_of(plan, blocks, failures),
        _rejected(home, ledger, trial, late, shed=False),
        _rejected(home, ledger, trial, shed, shed=True),
        ledger.record.shed.get(QUERY, {}),
    )


def _rejected(home: Home, ledger: Ledger, trial: Trial, expected: Late, *, shed: bool) -> Late:
    """The rows that were late, or shed, as places; rows only tell their values."""
    # As texts: a NaN is not equal to itself.
    found: Counter[tuple[str, str]] = Counter()
    wanted: Counter[tuple[str, str]] = Counter()
    for definition in ledger.plan.streams:
        aside = read_rejected(home, ledger.record.aside, definition.name, definition.schema)
        own = aside.filter(pc.equal(pc.starts_with(aside[REASON], f"{SHED}:"), shed))
        rows = own.select(definition.schema.names).to_pylist()
        found.update((definition.name, str(row)) for row in rows)
        places = [place for name, place in sorted(expected) if name == definition.name]
        left = [trial.streams[definition.name].rows[place] for place in places]
        rows = stream_table(definition.schema, left).to_pylist()
        wanted.update((definition.name, str(row)) for row in rows)
    if found == wanted:
        return expected
    return frozenset((str(row), -1) for row in (found - wanted) + (wanted - found))
