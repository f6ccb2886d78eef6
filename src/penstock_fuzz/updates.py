"""Random updates of relations below queries side by side: small trials of clocks and of dates.

A case is registered, fed and read through a connection, as users do it, and every answer is
compared with the reference evaluator's. It is told when changes take effect by a model of clocks
of its own. Queries and inputs are tiny, so that many cases can be tried.
"""

from __future__ import annotations

import tempfile
import traceback
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import penstock
from penstock.algebra.streams import RelationToStream
from penstock.algebra.time import BEGINNING
from penstock.catalog.definitions import RelationDefinition, StreamDefinition
from penstock.connection.engines.local.local_engine import LocalEngine
from penstock.errors import DataError
from penstock.planner.clocks import relations_of, streams_of
from penstock.reference.inputs import Inputs, RelationChange, RelationHistory
from penstock.reference.oracle import Oracle
from penstock_fuzz.draw import Draw
from penstock_fuzz.trial import STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from penstock.algebra.patterns import Strategy
    from penstock.algebra.plan import Plan
    from penstock.connection.connection import Connection
    from penstock.connection.query import Query
    from penstock.reference.timeline import Row

RELATIONS = ("r1", "r2", "r3")
STREAMS = ("s", "t")
DECLARATIONS = "\n".join(
    [f"CREATE RELATION {name} (k INT);" for name in RELATIONS]
    + [f"CREATE STREAM {name} (ts BIGINT, k INT, WATERMARK FOR ts AS ts);" for name in STREAMS]
)
ROUNDS = 8
"""So many times the same queries are fed: to plan them takes longer than to run them."""
_SETS = ("UNION", "UNION ALL", "EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL")


@dataclass(frozen=True)
class UpdateStep:
    """Something that is done to a connection.

    Args:
        kind: An insertion into a relation or stream, a deletion from a relation, a watermark
            without a row, a look at a query's answer, or saving and restoring everything.
        name: The relation, stream or query.
        k: The value of the row.
        at: The instant; None where a change is not dated.
    """

    kind: Literal["insert", "delete", "arrive", "advance", "read", "save"]
    name: str = ""
    k: int = 0
    at: int | None = None

    def __str__(self) -> str:
        """As a line of a program."""
        match self.kind:
            case "insert" | "delete":
                return f'db.update("{self.name}", {self.kind}=[({self.k},)], at={self.at})'
            case "arrive":
                return f'db.insert("{self.name}", [({self.at}, {self.k})])'
            case "advance":
                return f'db.advance("{self.name}", {self.at})'
            case "read":
                return f'print(db["{self.name}"])'
        return 'db.save("saved"); db = penstock.connect_inline(restore="saved")'


@dataclass(frozen=True)
class UpdateCase:
    """Queries that are registered together, and what is done then."""

    queries: tuple[str, ...]
    steps: tuple[UpdateStep, ...]
    lanes: int = 1
    strategy: Strategy = "upa"

    def __str__(self) -> str:
        """As a program."""
        lines = [
            f"db = penstock.connect_inline(lanes={self.lanes}, strategy={self.strategy!r})",
            f'db.execute("""{DECLARATIONS}',
            *(f"CREATE QUERY q{n} AS {text};" for n, text in enumerate(self.queries)),
            '""")',
            *(str(step) for step in self.steps),
        ]
        return "\n".join(lines)


def random_cases(seed: str) -> Iterator[UpdateCase]:
    """The cases of a seed: the same queries, other steps."""
    draw = Draw(seed)
    sources = _Sources(draw, draw.pick(0, 20, 50))
    queries = tuple(_query(draw, sources) for _ in range(draw.pick(1, 2, 3, 3)))
    lanes, strategy = draw.pick(1, 1, 2, 3), draw.pick(*STRATEGIES)
    for _ in range(ROUNDS):
        steps = tuple(_step(draw, len(queries)) for _ in range(draw.count(2, 7)))
        yield UpdateCase(queries, steps, lanes, strategy)


@dataclass(frozen=True)
class _Sources:
    """The sources that queries read: relations and, in so many of a hundred places, streams."""

    draw: Draw
    streams: int

    def one(self) -> str:
        """A relation, or a stream under a window."""
        if not self.draw.chance(self.streams):
            return self.draw.pick("r1", "r1", "r2", "r2", "r3")
        window = self.draw.pick("NOW", "RANGE 3", "ROWS 2", "UNBOUNDED", "RANGE 4 SLIDE 2")
        return f"{self.draw.pick(*STREAMS)} [{window}]"


def _query(draw: Draw, sources: _Sources) -> str:
    text = _select(draw, sources)
    for _ in range(draw.pick(0, 1, 1, 2)):
        text = f"{text} {draw.pick(*_SETS)} {_select(draw, sources)}"
    word = draw.pick("", "ISTREAM", "DSTREAM", "RSTREAM", "RSTREAM")
    return f"{word}({text})" if word else text


