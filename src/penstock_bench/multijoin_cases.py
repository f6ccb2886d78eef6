"""The cases of the benchmark of multi-joins: tables, steps, windows, buckets and lengths."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from penstock.planner.cost.join_orders import exhaustive
from penstock.runtime.lane import STEP_ROWS
from penstock_bench.multijoin_orders import LARGE_STEP
from penstock_bench.multijoin_orders import SAMPLE as SAMPLE_OF_TABLE_5
from penstock_bench.multijoin_sections import AnswerSample, MeasuringPoint, Series
from penstock_bench.multijoin_traffic import TABLE_5, StreamTraffic, alike
from penstock_bench.multijoin_ways import MultiwayWay, Plain, Timing, TreeWay

if TYPE_CHECKING:
    from penstock.planner.cost.join_model import Order
    from penstock_bench.multijoin_run import WayEffort
    from penstock_bench.multijoin_ways import Way

FOUR = alike(4, 100, 50, 20)
"""Four windows of a hundred rows, each row finding two in another: usual in the paper."""
FAST = StreamTraffic((1, 1, 1, 50), (100, 100, 100, 100), (50, 50, 50, 50), 265)
"""Three slow streams and a fast one."""
SHORT = AnswerSample(alike(4, 20, 10, 32), 10)
SHORT_FAST = AnswerSample(replace(FAST, windows=(20,) * 4, values=(10,) * 4), 8)
INTERVAL = 5
"""Units of time between two evaluations, as in most of the paper's experiments."""
INTERVAL_TABLES = {"nested loop": (1,) * 4, "10 buckets": (10,) * 4, "tables": None}
TIMINGS: tuple[Timing, ...] = get_args(Timing)
AVERAGES = (2, 4, 8, 12, 16, 32)
"""Of buckets, for a window."""
SLOW = (1, 5, 10)
"""Buckets of slow streams, if fast ones have more."""
NAIVE_AT_MOST, FEW_VALUES = 8, 100
"""Beyond so many windows there are too many results, if there are not more values."""
SAMPLED_VALUES = 15
"""So few that 16 windows of 20 rows have one in common now and then."""


def tables(effort: WayEffort) -> Series:
    """Nested loops, few buckets, and tables as large as needed."""
    points = []
    best = (0, 1, 2, 3)
    for group, base, sample in (
        ("equal rates", FOUR, SHORT),
        ("Table 5", TABLE_5, SAMPLE_OF_TABLE_5),
    ):
        scaled = base.scaled(effort.scale)
        often = scaled.every(INTERVAL * effort.scale)
        for traffic in (often, replace(scaled, step_rows=LARGE_STEP)):
            ways = _hashed(best, (1, 2, 5, 10, 30))
            points.append(MeasuringPoint(group, traffic.step_rows, traffic, ways, sample))
    title = "Nested loops, hash tables of some buckets, tables for all values: k tuples/s"
    return Series("hash", title, "rows at once", points, effort)


def _hashed(order: Order, counts: tuple[int, ...]) -> dict[str, Way]:
    """Hash tables of some buckets, and those that are as large as needed."""
    fixed: dict[str, Way] = {
        _buckets(count): MultiwayWay(order, buckets=(count,) * 4) for count in counts
    }
    return {**fixed, "tables": MultiwayWay(order)}


def _buckets(count: int) -> str:
    return "nested loop" if count == 1 else f"{count} buckets"


def intervals(effort: WayEffort) -> Series:
    """The series over the number of rows that come at once."""
    points = []
    for rows in effort.steps:
        ways: dict[str, Way] = {
            f"{label}, {timing}": MultiwayWay(None, timing, counts)
            for label, counts in INTERVAL_TABLES.items()
            for timing in TIMINGS
        }
        traffic = replace(FOUR.scaled(effort.scale), step_rows=rows)
        points.append(MeasuringPoint("", rows, traffic, ways, SHORT))
    title = "Rows that come at once: k tuples/s"
    return Series("interval", title, "rows at once", points, effort)


def windows(effort: WayEffort) -> Series:
    """The series over the number of windows that are joined: the paper's Figure 2."""
    points = []
    for count in range(2, min(effort.windows, NAIVE_AT_MOST) + 1):
        ways: dict[str, Way] = {
            "naive": Plain(naive=True),
            "improved": Plain(),
            "tree": TreeWay(),
            "n-way": MultiwayWay(),
        }
        traffic = alike(count, 100, 50, 50 * count)
        points.append(MeasuringPoint("50 values", count, traffic, ways, _short(count, 50 // 5)))
    for count in (NAIVE_AT_MOST, 12, 16):
        if effort.windows >= NAIVE_AT_MOST:
            some: dict[str, Way] = {"improved": Plain(), "tree": TreeWay(), "n-way": MultiwayWay()}
            traffic = alike(count, 100, FEW_VALUES, 50 * count)
            sample = _short(count, SAMPLED_VALUES, 20)
            points.append(MeasuringPoint(f"{FEW_VALUES} values", count, traffic, some, sample))
    title = "Windows of 100 rows that are joined (Figure 2): k tuples/s"
    return Series("windows", title, "windows", points, effort, plans=True)


def _short(count: int, values: int, steps: int = 6) -> AnswerSample:
    return AnswerSample(alike(count, 20, values, 8 * count), steps)


def buckets(effort: WayEffort) -> Series:
    """The series over ways to share buckets between slow streams and a fast one."""
    traffic = FAST.scaled(4).every(INTERVAL * 4)
    points = []
    for average in AVERAGES:
        shares = {"equal": (average,) * 4} | {
            f"{slow} to slow": (slow, slow, slow, 4 * average - 3 * slow)
            for slow in SLOW
            if 4 * average - 3 * slow >= slow
        }
        ways: dict[str, Way] = {}
        for label, counts in shares.items():
            order = exhaustive(traffic.model(tuple(map(float, counts))))
            ways[label] = MultiwayWay(order, buckets=counts)
        ways["tables"] = MultiwayWay(exhaustive(traffic.model((None,) * 4)))
        points.append(MeasuringPoint("", average, traffic, ways, SHORT_FAST))
    title = "Buckets of four windows, one of which is 50 times as fast (Figure 4b): k tuples/s"
    return Series("buckets", title, "buckets on average", points, effort)


def lengths(effort: WayEffort) -> Series:
    """The series over the length of windows: the cost of a tuple."""
    points = []
    for group, share in (("finds 0.1", 10), ("finds 1", 1)):
        for tuples in effort.lengths:
            traffic = alike(4, tuples, share * tuples, min(STEP_ROWS, max(effort.lengths)))
            ways: dict[str, Way] = {"tree": TreeWay(), "n-way": MultiwayWay()}
            points.append(
                MeasuringPoint(group, tuples, traffic, ways, AnswerSample(alike(4, 50, 50, 60), 12))
            )
    title = "Rows of each of four windows, and how many a row finds in one: k tuples/s"
    return Series("lengths", title, "rows of a window", points, effort, plans=True)
