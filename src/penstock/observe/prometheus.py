"""The facts about a pipeline in the text format that Prometheus reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.observe.metric_lines import Described, Histogram, Labels, Metric, metrics_of
from penstock.observe.work_metrics import work_metrics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.observe.facts import (
        ConditionFacts,
        Facts,
        Instant,
        OperatorFacts,
        QueryFacts,
        StreamFacts,
    )
    from penstock.observe.retained_facts import RetainedFacts
    from penstock.observe.sink_facts import SinkFacts

ERROR_LENGTH = 300
"""Of the text of an error so many characters are told; a label is no place for a long one."""


def exposition(facts: Facts) -> str:
    """All metrics of a pipeline; one without values is left out."""
    metrics: list[Metric | Histogram] = [
        *_pipeline(facts),
        *_streams(facts),
        *_retained(facts),
        *_sources(facts),
        *_queries(facts),
        *_sinks(facts),
        *_operators(facts),
        *_conditions(facts),
        *work_metrics(facts.work),
    ]
    if facts.durations is not None:
        meaning = "Seconds that batches took, since the process was started."
        metrics.append(Histogram("batch_duration_seconds", meaning, facts.durations))
    return "".join(f"{line}\n" for metric in metrics for line in metric.lines())


def _pipeline(facts: Facts) -> Iterator[Metric]:
    yield Metric("running", "1 if a process has the home for itself.", [({}, facts.is_taken)])
    yield Metric("taking_rows", "1 if it said that it takes in rows.", [({}, facts.takes_rows)])
    yield Metric("record_number", "Number of the newest commit record.", [({}, facts.record)])
    yield Metric("records", "Commit records that are kept.", [({}, facts.records)])
    yield Metric(
        "last_commit_timestamp_seconds",
        "When the newest commit record was written.",
        [({}, facts.committed_at)],
    )
    yield Metric(
        "last_commit_age_seconds",
        "Seconds since the newest commit record was written.",
        [({}, facts.commit_age)],
    )
    yield Metric(
        "last_error_timestamp_seconds",
        "When the last error that is remembered happened.",
        [({}, at) for at, _ in facts.errors[-1:]],
    )
    yield Metric(
        "last_error_info",
        "1, with the text of that error on one line.",
        [({"text": _shortened(text)}, 1) for _, text in facts.errors[-1:]],
    )
    yield Metric("batch_rows", "Rows of the last batch.", [({}, facts.batch_rows)])
    yield Metric(
        "batch_seconds",
        "Seconds that a part of the last batch took; job includes restore, operators and write.",
        [({"part": part}, seconds) for part, seconds in facts.batch_seconds.items()],
    )
    yield Metric(
        "disk_bytes",
        "Bytes of the files in the home, by kind.",
        [({"kind": kind}, one.bytes) for kind, one in facts.disk.items()],
    )
    yield Metric(
        "disk_files",
        "Files in the home, by kind.",
        [({"kind": kind}, one.files) for kind, one in facts.disk.items()],
    )


def _retained(facts: Facts) -> Iterator[Metric]:
    streams: list[tuple[Labels, RetainedFacts]] = [
        ({"stream": one.stream}, one) for one in facts.retained
    ]
    yield Metric(
        "retained_sub_windows",
        "Sub-windows of a stream that are kept for questions.",
        [(labels, one.sub_windows) for labels, one in streams],
    )
    yield Metric(
        "retained_bytes",
        "Bytes of the rows of a stream that are kept for questions, logs included.",
        [(labels, one.bytes + one.unsealed_bytes) for labels, one in streams],
    )
    yield Metric(
        "oldest_pin_seconds",
        "Seconds since the oldest reader began that still reads.",
        [({}, one.oldest_pin) for one in facts.retained[:1]],
    )


STREAM_METRICS: tuple[Described[StreamFacts], ...] = (
    ("stream_rows_total", "Rows that came in.", lambda one: one.rows),
    (
        "stream_late_rows_total",
        "Rows set aside because they came after the watermark had passed them.",
        lambda one: one.late,
    ),
    ("stream_aside_rows_total", "Rows set aside for another reason.", lambda one: one.aside),
    (
        "stream_shed_rows_total",
        "Rows left out as too much waited in lanes.",
        lambda one: one.shed,
    ),
    (
        "stream_forgotten_rows_total",
        "Late rows, and others set aside, that are not kept any more.",
        lambda one: one.forgotten,
    ),
    (
        "stream_rate",
        "Rows in a second of event time, or in a tick, as lanes have seen them.",
        lambda one: one.rate,
    ),
)


def _streams(facts: Facts) -> Iterator[Metric]:
    streams: list[tuple[Labels, StreamFacts]] = [({"stream": s.name}, s) for s in facts.streams]
    yield from metrics_of(streams, STREAM_METRICS)
    yield Metric(
        "stream_column_values",
        "Different values that a column has, about.",
        [
            ({**labels, "column": column}, count)
            for labels, one in streams
            for column, count in one.values.items()
        ],
    )
    yield Metric(
        "stream_watermark_timestamp_seconds",
        "The watermark, unless event time is in ticks.",
        [(labels, one.watermark.seconds) for labels, one in streams],
    )
    yield Metric(
        "stream_watermark_lag_seconds",
        "From the watermark to the time of day, unless event time is in ticks.",
        [(labels, _since(one.watermark, facts)) for labels, one in streams],
    )


def _sources(facts: Facts) -> Iterator[Metric]:
    yield Metric(
        "source_offset",
        "Up to where Spark has read the source of a stream, as far as its offset has numbers.",
        [
            ({"source": one.stream, **({"part": part} if part else {})}, number)
            for one in facts.sources
            for part, number in _numbers(one.offset)
        ],
    )
    yield Metric(
        "source_files_read_total",
        "Files of a stream that tasks have read.",
        [({"source": one.stream}, one.files_read) for one in facts.sources],
    )
    yield Metric(
        "source_files_waiting",
        "Files of a stream that were found and wait to be read by tasks.",
        [({"source": one.stream}, one.files_waiting) for one in facts.sources],
    )


def _numbers(offset: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[str, float]]:
    """The numbers in an offset, each with the names that lead to it.

    >>> list(_numbers({"cars": {"0": 12, "1": 9}, "id": "a"})), list(_numbers(13))
    ([('cars/0', 12), ('cars/1', 9)], [('', 13)])
    """
    if isinstance(offset, dict):
        for name, one in offset.items():
            yield from _numbers(one, (*place, name))
    elif isinstance(offset, int | float) and not isinstance(offset, bool):
        yield "/".join(place), offset


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= ERROR_LENGTH else f"{line[: ERROR_LENGTH - 3]}..."


QUERY_METRICS: tuple[Described[QueryFacts], ...] = (
    ("query_lanes", "Lanes that share its work.", lambda one: one.lanes),
    (
        "query_new_result_rows",
        "Rows of results in the newest commit record, withdrawals included.",
        lambda one: one.new_results,
    ),
    (
        "query_clock_timestamp_seconds",
        "The instant before which results are final, unless event time is in ticks.",
        lambda one: one.clock.seconds,
    ),
    (
        "query_event_lag_seconds",
        "From the clock to the latest row that came in, unless event time is in ticks.",
        lambda one: one.lag_seconds,
    ),
)


def _queries(facts: Facts) -> Iterator[Metric]:
    queries: list[tuple[Labels, QueryFacts]] = [({"query": q.name}, q) for q in facts.queries]
    yield Metric(
        "query_running",
        "1 if the query takes part in batches, and a process has the home.",
        [(labels, facts.is_taken and one.group is not None) for labels, one in queries],
    )
    yield from metrics_of(queries, QUERY_METRICS)
    yield Metric(
        "query_event_lag",
        "The same, in the unit of event time.",
        [({**labels, "unit": one.unit}, one.lag) for labels, one in queries],
    )
    yield Metric(
        "query_failures_total",
        "Expressions that failed and gave NULL.",
        [
            ({**labels, "function": function}, count)
            for labels, one in queries
            for function, count in one.failures.items()
        ],
    )
    yield Metric(
        "query_shed_rows_total",
        "Rows shed that the query would have read: its answers are of a sample.",
        [
            ({**labels, "stream": stream}, count)
            for labels, one in queries
            for stream, count in one.shed.items()
        ],
    )


SINK_METRICS: tuple[Described[SinkFacts], ...] = (
    ("sink_record", "All results up to this record have been written.", lambda one: one.record),
    ("sink_commits_behind", "Records that it has not written.", lambda one: one.commits),
    ("sink_results_behind", "Results that it has not written.", lambda one: one.results),
    (
        "sink_waited_for",
        "1 if no rows are taken in until it has come nearer.",
        lambda one: one.is_waited_for,
    ),
    ("sink_failing", "1 if it does not get on.", lambda one: one.error is not None),
)


def _sinks(facts: Facts) -> Iterator[Metric]:
    yield Metric(
        "stream_paused_rows",
        "Rows in lanes of a stream that is not read on, as it is far ahead of another.",
        [({"stream": name}, rows) for name, (rows, _) in facts.paused.items()],
    )
    sinks: list[tuple[Labels, SinkFacts]] = [({"sink": one.name}, one) for one in facts.sinks]
    yield from metrics_of(sinks, SINK_METRICS)
    yield Metric(
        "sink_waiting_seconds_total",
        "Seconds in which no rows were taken in, as sinks were too far behind.",
        [({}, facts.sink_seconds)] if facts.sinks else [],
    )


WORK_OF_OPERATORS: tuple[Described[OperatorFacts], ...] = (
    ("operator_rows_in_total", "Rows that an operator of a lane took in.", lambda one: one.rows_in),
    ("operator_rows_out_total", "Rows that it gave.", lambda one: one.rows_out),
    (
        "operator_withdrawn_rows_total",
        "Rows that it gave to withdraw others.",
        lambda one: one.withdrawn,
    ),
)
MORE_OF_OPERATORS: tuple[Described[OperatorFacts], ...] = (
    (
        "operator_selectivity",
        "Rows that it gave for each row that it looked at.",
        lambda one: one.selectivity,
    ),
    (
        "operator_tested_pairs_total",
        "Pairs of rows with equal keys that a join tested by what else it asks for.",
        lambda one: one.pairs_tested,
    ),
    ("operator_held_pairs_total", "Those of them that satisfied it.", lambda one: one.pairs_held),
    (
        "operator_reordered_total",
        "How often a join of many inputs has changed the order in which it probes them.",
        lambda one: one.reordered if one.probes else None,
    ),
    ("operator_seconds_total", "Seconds that it worked.", lambda one: one.seconds),
    ("operator_state_rows", "Rows that it remembers.", lambda one: one.state_rows),
    ("operator_state_bytes", "Bytes of memory for them.", lambda one: one.state_bytes),
)


def _operators(facts: Facts) -> Iterator[Metric]:
    operators = [(_labels_of(one), one) for one in facts.operators]
    yield from metrics_of(operators, WORK_OF_OPERATORS)
    yield Metric(
        "operator_rate",
        "Rows that it gave in a second of event time, or in a tick.",
        [({**labels, "per": one.per}, one.rate) for labels, one in operators],
    )
    yield from metrics_of(operators, MORE_OF_OPERATORS)


def _labels_of(one: OperatorFacts) -> Labels:
    """Labels that tell apart operators that are alike: `number` is the place in the lane."""
    return {
        "group": one.group,
        "fragment": one.fragment,
        "lane": one.lane,
        "number": one.number,
        "operator": one.label,
    }


def _conditions(facts: Facts) -> Iterator[Metric]:
    conditions: list[tuple[Labels, ConditionFacts]] = [
        ({"condition": one.condition, "of": "pairs" if one.of_pairs else "rows"}, one)
        for one in facts.conditions
    ]
    yield Metric(
        "condition_asked",
        "Rows, or pairs of rows, that a condition was asked of; of some parts a sample.",
        [(labels, one.asked) for labels, one in conditions],
    )
    yield Metric(
        "condition_selectivity",
        "The share of them that satisfied it.",
        [(labels, one.selectivity) for labels, one in conditions],
    )


def _since(instant: Instant, facts: Facts) -> float | None:
    return None if instant.seconds is None else facts.seen_at - instant.seconds