def _select(draw: Draw, sources: _Sources) -> str:
    first, second = sources.one(), sources.one()
    return draw.pick(
        f"SELECT k FROM {first}",
        f"SELECT k FROM {first}",
        f"SELECT k + 1 AS k FROM {first} WHERE k < 2",
        f"SELECT DISTINCT k FROM {first}",
        f"SELECT x.k FROM {first} x, {second} y WHERE x.k = y.k",
        f"SELECT x.k FROM {first} x, {second} y",
        f"SELECT y.k FROM {first} x LEFT JOIN {second} y ON x.k = y.k",
        f"SELECT k FROM {first} WHERE k IN (SELECT k FROM {second})",
        f"SELECT k FROM {first} WHERE k NOT IN (SELECT k FROM {second})",
        f"SELECT CAST(COUNT(*) AS INT) AS k FROM {first}",
        f"SELECT CAST(COUNT(*) AS INT) AS k FROM {first} GROUP BY k",
    )


def _step(draw: Draw, queries: int) -> UpdateStep:
    kind = draw.count(1, 100)
    at = draw.pick(None, *range(1, 9), *range(3, 7))
    k = draw.count(0, 2)
    if kind <= 60:
        return UpdateStep("insert", draw.pick(*RELATIONS), k, at)
    if kind <= 75:
        return UpdateStep("delete", draw.pick(*RELATIONS), k, at)
    if kind <= 88:
        return UpdateStep("arrive", draw.pick(*STREAMS), k, draw.count(1, 8))
    if kind <= 93:
        return UpdateStep("advance", draw.pick(*STREAMS), 0, draw.count(1, 8))
    if kind <= 98:
        return UpdateStep("read", f"q{draw.count(0, queries - 1)}")
    return UpdateStep("save")


@dataclass
class _QueryClock:
    """The clock of a query, as the semantics say; and what has reached it of relations."""

    plan: Plan
    told: int = BEGINNING
    is_open: bool = False
    changes: dict[str, list[RelationChange]] = field(default_factory=dict)
    initial: dict[str, Counter[Row]] = field(default_factory=dict)

    def take(self, step: UpdateStep, dated: int, watermarks: dict[str, int]) -> None:
        """A change of a relation takes effect when it says, and not before the clock."""
        if step.name not in relations_of(self.plan):
            return
        streams = streams_of(self.plan)
        clock = min((watermarks[name] for name in streams), default=self.told)
        at = max(dated, clock)
        self.told, self.is_open = max(self.told, at), True
        copies = 1 if step.kind == "insert" else -1
        if at == BEGINNING:
            self.initial.setdefault(step.name, Counter())[(step.k,)] += copies
        else:
            sign: Literal["+", "-"] = "+" if copies > 0 else "-"
            self.changes.setdefault(step.name, []).append(RelationChange(at, sign, (step.k,)))

    def read(self) -> None:
        """Make final what has been read."""
        self.told += self.is_open
        self.is_open = False

    def history(self, name: str) -> RelationHistory:
        """A relation as the query has it."""
        initial = list(self.initial.get(name, Counter()).elements())
        return RelationHistory(initial, self.changes.get(name, ()))


