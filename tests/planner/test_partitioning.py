"""Lanes that are fed as the planner says give together what one plan gives: the oracle judges."""

from __future__ import annotations

import zlib
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from penstock.algebra.failures import Failures
from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import Relation, RelationToStream, Stream
from penstock.builder import QueryBuilder, stream
from penstock.errors import QueryError
from penstock.planner.partition.partitioning import Partitioning, partitioning_of
from penstock.reference.expressions import evaluate
from penstock.reference.inputs import Inputs, RelationHistory
from penstock.reference.oracle import Oracle
from penstock.session import Session
from properties.generate import DECLARATIONS, Window, histories, inputs, windows
from properties.generate_queries import queries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import Value
    from penstock.algebra.plan import Plan
    from penstock.reference.timeline import Row

MORE = """
CREATE STREAM b (ts BIGINT, k BIGINT, v BIGINT, c STRING, WATERMARK FOR ts AS ts);
CREATE NONRETROACTIVE RELATION n (k INT, v INT, c STRING);
"""
SESSION = Session()
SESSION.execute(DECLARATIONS + MORE)
many = settings(max_examples=100, suppress_health_check=list(HealthCheck), deadline=None)


# The judge


def lane_of(
    row: Row, source: Stream | Relation, keys: Sequence[object], lanes: int, salt: int
) -> int:
    named = dict(zip(source.schema.names, row, strict=True))
    values: list[Value] = [evaluate(key, named, Failures()) for key in keys]  # type: ignore[arg-type]
    return zlib.crc32(repr((salt, values)).encode()) % lanes


def shares(plan: Plan, found: Partitioning, whole: Inputs, lanes: int, salt: int) -> list[Inputs]:
    """The inputs of each lane."""
    nodes = (one for one in different_nodes(plan) if isinstance(one, Stream | Relation))
    sources = {one.name: one for one in nodes}
    assert found.routes.keys() == sources.keys()

    def mine(name: str, row: Row, lane: int) -> bool:
        keys = found.routes[name].keys
        return keys is None or lane_of(row, sources[name], keys, lanes, salt) == lane

    def share(lane: int) -> Inputs:
        streams = {
            name: [row for row in rows if mine(name, row, lane)]
            for name, rows in whole.streams.items()
            if name in sources
        }
        relations = {
            name: RelationHistory(
                [row for row in history.initial if mine(name, row, lane)],
                [one for one in history.changes if mine(name, one.row, lane)],
            )
            for name, history in whole.relations.items()
            if name in sources
        }
        return Inputs(streams, relations)

    return [share(lane) for lane in range(lanes)]


def assert_adds_up(plan: Plan, found: Partitioning, whole: Inputs, lanes: int, salt: int) -> None:
    oracles = [Oracle(part) for part in shares(plan, found, whole, lanes, salt)]
    if isinstance(plan, RelationToStream):
        parts = sum((Counter(one.emissions(plan)) for one in oracles), Counter())
        assert parts == Counter(Oracle(whole).emissions(plan)), found.reason
        return
    expected = Oracle(whole).timeline(plan)
    timelines = [one.timeline(plan) for one in oracles]
    for at in sorted({start for one in (expected, *timelines) for start in one.starts}):
        together = sum((one.at(at) for one in timelines), Counter())
        assert together == expected.at(at), f"at {at}, {found.reason}"


@st.composite
def all_inputs(draw: st.DrawFn) -> Inputs:
    """Of every stream and relation; b has the values of t as BIGINT."""
    first, second = draw(inputs()), draw(inputs())
    streams = {**first.streams, "b": second.streams["t"]}
    return Inputs(streams, {**first.relations, "n": draw(histories())})


lanes_of = st.integers(2, 4)
salts = st.integers(0, 99)


# Any query


@st.composite
def sent_queries(draw: st.DrawFn) -> str:
    """A random query, often sent out or under another window."""
    by = st.builds(Window, st.just("ROWS"), st.integers(1, 3), st.none(), st.just(("k",)))
    slide = draw(st.integers(2, 4))
    sliding = st.builds(Window, st.just("RANGE"), st.integers(1, 5), st.just(slide))
    over = draw(st.sampled_from([windows(), windows(slide=False) | by, sliding]))
    text = draw(queries(over=over, depth=draw(st.integers(0, 2)))).cql
    return draw(st.sampled_from(SENT)).format(text)


SENT = (
    "{0}",
    "{0}",
    "ISTREAM({0})",
    "DSTREAM({0})",
    "RSTREAM({0})",
    "{0} OUTPUT [RANGE 3]",
    "SELECT c0, COUNT(*) AS n FROM ISTREAM({0}) [PARTITION BY c0 ROWS 2] GROUP BY c0",
    "SELECT DISTINCT c0 FROM ({0}) AS x",
)


