"""The headline queries: what is asked, over which rows, and who is compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from penstock.errors import InternalError
from penstock_bench import duckdb_answers, polars_answers
from penstock_bench.data import SEED, BenchInputs, Scale, dealt, instants, table_of
from penstock_bench.driving import workload
from penstock_bench.one_core import timed
from penstock_bench.snapshots import equal, of_blocks, of_intervals

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_bench.formulation import Formulation

SAMPLE = 50_000
"""Rows over which results are compared before anything is measured."""
ROUNDS = 3


@dataclass(frozen=True)
class Contest:
    """A query, its input at a scale, and other engines' ways to compute the same."""

    name: str
    query: str
    inputs: Callable[[Scale], BenchInputs]
    others: tuple[Formulation, ...]


def join_inputs(scale: Scale) -> BenchInputs:
    """Two streams with so many keys that a row finds about one partner."""
    random = np.random.default_rng(SEED)
    ts = instants(scale.rows, scale.gap, random)
    keys = random.integers(0, scale.live // 2, scale.rows)
    rows = table_of(ts, k=keys, v=random.integers(0, 1000, scale.rows))
    return BenchInputs(dealt(rows, ("l", "r"), random))


def group_inputs(scale: Scale) -> BenchInputs:
    """A stream with 200 rows of each group in ten seconds."""
    random = np.random.default_rng(SEED)
    ts = instants(scale.rows, scale.gap, random)
    keys = random.integers(0, max(scale.live // 200, 2), scale.rows)
    return BenchInputs({"s": table_of(ts, k=keys, v=random.integers(0, 1000, scale.rows))})


def value_inputs(scale: Scale) -> BenchInputs:
    """A stream in which a value comes once in ten seconds, on average."""
    random = np.random.default_rng(SEED)
    ts = instants(scale.rows, scale.gap, random)
    return BenchInputs({"s": table_of(ts, k=random.integers(0, scale.live, scale.rows))})


CONTESTS = (
    Contest(
        "equi-join",
        "SELECT l.k, l.v, r.v AS w FROM l [RANGE 10 SECONDS] JOIN r [RANGE 10 SECONDS] "
        "ON l.k = r.k",
        join_inputs,
        (*duckdb_answers.JOIN, *polars_answers.JOIN),
    ),
    Contest(
        "aggregation",
        "SELECT k, COUNT(*) AS n, SUM(v) AS total, MAX(v) AS top FROM s [RANGE 10 SECONDS] "
        "GROUP BY k",
        group_inputs,
        (*duckdb_answers.AGGREGATE, *polars_answers.AGGREGATE),
    ),
    Contest(
        "DISTINCT",
        "SELECT DISTINCT k FROM s [RANGE 10 SECONDS]",
        value_inputs,
        (*duckdb_answers.DISTINCT, *polars_answers.DISTINCT),
    ),
)


@dataclass(frozen=True)
class Standing:
    """The speed of one way to compute the result."""

    engine: str
    name: str
    rows_per_second: float
    counts: bool
    easier: str = ""


@dataclass(frozen=True)
class Score:
    """The score of a contest: our speed first; on how many changes all agreed, over a sample."""

    contest: str
    rows: int
    standings: tuple[Standing, ...]
    equal_changes: int

    @property
    def own_rate(self) -> float:
        """Our rows per second."""
        return self.standings[0].rows_per_second

    @property
    def bound(self) -> Standing:
        """The fastest of the others that computes the same result."""
        others = [one for one in self.standings[1:] if one.counts]
        return max(others, key=lambda one: one.rows_per_second)

    @property
    def ratio(self) -> float:
        """Our speed in parts of the bound."""
        return self.own_rate / self.bound.rows_per_second


def verify(contest: Contest, rows: int = SAMPLE) -> int:
    """Compare the results over a sample; the number of changes they agree on.

    Raises:
        InternalError: An engine computes another result.
    """
    inputs = contest.inputs(Scale(rows))
    ours = of_blocks(workload(inputs, contest.query).run().results)
    for other in contest.others:
        if other.complete and not equal(ours, of_intervals(other.prepare(inputs.streams)())):
            msg = f"{contest.name}: {other.engine} ({other.name}) computes another result"
            raise InternalError(msg)
    return len(ours)


def hold(contest: Contest, rows: int, seconds: float) -> Score:
    """Compare the results, then measure all ways for `seconds` each, or a little more.

    They take turns, so that a slow minute hits everyone. Everyone has the same time, so the quick
    have more runs; the fastest run of each counts.
    """
    equal_changes = verify(contest, min(rows, SAMPLE))
    inputs = contest.inputs(Scale(rows))
    work = workload(inputs, contest.query)
    work.run()
    ways: list[Callable[[], object]] = [work.run]
    ways += [other.prepare(inputs.streams) for other in contest.others]
    times: list[list[float]] = [[] for _ in ways]
    for _ in range(ROUNDS):
        for way, taken in zip(ways, times, strict=True):
            taken += _turn(way, seconds / ROUNDS)
    ours, *others = (inputs.rows / min(taken) for taken in times)
    standings = [Standing("Penstock", "a lane, block by block", ours, True)]
    standings += [
        Standing(other.engine, other.name, speed, not other.easier, other.easier)
        for other, speed in zip(contest.others, others, strict=True)
    ]
    return Score(contest.name, inputs.rows, tuple(standings), equal_changes)


def _turn(way: Callable[[], object], seconds: float) -> list[float]:
    """The CPU seconds of runs, one after the other, until they have taken so long together."""
    times = [timed(way).cpu]
    while sum(times) < seconds:
        times.append(timed(way).cpu)
    return times
