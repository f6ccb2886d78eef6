"""Reports of the operators of running lanes, as statistics by which plans are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any

from penstock.planner.statistics.match_rates import meetings
from penstock.planner.statistics.statistics import Statistics, rounded
from penstock.state.sketches import Sketch, values_among

Reports = Sequence[Any]
"""Of the operators of one lane: `OperatorReport`s, or the same as plain dictionaries."""
Lanes = Mapping[str, Reports] | Sequence[Reports]
"""Lanes by name, as in `0.1.3` for lane 3 of fragment 1 of group 0; or lanes of one graph."""
LEAST_ROWS = 100
"""Fewer rows say too little to choose a plan by."""
LEAST_REPEATED = 20
"""Fewer pairs of equal values say too little of how often they are equal."""
PREVAILING = 0.8
"""Values are thought to be equally frequent unless so many of them would do."""


def measured(lanes: Lanes, least_rows: int = LEAST_ROWS) -> Statistics:
    """Statistics of streams and predicates, from all lanes together."""
    named = _named(lanes)
    seen = {
        name: one for name, one in streams_seen(named).items() if one.rows >= max(least_rows, 1)
    }
    return Statistics(
        {name: rounded(one.rate) for name, one in seen.items() if one.rate is not None},
        {
            (name, column): rounded(count)
            for name, one in seen.items()
            for column, count in one.values.items()
        },
        _selectivities(named, least_rows),
        {
            (name, column): rounded(count)
            for name, one in seen.items()
            for column, count in one.even.items()
        },
        _outputs(named, least_rows),
    )


@dataclass(frozen=True)
class StreamSeen:
    """A stream as the lanes of one fragment have seen it: its rows, when, sketches of columns.

    `apart` is of how many pairs of rows, by column, two of one lane are an example: if each value
    is on one lane only, two rows of different lanes are never the same.
    """

    rows: int
    first: int
    latest: int
    columns: Mapping[str, Sketch]
    apart: Mapping[str, float]

    @property
    def rate(self) -> float | None:
        """Rows in a step of time; None if all have come at one instant."""
        return per_step(self.rows, (self.first, self.latest))

    @property
    def values(self) -> dict[str, float]:
        """The number of values of each column; one that was always NULL is left out."""
        return {
            name: max(values_among(one.different, one.rows, self.rows), 1.0)
            for name, one in self.columns.items()
            if one.rows
        }

    @property
    def even(self) -> dict[str, float]:
        """Of columns in which some values prevail, how many equally frequent ones would repeat so.

        Few repetitions may be chance.
        """
        values = self.values
        found = {
            name: one.pairs / (one.equal * self.apart[name])
            for name, one in self.columns.items()
            if one.equal >= LEAST_REPEATED
        }
        return {name: max(n, 1.0) for name, n in found.items() if n < PREVAILING * values[name]}


def streams_seen(lanes: Lanes) -> dict[str, StreamSeen]:
    """Of each stream what was seen by the fragment, of all that read it, that saw most of it."""
    fragments: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for lane, reports in _named(lanes).items():
        for report in reports:
            stream = report.get("stream")
            if stream is not None:
                place = (lane.rpartition(".")[0], stream["name"])
                fragments.setdefault(place, []).append(stream)
    found: dict[str, StreamSeen] = {}
    for (_, name), parts in fragments.items():
        one = _together(parts)
        if name not in found or found[name].rows < one.rows:
            found[name] = one
    return found


def by_operator(lanes: Lanes) -> list[list[dict[str, Any]]]:
    """The reports of each operator, from all lanes of its fragment."""
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for lane, reports in _named(lanes).items():
        for number, report in enumerate(reports):
            found.setdefault((lane.rpartition(".")[0], number), []).append(report)
    return list(found.values())


def span_of(reports: Reports, streams: Sequence[str] | None = None) -> tuple[int, int] | None:
    """The first and the latest instant of the rows of streams, all or some, that came to lanes."""
    entries = [one["stream"] for one in map(_plain, reports) if one.get("stream") is not None]
    read = [one for one in entries if streams is None or one["name"] in streams]
    if not read:
        return None
    return min(one["first"] for one in read), max(one["latest"] for one in read)


def per_step(rows: int, span: tuple[int, int] | None) -> float | None:
    """Rows in a step of event time; None if all have come at one instant."""
    if span is None or span[1] <= span[0]:
        return None
    return rows / (span[1] - span[0] + 1)


def selectivity_of(report: Any) -> float | None:
    """Rows out for each row in that an operator has looked at; None before there is one."""
    plain = _plain(report)
    seen = plain["rows_in"] - plain.get("waiting", 0)
    return plain["rows_out"] / seen if seen > 0 else None


def asked_of(report: Mapping[str, Any]) -> tuple[int, int]:
    """Of how many rows, or pairs of rows, an operator asked its predicate; how many satisfy it."""
    pairs = report.get("pairs")
    if pairs is not None:
        return pairs[0], pairs[1]
    return report["rows_in"] - report["waiting"], report["rows_out"]


def _together(parts: list[dict[str, Any]]) -> StreamSeen:
    """The shares of several lanes; or one of them, where all lanes get the same rows."""
    if parts[0]["is_whole"]:
        parts = [max(parts, key=lambda one: int(one["rows"]))]
    columns: dict[str, Sketch] = {}
    of_lanes: dict[str, float] = {}
    for part in parts:
        for name, values in part["columns"].items():
            one = Sketch.from_json(values)
            of_lanes[name] = of_lanes.get(name, 0.0) + one.different
            columns.setdefault(name, Sketch()).merge(one)
    rows = [one["rows"] for one in parts]
    return StreamSeen(
        sum(rows),
        min(one["first"] for one in parts),
        max(one["latest"] for one in parts),
        columns,
        {name: _apart(rows, of_lanes[name], one.different) for name, one in columns.items()},
    )


def _apart(rows: Sequence[int], of_lanes: float, different: float) -> float:
    """Of which share of all pairs of rows those within a lane are an example.

    Args:
        rows: Of each lane.
        of_lanes: How many values the lanes have, added up.
        different: How many they have together: as many, if each value is on one lane only.
    """
    within = sum(one * one for one in rows) / max(sum(rows), 1) ** 2
    if len(rows) < 2 or different <= 0:
        return 1.0
    alike = (of_lanes / different - 1) / (len(rows) - 1)
    return within + (1 - within) * min(max(alike, 0.0), 1.0)


@dataclass
class ConditionSeen:
    """Of how many rows, or pairs of rows, a condition was asked, and how many satisfy it.

    Attributes:
        asked: How many; of a sample, unless `is_exact`.
        held: Those that satisfy it.
        of_pairs: Whether it was asked of pairs of rows, in a join.
        is_exact: Whether it was asked alone of all that came; else, as a part of others, of some.
    """

    asked: int
    held: int
    of_pairs: bool
    is_exact: bool

    @property
    def share(self) -> float | None:
        """The selectivity; None before it was asked. Where none passed, it is little."""
        return min(max(self.held, 0.5) / self.asked, 1.0) if self.asked else None

    def add(self, asked: int, held: int) -> None:
        """Add what another operator has seen of it."""
        self.asked += asked
        self.held += held


def conditions_seen(lanes: Lanes, least_rows: int = 1) -> dict[str, ConditionSeen]:
    """Each condition as all lanes have seen it; what all rows say counts more than samples."""
    sampled: dict[str, ConditionSeen] = {}
    counted: dict[str, ConditionSeen] = {}
    for one in (report for reports in _named(lanes).values() for report in reports):
        of_pairs = one.get("pairs") is not None
        for key, (asked, held) in one.get("parts", {}).items():
            sampled.setdefault(key, ConditionSeen(0, 0, of_pairs, False)).add(asked, held)
        key = one.get("predicate")
        if key is not None:
            counted.setdefault(key, ConditionSeen(0, 0, of_pairs, True)).add(*asked_of(one))
    least = max(least_rows, 1)
    found = [
        {key: seen for key, seen in some.items() if seen.asked >= least}
        for some in (sampled, counted, _meetings_seen(lanes))
    ]
    return {**found[0], **found[1], **found[2]}


def _meetings_seen(lanes: Lanes) -> dict[str, ConditionSeen]:
    """The conditions of joins by equal keys, semi-joins and anti-joins, as these have seen them."""
    found: dict[str, ConditionSeen] = {}
    for one in meetings(by_operator(lanes)):
        seen = found.setdefault(one.condition, ConditionSeen(0, 0, one.of_pairs, True))
        seen.add(round(one.asked), round(one.held))
    return found


def _selectivities(lanes: Lanes, least_rows: int) -> dict[str, float]:
    """The shares of rows, and of pairs of rows, that satisfy conditions."""
    met = list(meetings(by_operator(lanes)))
    # Where too few pairs had equal keys to tell, the values of columns tell more.
    unsure = {one.condition for one in met} - {one.condition for one in met if one.says_enough}
    return {
        key: rounded(seen.share)
        for key, seen in conditions_seen(lanes, least_rows).items()
        if seen.share is not None and key not in unsure
    }


def _outputs(lanes: Lanes, least_rows: int) -> dict[str, tuple[float, float]]:
    """Rows that operators send, and withdraw, for each row that they looked at.

    Of semi-joins and anti-joins, for each left row.
    """
    found: dict[str, tuple[float, float, float]] = {}
    for met in meetings(by_operator(lanes)):
        if not met.of_pairs:
            came, sent, withdrawn = found.get(met.condition, (0.0, 0.0, 0.0))
            found[met.condition] = (
                came + met.asked,
                sent + met.sent * met.asked,
                withdrawn + met.withdrawn * met.asked,
            )
    for one in (report for reports in _named(lanes).values() for report in reports):
        key = one.get("made_of")
        if key is not None:
            came, sent, withdrawn = found.get(key, (0.0, 0.0, 0.0))
            found[key] = (
                came + one["rows_in"] - one["waiting"],
                sent + one["rows_out"] - one["withdrawn"],
                withdrawn + one["withdrawn"],
            )
    return {
        key: (rounded(sent / came), rounded(withdrawn / came))
        for key, (came, sent, withdrawn) in found.items()
        if came >= max(least_rows, 1)
    }


def _named(lanes: Lanes) -> dict[str, list[dict[str, Any]]]:
    if not isinstance(lanes, Mapping):
        lanes = {f"0.0.{number}": reports for number, reports in enumerate(lanes)}
    return {name: [_plain(one) for one in reports] for name, reports in lanes.items()}


def _plain(report: Any) -> dict[str, Any]:
    """A report as it travels."""
    if is_dataclass(report) and not isinstance(report, type):
        return asdict(report)
    return dict(report)