@many
@given(sent_queries(), all_inputs(), lanes_of, salts)
def test_lanes_add_up_for_random_queries(text: str, whole: Inputs, lanes: int, salt: int) -> None:
    try:
        plan = SESSION.bind(text).plan
    except QueryError:
        assume(False)  # INTERNAL, OUTPUT and windows are refused on some queries
    found = partitioning_of(plan)
    assume(found.is_partitioned)
    assert_adds_up(plan, found, whole, lanes, salt)


# Queries that have a key more often than not

SHAPES = """
SELECT x.{0} FROM s [{w}] x JOIN t [{w}] y ON x.k = y.k {set} SELECT {0} FROM b [{w}];
SELECT COALESCE(x.k, x.v) AS g, COUNT(*) AS n FROM s [{w}] x {side} JOIN t [{w}] y ON x.k = y.k
    GROUP BY COALESCE(x.k, x.v);
SELECT x.c, y.c AS d FROM s [{w}] x, s [{w}] y WHERE x.k {eq} y.v;
SELECT x.c, y.c AS d FROM s [{w}] x, {t} [{w}] y WHERE x.{0} {eq} y.{0};
SELECT v, COUNT(*) AS n FROM s [{w}] x WHERE {isnot} EXISTS (SELECT 1 FROM t [{w}] y
    WHERE y.k = x.k AND y.k = x.v) GROUP BY v;
SELECT v, m FROM (SELECT v, (SELECT COUNT(*) FROM t [{w}] y WHERE y.k = x.k AND y.k = x.v) AS m
    FROM s [{w}] x) AS z GROUP BY v, m;
SELECT x.{0}, COUNT(*) AS n, SUM(y.v) AS v FROM s [{w}] x, {t} [{w}] y WHERE x.{0} = y.{0} GROUP
    BY x.{0};
SELECT y.{0}, COUNT(*) AS n FROM s [{w}] x JOIN {t} [{w}] y ON x.k = y.k AND x.c = y.c GROUP BY
    y.{0};
SELECT x.{0}, y.{0} AS z FROM s [{w}] x {side} JOIN {t} [{w}] y ON x.{1} = y.{1};
SELECT x.{0}, COUNT(*) AS n FROM s [{w}] x {side} JOIN {t} [{w}] y ON x.{1} = y.{1} GROUP BY
    x.{0};
SELECT {0}, COUNT(*) AS n FROM s [{w}] x {side} JOIN {t} [{w}] y USING ({0}) GROUP BY {0};
SELECT DISTINCT x.{0}, y.{1} AS z FROM s [{w}] x, t [{w}] y WHERE x.k = y.k AND y.c = x.c;
SELECT x.{0} FROM s [{w}] x, t [{w}] y, b [{w}] z WHERE x.k = y.k AND y.{0} = z.{0} AND x.{1} =
    z.{1};
SELECT x.{0}, r.c AS d FROM s [{w}] x {side} JOIN r ON x.{1} = r.{1};
SELECT x.{0}, n.c AS d FROM s [{w}] x LEFT JOIN n ON x.{1} = n.{1};
SELECT x.{0}, COUNT(*) AS m FROM s [{w}] x, n, r WHERE x.{0} = n.{0} AND r.{1} = x.{1} GROUP BY
    x.{0};
SELECT {0}, COUNT(*) AS m FROM (SELECT x.{0}, n.v FROM s x, n WHERE x.{1} = n.{1}) [{w}] AS y
    GROUP BY {0};
SELECT {0}, v FROM s [{w}] x WHERE {1} {isnot} IN (SELECT {1} FROM {r});
SELECT {0}, v FROM s [{w}] x WHERE {isnot} EXISTS (SELECT 1 FROM {t} [{w}] y WHERE y.{1} = x.{1}
    AND y.c = x.c);
SELECT {0} FROM s [{w}] x WHERE v {isnot} IN (SELECT v FROM t [{w}] y WHERE y.{0} = x.{0});
SELECT {0}, v FROM s [{w}] x WHERE v >= (SELECT COUNT(*) FROM {t} [{w}] y WHERE y.{0} = x.{0});
SELECT {0}, (SELECT MAX(v) FROM t [{w}] y) AS m, COUNT(*) AS n FROM s [{w}] x GROUP BY {0};
SELECT {0}, {1} FROM s [{w}] {set} SELECT {0}, {1} FROM t [{w}];
SELECT {0} FROM s [{w}] {set} SELECT {0} FROM b [{w}];
SELECT {0}, SUM(v) AS v FROM (SELECT {0}, v FROM s [{w}] UNION ALL SELECT {0}, v FROM t [{w}]) AS
    x GROUP BY {0};
SELECT {0} FROM s [{w}] UNION ALL SELECT {0} FROM {r};
SELECT {0}, COUNT(*) AS n FROM s [PARTITION BY {0} ROWS 2] GROUP BY {0}, {1};
SELECT k % 2 AS p, COUNT(*) AS n FROM s [PARTITION BY k ROWS 2 SLIDE 2] GROUP BY k % 2, k;
SELECT x.{0}, y.v FROM s [{w}] x, s [{w}] y WHERE x.{0} = y.{0};
SELECT x.{0}, y.v FROM s [RANGE 3 INTERNAL] x, t [ROWS 2 INTERNAL] y WHERE x.{0} = y.{0};
SELECT x.{0}, y.v FROM s [RANGE 3 INTERNAL] x, t [RANGE 2 INTERNAL] y WHERE x.{0} = y.{0};
SELECT {0}, SUM(v) AS v FROM s [RANGE 3 INTERNAL] GROUP BY {0};
SELECT {0}, SUM(v) AS v FROM s [RANGE 3 SLIDE 2 INTERNAL] GROUP BY {0};
ISTREAM RESTORE (SELECT {0}, COUNT(*) AS n FROM s [RANGE 4 SLIDE 3] GROUP BY {0});
RSTREAM RESTORE (SELECT {0}, COUNT(*) AS n FROM s [RANGE 4 SLIDE 3] GROUP BY {0});
RSTREAM RESTORE (SELECT {0} FROM s [RANGE 2 SLIDE 3]);
RSTREAM (SELECT x.{0}, r.v FROM s [RANGE 4 SLIDE 3] x {side} JOIN r ON x.{1} = r.{1});
RSTREAM (SELECT {0} FROM s [RANGE 4 SLIDE 3] UNION ALL SELECT {0} FROM r);
RSTREAM (SELECT {0} FROM s [ROWS 4 SLIDE 3]);
"""


