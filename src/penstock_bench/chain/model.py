"""The model of the theory: a virtual clock, blocks of size 1, charts that are exact."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from penstock.scheduling.scheduler import Head
from penstock_bench.chain.stages import below, entries
from penstock_bench.chain.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from penstock.scheduling.paths import Path
    from penstock.scheduling.scheduler import Scheduler
    from penstock_bench.chain.stages import Port, Stage

ROUNDING = 1e-9
"""Time that sums of times may lack of a block's."""


class BlockArrival(NamedTuple):
    """A block that comes in: when, and of which input; the model's own are all of size 1."""

    time: float
    source: str
    size: float = 1.0


@dataclass(eq=False)
class Part:
    """A block, or a part of one where paths have parted, that waits or is at work."""

    sequence: int
    arrival: float
    stage: Stage
    todo: float
    """The time that its operator still takes."""

    @property
    def work(self) -> float:
        """The time until its last result."""
        return self.todo + self.stage.left - self.stage.time


@dataclass(frozen=True)
class Model:
    """Operators, and what a block takes in each of them.

    An operator with several inputs takes blocks in their order, and is blocked while one of its
    inputs is empty and something may still come there.

    Args:
        paths: All ways of blocks.
        unit: The time after which work on a block can be interrupted; None: it cannot.
    """

    paths: Sequence[Path]
    unit: float | None = 1.0

    def run(self, scheduler: Scheduler, arrivals: Iterable[BlockArrival]) -> Trace:
        """Let all blocks pass, in the order that the scheduler chooses."""
        return _Run(self, scheduler, sorted(arrivals, key=lambda one: one.time)).trace()


class Queues:
    """The blocks before each operator.

    Attributes:
        entries: The first stages of each input.
        operators: Their number.
        joins: Operators with several inputs.
        coming: The inputs of which there is more to come.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self.entries = entries(paths)
        self._ports: dict[int, dict[Port, deque[Part]]] = {}
        for stage in below(one for first in self.entries.values() for one in first):
            self._ports.setdefault(stage.operator, {})[stage.port] = deque()
        self.operators = max(self._ports, default=-1) + 1
        self.joins = [one for one, ports in self._ports.items() if len(ports) > 1]
        self.coming = set(self.entries)

    def parts(self) -> Iterator[Part]:
        """All that waits."""
        return (one for ports in self._ports.values() for queue in ports.values() for one in queue)

    def put(self, part: Part) -> None:
        """Let a part wait before its operator."""
        self._ports[part.stage.operator][part.stage.port].append(part)

    def take(self, part: Part) -> None:
        """Take away a head."""
        self._ports[part.stage.operator][part.stage.port].popleft()

    def head(self, operator: int) -> Part | None:
        """The oldest part, if the operator could run."""
        ports = self._ports[operator]
        heads = [queue[0] for queue in ports.values() if queue]
        if len(heads) < len(ports) and any(
            self._is_fed(port) for port, queue in ports.items() if not queue
        ):
            return None
        return min(heads, key=lambda one: one.sequence, default=None)

    def _is_fed(self, port: Port) -> bool:
        """True if something may still come to an input."""
        source, operator = port
        if source:
            return source in self.coming
        return any(queue or self._is_fed(one) for one, queue in self._ports[operator].items())


@dataclass
class _Run:
    """One run of a model."""

    model: Model
    scheduler: Scheduler
    arrivals: Sequence[BlockArrival]
    now: float = 0.0
    _next: int = 0
    _came: int = 0
    _made: Trace = field(default_factory=Trace)

    def __post_init__(self) -> None:
        self._queues = Queues(self.model.paths)
        self._last = {one.source: at for at, one in enumerate(self.arrivals)}
        self._queues.coming &= self._last.keys()
        self.scheduler.replan(self.model.paths, self._queues.operators)
        if isinstance(self.scheduler, SeesAll):
            self.scheduler.sees(self._queues)

    def trace(self) -> Trace:
        """Run until all is done."""
        while True:
            self._admit(self.now)
            chosen = self.scheduler.choose(self.now)
            if chosen is not None:
                self._work(chosen)
            elif self._next < len(self.arrivals):
                self.now = self.arrivals[self._next].time
            else:
                return self._made

    def _admit(self, until: float) -> None:
        """Let in what came before, or at, an instant."""
        while self._next < len(self.arrivals) and self.arrivals[self._next].time <= until:
            time, source, _ = self.arrivals[self._next]
            self._next += 1
            for stage in self._queues.entries[source]:
                self._put(Part(self._came, time, stage, stage.time), time)
            self._came += 1
            if self._last[source] < self._next:
                self._queues.coming.discard(source)
                self._tell_joins()

    def _put(self, part: Part, time: float) -> None:
        self._queues.put(part)
        self._made.grows(time, part.stage.size)
        self._tell(part.stage.operator)

    def _tell(self, operator: int) -> None:
        """Tell the scheduler what waits before an operator."""
        part = self._queues.head(operator)
        head = None if part is None else Head(part.arrival, part.sequence)
        self.scheduler.waits(operator, head)

    def _work(self, operator: int) -> None:
        """Work for a unit, or until the block is done; what comes meanwhile waits."""
        part = self._queues.head(operator)
        assert part is not None, "a scheduler chooses only operators that it was told of"
        unit = self.model.unit
        time = part.todo if unit is None else min(unit, part.todo)
        before = self.now + time * (1 - ROUNDING)
        self._admit(before)
        self.now += time
        part.todo -= time
        self.scheduler.ran(operator, time)
        if part.todo <= ROUNDING:
            self._finish(part)

    def _finish(self, part: Part) -> None:
        """Hand a block on, or let its results leave."""
        stage = part.stage
        self._queues.take(part)
        self._made.grows(self.now, -stage.size)
        for one in stage.onward:
            self._put(Part(part.sequence, part.arrival, one, one.time), self.now)
        if not stage.onward:
            self._made.leaves(self.now, part.arrival)
        self._tell(stage.operator)
        self._tell_joins()

    def _tell_joins(self) -> None:
        """Tell it of operators that need not wait for an input to which nothing more comes."""
        for one in self._queues.joins:
            self._tell(one)


class SeesAll:
    """A scheduler that looks at all that waits, not at heads only."""

    def sees(self, queues: Queues) -> None:
        """Take the queues, which change while it runs."""
        raise NotImplementedError