class _World:
    """A connection with the queries of a case, what it was told, and what it has shown."""

    def __init__(self, case: UpdateCase) -> None:
        self.db: Connection = penstock.connect_inline(lanes=case.lanes, strategy=case.strategy)
        names = [f"q{number}" for number in range(len(case.queries))]
        texts = zip(names, case.queries, strict=True)
        created = "".join(f"CREATE QUERY {name} AS {text};" for name, text in texts)
        self.db.execute(DECLARATIONS + created)
        self._note_nothing()

    def begin_anew(self) -> None:
        """Be as if nothing had been done."""
        engine = self.db.engine
        assert isinstance(engine, LocalEngine)
        sources = engine.catalog.of_kind("stream", "relation")
        engine.feeding.begin_anew(
            [one for one in sources if isinstance(one, StreamDefinition | RelationDefinition)]
        )
        engine.is_finished = False
        self._note_nothing()

    def _note_nothing(self) -> None:
        queries = self.db.queries
        self.clocks = {name: _QueryClock(query.plan) for name, query in queries.items()}
        self.shown: dict[str, list[Row]] = {name: [] for name in queries}
        self.rows: dict[str, list[Row]] = {name: [] for name in STREAMS}
        self.watermarks = dict.fromkeys(STREAMS, BEGINNING)
        self.now = BEGINNING

    def do(self, step: UpdateStep) -> None:
        """Do it, and note what it means."""
        match step.kind:
            case "insert" | "delete":
                self._update(step)
            case "arrive":
                assert step.at is not None
                self.db.insert(step.name, [(step.at, step.k)])
                if step.at >= self.watermarks[step.name]:
                    self.rows[step.name].append((step.at, step.k))
                    self._pass(step.name, step.at)
            case "advance":
                assert step.at is not None
                self.db.advance(step.name, step.at)
                self._pass(step.name, step.at)
            case "read":
                self.look(step.name)
            case "save":
                with tempfile.TemporaryDirectory() as folder:
                    self.db.save(Path(folder) / "saved")
                    self.db = penstock.connect_inline(restore=Path(folder) / "saved")

    def _pass(self, stream: str, instant: int) -> None:
        self.watermarks[stream] = max(self.watermarks[stream], instant)

    def _update(self, step: UpdateStep) -> None:
        try:
            if step.kind == "insert":
                self.db.update(step.name, insert=[(step.k,)], at=step.at)
            else:
                self.db.update(step.name, delete=[(step.k,)], at=step.at)
        except DataError:
            return  # A row that is not there cannot leave.
        marks = [one for one in self.watermarks.values() if one > BEGINNING]
        self.now = max(self.now, min(marks, default=BEGINNING))
        for clock in self.clocks.values():
            clock.take(step, self.now if step.at is None else step.at, self.watermarks)

    def look(self, name: str) -> None:
        """Read a query."""
        query = self.db[name]
        results = query.emissions() if _sends(query) else query.changes()
        self.shown[name] = _rows(results.to_arrow())
        if not streams_of(query.plan):
            self.clocks[name].read()

    def difference(self, name: str) -> str | None:
        """The rows that a query has shown and should not have, or should have."""
        self.look(name)
        shown, expected = Counter(self.shown[name]), Counter(self.expected(name))
        if shown == expected:
            return None
        missing, extra = sorted(expected - shown, key=str), sorted(shown - expected, key=str)
        return f"{name}: missing {missing}, unexpected {extra}"

    def expected(self, name: str) -> list[Row]:
        """The rows that a query has to have shown."""
        clock = self.clocks[name]
        relations = {one: clock.history(one) for one in RELATIONS}
        oracle = Oracle(Inputs(self.rows, relations))
        if isinstance(clock.plan, RelationToStream):
            return [(*one.row, one.at) for one in oracle.emissions(clock.plan)]
        timeline = oracle.timeline(clock.plan)
        found: list[Row] = [(*row, None, "+") for row in timeline.initial.elements()]
        for change in timeline.changes():
            found += [(*row, change.at, "-") for row in change.removed.elements()]
            found += [(*row, change.at, "+") for row in change.inserted.elements()]
        return found


def _sends(query: Query) -> bool:
    return isinstance(query.plan, RelationToStream)


def _rows(table: pa.Table) -> list[Row]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def fault_of(case: UpdateCase) -> str | None:
    """The fault of a connection at a case; None if it answers as the reference evaluator does."""
    return _fault(_World(case), case)


def _fault(world: _World, case: UpdateCase) -> str | None:
    try:
        for step in case.steps:
            world.do(step)
        world.db.finish()
        return next(filter(None, map(world.difference, world.shown)), None)
    except Exception:  # whatever it is, it is not an answer
        return traceback.format_exc(limit=-5)


def try_seed(seed: str) -> tuple[int, UpdateCase | None]:
    """The number of queries compared of a seed's cases, and the case at which one is wrong."""
    compared = 0
    world: _World | None = None
    for case in random_cases(seed):
        if world is None or any(step.kind == "save" for step in case.steps):
            world = _World(case)
        else:
            world.begin_anew()
        if _fault(world, case) is not None:
            return compared, case
        compared += len(case.queries)
    return compared, None


def smaller(case: UpdateCase, most: int) -> UpdateCase:
    """A smaller case that still fails, after so many runs at most."""
    runs = 0
    while runs < most:
        for candidate in _candidates(case):
            runs += 1
            if fault_of(candidate) is not None:
                case = candidate
                break
            if runs >= most:
                return case
        else:
            return case
    return case


def _candidates(case: UpdateCase) -> Iterator[UpdateCase]:
    if case.lanes > 1:
        yield replace(case, lanes=1)
    if case.strategy != "upa":
        yield replace(case, strategy="upa")
    for place in range(len(case.steps)):
        yield replace(case, steps=case.steps[:place] + case.steps[place + 1 :])
    for place in range(len(case.queries)):
        # Others keep their names.
        instead = "SELECT k FROM t [NOW]"
        if case.queries[place] != instead:
            before, after = case.queries[:place], case.queries[place + 1 :]
            yield replace(case, queries=(*before, instead, *after))
