"""A trial: a program, its input, how the input is fed; and what an engine makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, get_args

from penstock.algebra.patterns import Strategy
from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import Relation, Stream
from penstock.algebra.tactics import Tactics
from penstock.reference.inputs import Inputs, RelationChange, RelationHistory
from penstock.runtime.work_clock import VirtualClock
from penstock.scheduling.work_rules import WorkRules
from penstock.session import Session
from penstock.testing.inline import QUERY
from penstock_fuzz.edits import Edit, edited

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.reference.timeline import Row
    from penstock.testing.engines import CaseAnswer
    from penstock_fuzz.programs import FuzzProgram

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
"""How an engine may run a plan; results never depend on it."""

Feed = Mapping[str, slice]
"""Which rows of each stream, and changes of each relation, come together."""
Late = frozenset[tuple[str, int]]
"""Late rows: the stream and the position of the row in it."""


@dataclass(frozen=True)
class StreamInput:
    """The rows of a stream in the order they arrive, and with which feed each of them comes."""

    rows: tuple[Row, ...]
    feeds: tuple[int, ...]
    slack: int
    time_index: int = 0

    def time_of(self, position: int) -> int:
        """The event time of a row."""
        at = self.rows[position][self.time_index]
        assert isinstance(at, int)
        return at


@dataclass(frozen=True)
class RelationInput:
    """The content of a relation at first, its changes by instant, and the feed each comes with."""

    initial: tuple[Row, ...] = ()
    changes: tuple[RelationChange, ...] = ()
    feeds: tuple[int, ...] = ()

    @property
    def history(self) -> RelationHistory:
        """As the reference evaluator takes it."""
        return RelationHistory(self.initial, self.changes)


@dataclass(frozen=True)
class FileProgram:
    """A program that was read from a file: text that nobody takes apart."""

    script: str
    query: str


@dataclass(frozen=True)
class Trial:
    """Everything that makes a run reproducible.

    Args:
        program: Declarations and the query.
        streams: What comes in, by the name of the stream.
        relations: What relations hold and how they change, by name.
        feed_count: How many times the engine is fed; rows say with which feed they come.
        lanes: How many lanes share the work.
        restore_after: Feeds after which state is saved and restored into fresh lanes.
        lanes_after: How many lanes there are from one restore to the next; without one, as many
            as before.
        replan_after: The feed after which the query is planned anew while it runs; None: never.
        replan_by: A number that decides by which statistics.
        strategy: One of `STRATEGIES`.
        joins: How joins of three inputs or more run, as `SET joins` says it.
        join_evaluation: How such a join probes, if it is one operator.
        join_expiration: When it drops rows.
        partitions: How many partitions the engine's calendar queues have.
        budget: The time that lanes have for a feed, by the work clock of the fuzzer; None: any.
        scheduler: Who says what they do first.
        scheduler_options: The numbers that schedulers take, by name, in the time of that clock.
        latency: The time that the query allows by that clock; None: any.
        block_rows: About how many rows are a block then.
        shedding: The way rows are shed when too much waits in lanes; None: none are.
        shedding_bound: So many bytes are too much.
        edits: Changes of the plan that no query text can say.
    """

    program: FuzzProgram | FileProgram
    streams: Mapping[str, StreamInput]
    relations: Mapping[str, RelationInput]
    feed_count: int = 1
    lanes: int = 1
    restore_after: frozenset[int] = frozenset()
    lanes_after: Mapping[int, int] = field(default_factory=dict)
    replan_after: int | None = None
    replan_by: int = 0
    strategy: str = "upa"
    joins: str = "auto"
    join_evaluation: str = "lazy"
    join_expiration: str = "lazy"
    partitions: int = 8
    budget: float | None = None
    scheduler: str = "fifo"
    scheduler_options: Mapping[str, float] = field(default_factory=dict)
    latency: float | None = None
    block_rows: int = 1
    shedding: str | None = None
    shedding_bound: int = 1
    edits: tuple[Edit, ...] = ()

    @property
    def tactics(self) -> Tactics:
        """The tactics that are set for the query."""
        found = (self.strategy, self.joins, self.join_evaluation, self.join_expiration)
        return Tactics(*found)  # type: ignore[arg-type]  # a trial is written with what SET takes

    @property
    def rules(self) -> WorkRules:
        """The rules of work: how long lanes work in a feed, and in which order."""
        latency = {} if self.latency is None else {QUERY: self.latency}
        options = self.scheduler_options
        return WorkRules(self.budget, self.scheduler, self.block_rows, options, latency)

    @property
    def script(self) -> str:
        """The statements that declare everything."""
        return self.program.script

    @property
    def query(self) -> str:
        """The query's text."""
        return str(self.program.query)

    @property
    def feeds(self) -> list[Feed]:
        """The input, cut: rows of a source keep their order from feed to feed."""
        return [
            {name: _slice(feeds, number) for name, feeds in self.fed_with.items()}
            for number in range(self.feed_count)
        ]

    @property
    def fed_with(self) -> dict[str, tuple[int, ...]]:
        """With which feed each row and change comes, by source."""
        return {
            **{name: one.feeds for name, one in self.streams.items()},
            **{name: one.feeds for name, one in self.relations.items()},
        }

    @property
    def row_count(self) -> int:
        """The number of rows and changes that come in, initial content included."""
        changes = sum(len(one.initial) + len(one.changes) for one in self.relations.values())
        return changes + sum(len(one.rows) for one in self.streams.values())

    def plan(self) -> Plan:
        """The plan of the query.

        Raises:
            PenstockError: The program has a fault.
        """
        session = Session()
        session.execute(self.script)
        return edited(session.bind(self.query).plan, self.edits)

    def inputs(self, late: Late) -> Inputs:
        """The input of the query: everything but the late rows."""
        streams = {
            name: [row for i, row in enumerate(one.rows) if (name, i) not in late]
            for name, one in self.streams.items()
        }
        return Inputs(streams, {name: one.history for name, one in self.relations.items()})


