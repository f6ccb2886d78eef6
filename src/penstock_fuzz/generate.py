"""One trial from a seed: a program that the binder accepts, input, and how to feed it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import RStream, Window
from penstock.algebra.time import INFINITY
from penstock.algebra.windows import Fixed, Hopping, Range
from penstock.errors import PenstockError
from penstock.reference.timeline import Timeline
from penstock.scheduling.scheduler_list import SCHEDULERS
from penstock.session import Session
from penstock.shedding.intake_rules import KINDS, SEMANTIC
from penstock.testing.engines import OracleEngine
from penstock_fuzz.cost import affordable_rows
from penstock_fuzz.draw import Draw
from penstock_fuzz.edits import edited, random_edits
from penstock_fuzz.inputs import random_trial
from penstock_fuzz.programs import FuzzProgram, random_program
from penstock_fuzz.trial import STRATEGIES, Trial, late_rows, names_read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.plan import Plan
    from penstock.algebra.windows import WindowSpec


@dataclass(frozen=True)
class Generated:
    """A trial and its plan, and how many programs the binder refused before."""

    trial: Trial
    plan: Plan
    refused: int


TIMELESS = 8
"""In so many of a hundred trials the query reads relations only."""
MOST_SLIDES = 20_000
"""The reference evaluator, and RSTREAM by its meaning, go through all of them."""


def generate(
    seed: str,
    strategies: Sequence[str] = STRATEGIES,
    *,
    with_edits: bool = True,
    replans: int = 0,
) -> Generated:
    """The trial of a seed; equal seeds give equal trials.

    Args:
        seed: Decides.
        strategies: How plans may run.
        with_edits: Whether plans may be such as no query text can say.
        replans: In so many of a hundred trials another plan is meant to take over.
    """
    draw = Draw(seed)
    refused = 0
    is_replanned = Draw(f"{seed} replans").chance(replans)
    timeless = not is_replanned and Draw(f"{seed} timeless").chance(TIMELESS)
    while True:
        program = random_program(draw, with_choice=is_replanned, timeless=timeless)
        try:
            plan = _bound(program)
        except PenstockError:
            refused += 1
            continue
        trial = _random_feeding(draw, program, plan, strategies, long=is_replanned)
        if _slides(trial, plan) > MOST_SLIDES:
            continue
        edits = random_edits(draw, plan) if draw.chance(25) and with_edits else ()
        trial = replace(trial, edits=edits, lanes_after=_lanes_after(seed, trial))
        trial = _shed(seed, _budgeted(seed, trial))
        trial = _joining(seed, _replanned(seed, trial, always=is_replanned))
        if _needs_one_lane(trial, plan):
            trial = replace(trial, lanes=1, lanes_after={})
        generated = Generated(trial, edited(plan, edits), refused)
        if draw.chance(20) or not _is_dull(generated):
            return generated


def _slides(trial: Trial, plan: Plan) -> int:
    """The number of slides between the first row and the end of the last, about."""
    times = _times(trial)
    slides = [spec.slide for spec in _windows(plan) if isinstance(spec, Range) and spec.slide]
    if not (times and slides):
        return 0
    return (max(times) - min(times) + _lengths(plan)) // min(slides)


def _needs_one_lane(trial: Trial, plan: Plan) -> bool:
    """RSTREAM would have to know of other lanes at which slide the last window ends.

    So it is where windows reach beyond the end of time, a known limit
    (docs/contributors/pipeline.md, Limits).
    """
    if not any(isinstance(node, RStream) for node in different_nodes(plan)):
        return False
    return max(_times(trial), default=0) + _lengths(plan) >= INFINITY


def _times(trial: Trial) -> list[int]:
    """The instants at which rows arrive and relations change."""
    times = [one.time_of(n) for one in trial.streams.values() for n in range(len(one.rows))]
    return times + [change.at for one in trial.relations.values() for change in one.changes]


def _windows(plan: Plan) -> list[WindowSpec]:
    return [node.spec for node in different_nodes(plan) if isinstance(node, Window)]


def _lengths(plan: Plan) -> int:
    """The lengths of windows in all: windows over what other windows make end later still."""
    return sum(spec.length for spec in _windows(plan) if isinstance(spec, Range | Fixed | Hopping))


def _is_dull(generated: Generated) -> bool:
    """The result never changes: nearly half of all random queries find nothing."""
    late = late_rows(generated.trial)
    try:
        answer = OracleEngine().evaluated(generated.plan, generated.trial.inputs(late))
    except Exception:
        # What the evaluator cannot answer is for `check` to report.
        return False
    result = answer.result
    return not (result.changes() if isinstance(result, Timeline) else result)


def _bound(program: FuzzProgram) -> Plan:
    session = Session()
    session.execute(program.script)
    return session.bind(str(program.query)).plan


def _lanes_after(seed: str, trial: Trial) -> dict[int, int]:
    """Most restores go on with another number of lanes."""
    draw = Draw(f"{seed} lanes")
    found = {feed: draw.pick(1, 2, 3, 4, 5) for feed in sorted(trial.restore_after)}
    return {feed: lanes for feed, lanes in found.items() if draw.chance(80)}


def _budgeted(seed: str, trial: Trial) -> Trial:
    """A third of the trials have a time for each feed, often too short to do all."""
    draw = Draw(f"{seed} budget")
    if not draw.chance(33):
        return trial
    return replace(
        trial,
        budget=float(draw.pick(0, 1, 2, 5, 10, 30)),
        scheduler=draw.pick(*SCHEDULERS).name,
        block_rows=draw.pick(1, 1, 2, 5, 100),
        # By the clock of trials a call takes 1, so some turns last for several blocks, some blocks
        # are late as soon as they come, and some charts have both steep chains and flat ones.
        scheduler_options={
            "quantum": draw.pick(0.5, 3.0, 20.0),
            "threshold": draw.pick(0.0, 0.05, 0.2, 0.5, 100.0),
        },
        latency=draw.pick(None, 0.5, 5.0, 20.0, 100.0),
    )


def _shed(seed: str, trial: Trial) -> Trial:
    """Half of the trials whose lanes may be behind shed rows, mostly as soon as anything waits."""
    draw = Draw(f"{seed} shedding")
    if trial.budget is None or not draw.chance(50):
        return trial
    kind = draw.pick(*KINDS)
    bound = draw.pick(1, 1, 100, 1000)
    program = trial.program
    if kind == SEMANTIC and isinstance(program, FuzzProgram):
        tables = [replace(one, utility="k") if one.is_stream else one for one in program.tables]
        program = replace(program, tables=tuple(tables))
    budget = float(draw.pick(0, 0, 1, 2))
    return replace(trial, program=program, budget=budget, shedding=kind, shedding_bound=bound)


def _joining(seed: str, trial: Trial) -> Trial:
    """Joins of three inputs or more run in one operator, mostly."""
    draw = Draw(f"{seed} joins")
    return replace(
        trial,
        joins=draw.pick("auto", "tree", "multiway", "multiway", "multiway"),
        join_evaluation=draw.pick("lazy", "eager"),
        join_expiration=draw.pick("lazy", "eager"),
    )


def _replanned(seed: str, trial: Trial, *, always: bool) -> Trial:
    """Half of the queries are planned anew: after any feed, rather an early one.

    Time has to go on by a window before another plan takes over.
    """
    draw = Draw(f"{seed} plans")
    last = trial.feed_count - 1
    feed, number = draw.count(0, draw.pick(last, last // 2)), draw.count(0, 999)
    if not always and draw.chance(50):
        return trial
    return replace(trial, replan_after=feed, replan_by=number)


def _random_feeding(
    draw: Draw, program: FuzzProgram, plan: Plan, strategies: Sequence[str], *, long: bool
) -> Trial:
    wanted = 200 if draw.chance(3) else draw.pick(6, 12, 12, 25)
    if long:
        wanted = draw.pick(12, 25, 40)
    most = affordable_rows(plan, wanted)
    trial = random_trial(draw, program, names_read(plan), most, long=long)
    restores = frozenset(n for n in range(trial.feed_count) if draw.chance(25))
    return replace(
        trial,
        lanes=draw.pick(1, 1, 2, 3, 4),
        partitions=draw.pick(1, 2, 3, 8, 64),
        restore_after=restores if draw.chance(50) else frozenset(),
        strategy=draw.pick(*strategies),
    )
