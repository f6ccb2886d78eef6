"""The facts about a pipeline that people and monitors ask for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.observe.work_facts import WorkFacts

if TYPE_CHECKING:
    from penstock.observe.retained_facts import RetainedFacts
    from penstock.observe.sink_facts import SinkFacts
    from penstock.observe.status import Durations


@dataclass(frozen=True)
class Instant:
    """An instant in the unit of a stream; `number` is None before all input and after its end.

    `time` is the same as a date and time (UTC), and `seconds` as seconds since 1970, unless the
    unit has no length.
    """

    text: str
    number: int | None = None
    time: str | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class StreamFacts:
    """A stream that queries read, or have read: its rows, and how far its time has come.

    Attributes:
        late: Rows that came after the watermark had passed them.
        aside: Rows that were not taken in for another reason.
        forgotten: Of what is kept aside, rows that are not kept any more.
        shed: Rows that were left out as too much waited in lanes.
        rate: Rows in a second of event time, or in a tick; None if it was not measured.
        values: How many different values each column has, about, as lanes have seen it.
    """

    name: str
    unit: str
    rows: int
    late: int
    aside: int
    forgotten: int
    watermark: Instant
    latest: Instant
    shed: int = 0
    rate: float | None = None
    values: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class SourceFacts:
    """The progress of reading a stream where it comes from.

    Attributes:
        offset: Up to where Spark has read it, in the words of the source; None if Spark does not.
        files_read: How many files tasks have read; None if Spark reads it.
        files_waiting: How many files were found that tasks have not read yet; None if it is not
            known.
    """

    stream: str
    offset: Any = None
    files_read: int | None = None
    files_waiting: int | None = None


@dataclass(frozen=True)
class QueryFacts:
    """A query; without a group it is declared, but does not run.

    Attributes:
        clock: Results for instants before it are final.
        lag: From the clock to the latest row of its streams, in their unit; None if unknown.
        lag_seconds: The same in seconds, unless the unit has no length.
        new_results: Rows of results that the newest record added, withdrawals included; None if
            they cannot be read any more.
        failures: How many expressions failed, by function.
        shed: Rows of its streams that were shed while it ran, by stream; if there are any, its
            answers are of a sample.
        exact_from: From this instant on it answers as if it had always run; None: it always did.
            The end of time: it needs rows that were not kept.
        catches_up: Whether it is being fed retained rows, and has no answer yet.
    """

    name: str
    text: str
    group: int | None
    lanes: int
    unit: str
    clock: Instant
    lag: int | None
    lag_seconds: float | None
    new_results: int | None
    failures: dict[str, int]
    shed: dict[str, int] = field(default_factory=dict)
    exact_from: Instant | None = None
    catches_up: bool = False


@dataclass(frozen=True)
class ConditionFacts:
    """A condition that queries ask: what all lanes have seen of it since they were made in memory.

    Attributes:
        condition: What it asks, over columns of sources: by this, a plan that is chosen anew finds
            it.
        asked: Of how many rows, or pairs of rows; of a sample, unless `is_exact`.
        held: How many satisfy it.
        selectivity: Their share.
        of_pairs: Whether these are pairs of rows, in a join.
        is_exact: Whether all that came were asked; else, as it is one of several, some.
    """

    condition: str
    asked: int
    held: int
    selectivity: float | None
    of_pairs: bool
    is_exact: bool


@dataclass(frozen=True)
class ProbeFacts:
    """A probe of a join of many inputs, since it last changed their order.

    Attributes:
        origin: The input whose new rows lead to it.
        target: The input that is probed.
        probes: How often; once for new rows that look for others together.
        found: Rows that were found.
    """

    origin: str
    target: str
    probes: int
    found: int


@dataclass(frozen=True)
class OperatorFacts:
    """An operator of a lane: what it has done since the lane was made in memory, and remembers.

    Attributes:
        withdrawn: How many of the rows out withdraw others.
        withdrawn_share: The share of them; None if there are no rows out.
        rate: Rows out in a second of event time, or in a tick.
        per: Which of the two.
        selectivity: Rows out for each row in that it has looked at.
        predicate: What a filter asks of rows, or a join of pairs of rows beyond equal keys.
        pairs_tested: Of how many pairs a join asked it; None: of none.
        pairs_held: How many of them satisfy it.
        made_of: Of an aggregate or DISTINCT, which rows it is made of: by this, a plan that is
            chosen anew finds how many rows it sends and withdraws for each that comes.
        structures: Where a join keeps the rows of each input now: `fifo`, `calendar(n)`, or
            `hashed`, which is a calendar and an index by which withdrawn rows are found. Of what
            counts rows that may be withdrawn, where their ends wait.
        probes: Of a join of many inputs, what it probes, for the rows of each input in the order
            in which that is done now.
        reordered: How often it has changed these orders.
    """

    group: int
    fragment: int
    lane: int
    number: int
    label: str
    rows_in: int
    rows_out: int
    state_rows: int
    state_bytes: int
    seconds: float
    withdrawn: int = 0
    withdrawn_share: float | None = None
    rate: float | None = None
    per: str = "tick"
    selectivity: float | None = None
    predicate: str | None = None
    pairs_tested: int | None = None
    pairs_held: int | None = None
    made_of: str | None = None
    structures: tuple[str, ...] = ()
    probes: tuple[ProbeFacts, ...] = ()
    reordered: int = 0

    @property
    def orders(self) -> dict[str, list[str]]:
        """By input of a join of many, which others its rows probe, in order."""
        found: dict[str, list[str]] = {}
        for one in self.probes:
            found.setdefault(one.origin, []).append(one.target)
        return found


@dataclass(frozen=True)
class DiskUse:
    """Files of one kind in the home."""

    files: int
    bytes: int


@dataclass(frozen=True)
class Facts:
    """All that is known about a pipeline at one moment.

    Attributes:
        seen_at: When this was found out, in seconds since 1970, as all times of day here.
        is_taken: Whether a process has the home for itself: the pipeline runs.
        process: The process that has it, if it has written a status, and runs on this machine.
        takes_rows: Whether that process takes in rows, as it said last; None if it is not known.
        record: The number of the newest commit record.
        kind: What that record is about: start, change, batch or flush.
        records: How many records are kept.
        committed_at: When the newest was written.
        status_at: When the pipeline wrote its status last; None if never.
        status_record: The newest record that the status tells of.
        batch_rows: Rows of the last batch that the status tells of.
        batch_seconds: How long its parts took.
        reading: The way in which the last batch that read files did so, and why.
        durations: How long batches took, since the process was started that wrote the status.
        sources: How far each stream has been read where it comes from.
        paused: The streams of which no rows are taken in, with how many of them wait in lanes, and
            for which other stream.
        sinks: How far each sink has been written.
        sink_seconds: How long it has been waited for sinks, since the process was started.
        errors: The last errors, newest last, each with its time.
        disk: Kinds of files in the home, and the room they take.
        notes: What could not be found out, or cannot be kept of what was set, in sentences.
        work: What lanes with a budget tell of their queues.
        retained: The rows of streams that can be asked about.
    """

    home: str
    seen_at: float
    is_taken: bool
    process: int | None
    takes_rows: bool | None
    record: int
    kind: str
    records: int
    committed_at: float
    status_at: float | None
    status_record: int | None
    queries: tuple[QueryFacts, ...]
    streams: tuple[StreamFacts, ...]
    operators: tuple[OperatorFacts, ...]
    conditions: tuple[ConditionFacts, ...]
    batch_rows: int
    batch_seconds: dict[str, float]
    durations: Durations | None
    sources: tuple[SourceFacts, ...]
    errors: tuple[tuple[float, str], ...]
    disk: dict[str, DiskUse]
    notes: tuple[str, ...]
    reading: str = ""
    work: WorkFacts = field(default_factory=WorkFacts)
    retained: tuple[RetainedFacts, ...] = ()
    paused: dict[str, tuple[int, str]] = field(default_factory=dict)
    sinks: tuple[SinkFacts, ...] = ()
    sink_seconds: float = 0.0

    @property
    def commit_age(self) -> float:
        """Seconds since the newest record was written."""
        return max(0.0, self.seen_at - self.committed_at)
