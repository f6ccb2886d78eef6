"""What the recovery tests run: two streams of files, queries in several groups, and the judge.

A micro-batch takes whole files, and the records say how many rows it took. So the cuts are known,
and with them the rows that are late: the reference evaluator is given the others. Files that tasks
read are a backlog, which makes no row of it late; what comes when it has been read may be late.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from penstock.algebra.streams import RelationToStream
from penstock.algebra.time import INFINITY, TimeUnit
from penstock.catalog.definitions import StreamDefinition
from penstock.pipeline.bound import bound
from penstock.pipeline.plans import PipelinePlan
from penstock.pipeline.query_groups import groups_for
from penstock.reference.compare import compare_emissions, compare_timelines
from penstock.reference.inputs import Inputs
from penstock.reference.oracle import Oracle
from penstock.reference.timeline import Timeline
from penstock.session import Session
from penstock.store.rejected_rows import REASON, read_rejected
from penstock.store.result_files import result_blocks
from penstock.testing.inline import answer_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from penstock.catalog.definitions import QueryDefinition
    from penstock.reference.timeline import Row
    from penstock.store.layout import Home
    from penstock.store.records import Record

SLACK = 15
STREAMS = {"a": ("k", "v"), "b": ("k", "w")}
QUERIES = {
    "joined": "SELECT a.k, a.v, b.w FROM a [RANGE 12], b [RANGE 9] WHERE a.k = b.k",
    "sums": "SELECT k, COUNT(*) AS n, SUM(v) AS total, MAX(v) AS top FROM a [RANGE 25] GROUP BY k",
    "kinds": "SELECT DISTINCT v, k FROM a [RANGE 18]",
    "total": "SELECT COUNT(*) AS n, SUM(w) AS total FROM b [RANGE 20]",
    "news": "ISTREAM (SELECT k, MAX(w) AS top FROM b [RANGE 14] GROUP BY k)",
    "last": "SELECT k, v FROM a [PARTITION BY k ROWS 3]",
}
"""A join, aggregates with and without a key, DISTINCT, an emitted stream, a count window."""


@dataclass(frozen=True)
class Scenario:
    """Files of rows: of each stream as many as there are micro-batches.

    Spark reads those of the streams in `by_spark`, the tasks themselves those of the others. Those
    from `later` on come when the others have been read.
    """

    folder: Path
    files: Mapping[str, Sequence[Sequence[Row]]]
    by_spark: str = "a"
    later: int | None = None
    utility: bool = False

    @property
    def batches(self) -> int:
        return len(self.files["a"])

    @property
    def by_tasks(self) -> frozenset[str]:
        """The streams whose files the tasks read: of a backlog the earliest event time first."""
        return frozenset(STREAMS) - set(self.by_spark)

    def backlogs(self, name: str) -> list[list[Sequence[Row]]]:
        """The files of a stream that are found together, as they are read."""
        files = list(self.files[name])
        if name not in self.by_tasks:
            return [files]
        found = [files] if self.later is None else [files[: self.later], files[self.later :]]
        return [sorted(one, key=earliest) for one in found]

    def as_read(self, name: str) -> list[Sequence[Row]]:
        """The files of a stream in the order in which they are read."""
        return [rows for files in self.backlogs(name) for rows in files]

    def holds(self, name: str) -> list[int | None]:
        """For each file as it is read, the earliest event time in those that still wait then.

        None: nothing waits, or nothing is held for what does.
        """
        if name not in self.by_tasks:
            return [None] * len(self.files[name])
        return [
            min(map(earliest, files[place:]), default=None)
            for files in self.backlogs(name)
            for place in range(1, len(files) + 1)
        ]

    def statements(self) -> tuple[str, ...]:
        """The streams."""
        return tuple(
            f"CREATE STREAM {name} (ts BIGINT, {key} INT, {value} BIGINT,"
            f" WATERMARK FOR ts AS ts - {SLACK})"
            f" USING parquet OPTIONS (path '{self.folder / name}', maxFilesPerTrigger 1"
            + (f", utility '{value}'" if self.utility else "")
            + (", reader 'spark')" if name in self.by_spark else ")")
            for name, (key, value) in STREAMS.items()
        )

    def hold_back(self, first: int) -> Scenario:
        """Take the files from a batch on away, until `bring`."""
        for name in STREAMS:
            (self.folder / f"{name} later").mkdir()
            for number in range(first, self.batches):
                path = self.folder / name / f"{number:06d}.parquet"
                path.rename(self.folder / f"{name} later" / path.name)
        return replace(self, later=first)

    def bring(self) -> None:
        """Put the files back that were held back."""
        for name in STREAMS:
            for path in sorted((self.folder / f"{name} later").glob("*")):
                path.rename(self.folder / name / path.name)


def earliest(rows: Sequence[Row]) -> int:
    """The earliest event time of rows."""
    return min(int(str(row[0])) for row in rows)


def make_scenario(
    folder: Path, seed: int, *, batches: int, rows: int = 30, by_spark: str = "a"
) -> Scenario:
    """Rows that come out of order, some of them late, in files that are read in order."""
    draw = random.Random(seed)
    files: dict[str, list[list[Row]]] = {name: [] for name in STREAMS}
    for batch in range(batches):
        for name, found in files.items():
            now = batch * 10
            found.append([_drawn(draw, now) for _ in range(draw.randint(rows // 2, rows))])
            _write(folder / name, batch, STREAMS[name], found[-1])
    return Scenario(folder, files, by_spark)


def _drawn(draw: random.Random, now: int) -> Row:
    # One row in twelve is far behind, and late unless its batch is one of the first.
    behind = draw.randint(30, 60) if draw.random() < 1 / 12 else draw.randint(-10, 12)
    return (max(0, now - behind), draw.randint(0, 4), draw.randint(0, 9))


def _write(folder: Path, number: int, names: Sequence[str], rows: Sequence[Row]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    types = [pa.int64(), pa.int32(), pa.int64()]
    columns = [
        pa.array(one, kind) for one, kind in zip(zip(*rows, strict=True), types, strict=True)
    ]
    path = folder / f"{number:06d}.parquet"
    pq.write_table(pa.table(columns, names=["ts", *names]), path)
    # Older files are read first.
    os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


def make_plan(
    statements: Sequence[str], queries: Sequence[str], *, lanes: int, first_group: int = 0
) -> PipelinePlan:
    """Some of the queries, in the groups they fall into."""
    creating = [f"CREATE QUERY {name} AS {QUERIES[name]}" for name in queries]
    session = Session()
    for text in (*statements, *creating):
        session.execute(text)
    plans = {}
    for name in queries:
        found = session.catalog.find(name, "query")
        plans[name] = found.plan  # type: ignore[attr-defined]
    groups = groups_for(plans, first_group, lanes)
    return PipelinePlan((*statements, *creating), tuple(groups))


def as_cut(scenario: Scenario, records: Sequence[Record]) -> dict[str, Sequence[Sequence[Row]]]:
    """The rows of each stream by micro-batch, as the records say; a batch takes whole files.

    Mostly one, but two where the driver was killed after Spark had written down which file is
    the next, and before it had written down that a batch is to take it.
    """
    found: dict[str, Sequence[Sequence[Row]]] = {}
    for name in scenario.files:
        files = scenario.as_read(name)
        lengths = [0, *map(len, files)]
        ends = {count: number for number, count in enumerate(accumulate(lengths))}
        reached = [one.streams[name].rows for one in records if one.kind == "batch"]
        assert set(reached) <= set(ends), f"{name}: a part of a file, or rows that came twice"
        assert reached[-1] == max(ends), f"{name}: rows are missing"
        cuts = [0, *(ends[count] for count in reached)]
        found[name] = [
            [row for file in files[start:stop] for row in file] for start, stop in pairwise(cuts)
        ]
    return found


def on_time(
    batches: Mapping[str, Sequence[Sequence[Row]]],
    first: int = 0,
    scenario: Scenario | None = None,
) -> tuple[dict[str, list[Row]], dict[str, list[Row]]]:
    """The rows of each stream that count, and those that are late, by the watermark at opening.

    With `first`, only the rows from that batch on. A scenario says what the watermarks of streams
    whose files the tasks read are held for.
    """
    taken: dict[str, list[Row]] = {}
    late: dict[str, list[Row]] = {}
    for name, cut in batches.items():
        latest, opening = -INFINITY, -INFINITY
        taken[name], late[name] = [], []
        holds = iter([] if scenario is None else scenario.holds(name))
        for batch, rows in enumerate(cut):
            for row in rows:
                at = int(str(row[0]))
                if batch >= first:
                    (late if at < opening else taken)[name].append(row)
                latest = max(latest, at)
            if rows:
                hold = next(holds, None)
                held = latest - SLACK if hold is None else min(latest - SLACK, hold)
                opening = max(opening, held)
    return taken, late


def counting(records: Sequence[Record]) -> list[Record]:
    """The records whose results hold: the end of the input counts only if nothing follows it."""
    return [one for one in records if one.kind != "flush" or one is records[-1]]


def check(
    home: Home,
    scenario: Scenario,
    queries: Sequence[str] = tuple(QUERIES),
    *,
    sheds: bool = False,
) -> None:
    """The committed results are the oracle's; each row was taken in once, late ones set aside.

    If rows are shed, and kept aside, the results are those over the others.
    """
    records = list(home.chain.since(0))
    assert [one.number for one in records] == list(range(len(records)))
    taken, late = on_time(as_cut(scenario, records), scenario=scenario)
    last = records[-1]
    assert last.kind == "flush"
    assert any(one.image for one in last.lanes.values()), "no image: it shows too little"
    for name, files in scenario.files.items():
        progress = last.streams[name]
        assert (progress.rows, progress.late) == (sum(map(len, files)), len(late[name])), name
        is_one_backlog = name in scenario.by_tasks and scenario.later is None
        assert is_one_backlog or late[name], "the scenario has no late rows: it shows too little"
    plan = make_plan(scenario.statements(), queries, lanes=2)
    assert _aside(home, last, plan) == {name: Counter(rows) for name, rows in late.items()}
    shed = _aside(home, last, plan, sheds=True)
    assert {name: one.shed for name, one in last.streams.items()} == {
        name: rows.total() for name, rows in shed.items()
    }
    assert any(shed.values()) == sheds, "nothing was shed: it shows too little"
    for name, rows in shed.items():
        assert not rows - Counter(taken[name]), "rows were shed that never came"
        taken[name] = _without(taken[name], rows)
    for query in queries:
        read = {name: n for name, n in last.shed.get(query, {}).items() if n}
        assert read == {
            name: rows.total() for name, rows in shed.items() if rows and reads(query, name)
        }
    compare(home, counting(records), plan, Inputs(streams=taken))


def compare(home: Home, records: Sequence[Record], plan: PipelinePlan, inputs: Inputs) -> None:
    """The results that records name are those of the reference evaluator."""
    oracle = Oracle(inputs)
    catalog = bound(plan).session.catalog
    for group in plan.groups:
        for name in group.queries:
            query: QueryDefinition = catalog.find(name, "query")  # type: ignore[assignment]
            blocks = [block for one in records for block in result_blocks(home, one, name)]
            found = answer_of(query.plan, blocks, 0).result
            if isinstance(query.plan, RelationToStream):
                assert isinstance(found, list)
                wanted = oracle.emissions(query.plan)
                assert wanted, name
                different = compare_emissions(wanted, found, query.plan.schema, TimeUnit.TICK)
            else:
                assert isinstance(found, Timeline)
                timeline = oracle.timeline(query.plan)
                assert len(timeline.starts) > 1, name
                different = compare_timelines(timeline, found, query.plan.schema, TimeUnit.TICK)
            assert different is None, f"{name}: {different}"


def reads(query: str, stream: str) -> bool:
    """A query reads a stream."""
    return f" {stream} [" in QUERIES[query]


def _without(rows: Sequence[Row], gone: Counter[Row]) -> list[Row]:
    """Rows without some of them, of equal ones the first."""
    left, stay = Counter(gone), []
    for row in rows:
        if left[row]:
            left[row] -= 1
        else:
            stay.append(row)
    return stay


def _aside(
    home: Home, record: Record, plan: PipelinePlan, *, sheds: bool = False
) -> dict[str, Counter[Row]]:
    """The rows that were set aside because they were late, or shed, by stream."""
    catalog = bound(plan).session.catalog
    found: dict[str, Counter[Row]] = {}
    for name, columns in STREAMS.items():
        stream = catalog.find(name, "stream")
        assert isinstance(stream, StreamDefinition)
        rows = read_rejected(home, record.aside, name, stream.schema)
        rows = rows.filter(pc.equal(pc.starts_with(rows[REASON], "shed:"), sheds))
        values = rows.select(["ts", *columns]).to_pydict().values()
        found[name] = Counter(zip(*values, strict=True))
    return found
