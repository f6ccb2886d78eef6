"""Rows of a trial that are shed, as follows from what an engine decided before each feed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.catalog.definitions import StreamDefinition
from penstock.operators.saved_tables import arrays_of
from penstock.reference.arrow_rows import stream_table
from penstock.reference.shedding import useful
from penstock.session import Session
from penstock.shedding.intake_rules import SEMANTIC, IntakeRules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.shedding.shedding import Shedding
    from penstock_fuzz.trial import Late, Trial

CALL = 2e-5
"""About the seconds of a call on a real clock."""


def intake_of(trial: Trial) -> IntakeRules:
    """The rules of intake of a trial: what is shed is kept aside, so that it can be compared."""
    return IntakeRules(None, trial.shedding, trial.shedding_bound, keeps_rows=True)


def settings_of(trial: Trial) -> list[str]:
    """Budget and shedding as statements, for engines that work by the clock on the wall.

    There is one budget for them: too short for more than a step. What is 1 in a trial, the time of
    a call, is 0.02 ms for them.
    """
    if trial.budget is None:
        return []
    budget = ["SET lane_budget = '0.001 ms'", f"SET scheduler = {trial.scheduler}"]
    quantum, threshold = (trial.scheduler_options.get(one) for one in ("quantum", "threshold"))
    if quantum is not None:
        budget.append(f"SET quantum = '{quantum * CALL * 1000:f} ms'")
    if threshold is not None:
        budget.append(f"SET threshold = '{threshold / CALL:f} / s'")
    if trial.latency is not None:
        budget.append(f"SET latency = '{trial.latency * CALL * 1000:f} ms'")
    if trial.shedding is None:
        return budget
    return [
        *budget,
        f"SET shedding = {trial.shedding}",
        f"SET shedding_bound = '{trial.shedding_bound / 1024:f} kB'",
        "SET keep_shed = true",
    ]


def definitions_of(trial: Trial) -> dict[str, StreamDefinition]:
    """The streams of a trial, by name."""
    session = Session()
    session.execute(trial.script)
    streams = session.catalog.of_kind("stream")
    return {one.name: one for one in streams if isinstance(one, StreamDefinition)}


def shed_rows(trial: Trial, decisions: Sequence[Shedding | None], late: Late) -> Late:
    """The rows that are shed by decisions, one for each feed: the stream and the place of each."""
    found = set()
    for name, definition in definitions_of(trial).items():
        stream = trial.streams.get(name)
        if stream is None:
            continue
        for feed, shedding in zip(trial.feeds, decisions, strict=True):
            places = range(len(stream.rows))[feed[name]]
            there = [place for place in places if (name, place) not in late]
            if shedding is not None and there:
                stay = _stay(definition, trial, there, shedding, places.start)
                found |= {(name, place) for place, one in zip(there, stay, strict=True) if not one}
    return frozenset(found)


def _stay(
    definition: StreamDefinition,
    trial: Trial,
    places: Sequence[int],
    shedding: Shedding,
    brought: int,
) -> Sequence[bool]:
    rows = [trial.streams[definition.name].rows[place] for place in places]
    own = definition.shedding_columns
    if shedding.kind == SEMANTIC:
        if own.utility is None:
            return [True] * len(rows)
        return useful(rows, own.utility, shedding.one_in)
    columns = arrays_of(stream_table(definition.schema, rows))
    stay = shedding.stay(tuple(columns), len(rows), own, brought)
    return [bool(one) for one in stay]