@st.composite
def shaped_queries(draw: st.DrawFn) -> str:
    """One of the shapes above, sent out or not."""
    by = st.builds(Window, st.just("ROWS"), st.integers(1, 3), st.none(), st.just(("k",)))
    slides = st.builds(Window, st.just("RANGE"), st.integers(1, 5), st.just(2))
    plain = st.builds(Window, st.just("RANGE"), st.integers(1, 5)) | st.just(Window("NOW"))
    window = draw(st.one_of(plain, plain, by, slides, st.just(Window("UNBOUNDED"))))
    shape = draw(st.sampled_from(SHAPES.split(";")[:-1]))
    columns = draw(st.permutations(["k", "v", "c"]))
    text = shape.format(
        *columns,
        w=window,
        t=draw(st.sampled_from(["t", "t", "b"])),
        side=draw(st.sampled_from(["", "LEFT", "RIGHT", "FULL"])),
        eq=draw(st.sampled_from(["=", "<=", "IS NOT DISTINCT FROM"])),
        isnot=draw(st.sampled_from(["", "NOT"])),
        r=draw(st.sampled_from(["r", "n", "t [RANGE 3]"])),
        set=draw(st.sampled_from(["UNION", "UNION ALL", "EXCEPT", "EXCEPT ALL", "INTERSECT",
                                  "INTERSECT ALL"])),
    )  # fmt: skip
    return draw(st.sampled_from(["{0}", "ISTREAM({0})", "RSTREAM({0})", "DSTREAM({0})"])).format(
        text
    )


@settings(many, max_examples=200)
@given(shaped_queries(), all_inputs(), lanes_of, salts)
def test_lanes_add_up_for_queries_with_keys(
    text: str, whole: Inputs, lanes: int, salt: int
) -> None:
    try:
        plan = SESSION.bind(text).plan
    except QueryError:
        assume(False)
    found = partitioning_of(plan)
    assume(found.is_partitioned)
    assert_adds_up(plan, found, whole, lanes, salt)


# Operators that CQL has no words for

S = stream("s", "ts BIGINT, k INT, v INT, c STRING", time="ts")
T = stream("t", "ts BIGINT, k INT, v INT, c STRING", time="ts")


def counted(query: QueryBuilder, *by: str) -> QueryBuilder:
    return query.aggregate(by=by, n="COUNT(*)")


WORDLESS = {
    "max-union": S.range(3).select("k", "v").max_union(T.range(4).select("k", "v")),
    "max-union of other columns": S.range(3)
    .select("k", "v")
    .max_union(T.range(4).select("v", "k")),
    "strict difference": S.range(3).select("k", "v").strict_difference(T.range(4).select("k", "v")),
    "difference": S.range(3).select("k").difference(T.range(4).select("k")).istream(),
    "intersection": S.range(3).select("k").intersection(T.range(4).select("k")).dstream(),
    "split": counted(S.range(3).split(2), "k").coalesce(),
    "group": counted(S.group_into("v", 3)[1].range(3), "k").istream(),
    "derived stream": counted(S.range(2).select("k", "v").dstream().rows(2, by="k"), "k"),
}


@pytest.mark.parametrize("query", WORDLESS.values(), ids=WORDLESS.keys())
@settings(many, max_examples=25)
@given(whole=all_inputs(), lanes=lanes_of, salt=salts)
def test_lanes_add_up_for_plans_without_text(
    query: QueryBuilder, whole: Inputs, lanes: int, salt: int
) -> None:
    found = partitioning_of(query.plan)
    assert found.is_partitioned, found.reason
    assert_adds_up(query.plan, found, whole, lanes, salt)