def work_clock() -> VirtualClock:
    """The clock that budgets of trials are measured by: a call costs 1, and a row a tenth."""
    return VirtualClock(1.0, 0.1)


def names_read(plan: Plan) -> frozenset[str]:
    """The streams and relations that a plan reads."""
    nodes = different_nodes(plan)
    return frozenset(node.name for node in nodes if isinstance(node, Stream | Relation))


def only_read(trial: Trial, plan: Plan) -> Trial:
    """The trial without the input of streams and relations that its plan does not read."""
    read = names_read(plan)
    return replace(
        trial,
        streams={name: one for name, one in trial.streams.items() if name in read},
        relations={name: one for name, one in trial.relations.items() if name in read},
    )


def _slice(feeds: tuple[int, ...], number: int) -> slice:
    start = sum(feed < number for feed in feeds)
    return slice(start, start + feeds.count(number))


@dataclass(frozen=True)
class TrialResult:
    """The outcome of a trial.

    Args:
        answer: The result.
        late: The rows that the engine found late.
        shed: Those that it shed.
        shed_counts: How many of each stream it says there were.
    """

    answer: CaseAnswer
    late: Late
    shed: Late = frozenset()
    shed_counts: Mapping[str, int] = field(default_factory=dict)


class Contender(Protocol):
    """An engine under test.

    One that `takes_edits` runs plans that no query text can say; one that `replans` runs queries
    by another plan in the middle of a trial.
    """

    @property
    def replans(self) -> bool:
        """Trials should be such that there is another plan."""
        ...

    @property
    def takes_edits(self) -> bool:
        """Trials may have edits."""
        ...

    def run_trial(self, trial: Trial, plan: Plan) -> TrialResult:
        """Feed a trial to the end, as it says, and give the complete result."""
        ...


def late_rows(trial: Trial) -> Late:
    """The rows below their stream's watermark when the feed that brings them opens."""
    late = set()
    for name, stream in trial.streams.items():
        for i, feed in enumerate(stream.feeds):
            seen = [stream.time_of(j) for j in range(i) if stream.feeds[j] < feed]
            if seen and stream.time_of(i) < max(seen) - stream.slack:
                late.add((name, i))
    return frozenset(late)


def clocks(trial: Trial) -> list[int | None]:
    """The query's clock after each feed; None as long as a stream has shown no row."""
    found: list[int | None] = []
    for feed in range(trial.feed_count):
        marks = [_watermark(stream, feed) for stream in trial.streams.values()]
        known = [mark for mark in marks if mark is not None]
        found.append(min(known) if known and len(known) == len(marks) else None)
    return found


def _watermark(stream: StreamInput, feed: int) -> int | None:
    seen = [stream.time_of(i) for i, own in enumerate(stream.feeds) if own <= feed]
    return max(seen) - stream.slack if seen else None


def is_feedable(trial: Trial) -> bool:
    """Every change of a relation comes before the clock has passed its instant."""
    if not trial.streams:
        return _is_in_turn(trial)
    passed = clocks(trial)
    for relation in trial.relations.values():
        for change, feed in zip(relation.changes, relation.feeds, strict=True):
            earlier = [clock for clock in passed[:feed] if clock is not None]
            if any(clock > change.at for clock in earlier):
                return False
    return True


def _is_in_turn(trial: Trial) -> bool:
    """Changes that are all the clock there is come one instant after the other."""
    fed = sorted(
        (feed, change.at)
        for one in trial.relations.values()
        for change, feed in zip(one.changes, one.feeds, strict=True)
    )
    return all(before[0] == after[0] or before[1] < after[1] for before, after in pairwise(fed))
