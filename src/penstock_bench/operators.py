"""One case for each operator of the algebra: a small query around it, and its input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import BEGINNING
from penstock.builder import QueryBuilder
from penstock_bench.data import SEED, BenchInputs, Scale, dealt, feeds, instants, table_of
from penstock_bench.driving import Workload, bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.plan import Plan
    from penstock.state.arrays import Ints

TEN = "[RANGE 10 SECONDS]"
CHANGES_PER_ROW = 0.01
"""How many rows of a relation change for each row of the stream."""


@dataclass(frozen=True)
class OperatorCase:
    """An operator in a query; `query` is CQL with {live}, or makes the plan from its parts."""

    name: str
    query: str | Callable[[PlanParts], QueryBuilder]
    inputs: Callable[[Scale], BenchInputs]

    def workload(self, rows: int) -> Workload:
        """The case over about `rows` rows, ready to run."""
        scale = Scale(rows)
        inputs = self.inputs(scale)
        return Workload(self._plan(inputs, scale), feeds(inputs), inputs.rows)

    def _plan(self, inputs: BenchInputs, scale: Scale) -> Plan:
        if callable(self.query):
            return self.query(PlanParts(inputs)).plan
        # Windows that hold few rows are given in gaps between rows: {g4} is four of them.
        lengths = {f"g{n}": f"{n * scale.gap} MICROSECONDS" for n in (4, 100)}
        return bound(inputs, self.query.format(live=scale.live, **lengths))


@dataclass(frozen=True)
class PlanParts:
    """The material of plans that CQL has no words for."""

    inputs: BenchInputs

    def __call__(self, query: str) -> QueryBuilder:
        """A part that CQL has words for."""
        return QueryBuilder(bound(self.inputs, query))


def one_stream(scale: Scale) -> BenchInputs:
    """A stream `s` with a key, a number, a double, and a group of 200 rows in ten seconds."""
    random = np.random.default_rng(SEED)
    return BenchInputs({"s": _rows(scale, random)})


def two_streams(scale: Scale) -> BenchInputs:
    """Streams `l` and `r`; a row finds about one partner with its key."""
    random = np.random.default_rng(SEED)
    return BenchInputs(dealt(_rows(scale, random).select(["ts", "k", "v"]), ("l", "r"), random))


def with_relation(scale: Scale) -> BenchInputs:
    """A stream and a relation with one row for each key, some of which change as time goes on."""
    return _with_relation(scale, retroactive=True)


def with_nrr(scale: Scale) -> BenchInputs:
    """The same, but the relation is not retroactive."""
    return _with_relation(scale, retroactive=False)


def _with_relation(scale: Scale, *, retroactive: bool) -> BenchInputs:
    random = np.random.default_rng(SEED)
    rows = _rows(scale, random).select(["ts", "k", "v"])
    relation = _changes(scale.live // 2, np.asarray(rows["ts"]), random)
    return BenchInputs({"s": rows}, {"p": relation}, retroactive)


def _rows(scale: Scale, random: np.random.Generator) -> pa.Table:
    rows = scale.rows
    return table_of(
        instants(rows, scale.gap, random),
        k=random.integers(0, scale.live // 2, rows),
        v=random.integers(0, 1000, rows),
        x=random.normal(size=rows),
        grp=random.integers(0, max(scale.live // 200, 2), rows),
    )


def _changes(keys: int, ts: Ints, random: np.random.Generator) -> pa.Table:
    """Each key's price before all input, and new prices at random instants."""
    count = int(len(ts) * CHANGES_PER_ROW)
    at = np.sort(random.choice(ts, count, replace=False))
    changed = random.integers(0, keys, count)
    start = random.integers(0, 1000, keys)
    now = start.copy()
    steps = np.empty((count, 2), np.int64)
    for step, key, price in zip(steps, changed, random.integers(0, 1000, count), strict=True):
        step[:] = now[key], price
        now[key] = price
    signs = np.concatenate([np.ones(keys, np.int8), np.tile(np.array([-1, 1], np.int8), count)])
    return pa.table(
        {
            "k": np.concatenate([np.arange(keys), np.repeat(changed, 2)]),
            "price": np.concatenate([start, steps.ravel()]),
            "_at": np.concatenate([np.full(keys, BEGINNING), np.repeat(at, 2)]),
            "_sign": signs,
        }
    )


def _set_operation(name: str) -> Callable[[PlanParts], QueryBuilder]:
    def made(parts: PlanParts) -> QueryBuilder:
        left, right = parts(f"SELECT k FROM l {TEN}"), parts(f"SELECT k FROM r {TEN}")
        query: QueryBuilder = getattr(left, name)(right)
        return query

    return made


AGGREGATES = {
    "COUNT": "COUNT(*)",
    "SUM": "SUM(v)",
    "SUM of doubles": "SUM(x)",
    "AVG": "AVG(v)",
    "MIN": "MIN(v)",
    "MAX": "MAX(v)",
    "VAR_SAMP": "VAR_SAMP(x)",
    "STDDEV_SAMP": "STDDEV_SAMP(x)",
    "VAR_POP": "VAR_POP(x)",
    "STDDEV_POP": "STDDEV_POP(x)",
    "MEDIAN": "MEDIAN(v)",
    "QUANTILE": "QUANTILE(v, 0.9)",
    "COUNT_IF": "COUNT_IF(v > 500)",
    "BOOL_AND": "BOOL_AND(v > 10)",
    "BOOL_OR": "BOOL_OR(v > 990)",
    "COUNT DISTINCT": "COUNT(DISTINCT v)",
}
"""Each aggregate of the language, and how it is called here."""

WINDOWS = {
    "RANGE": "RANGE 10 SECONDS",
    "RANGE SLIDE": "RANGE 10 SECONDS SLIDE 1 SECOND",
    "TUMBLE": "TUMBLE 10 SECONDS",
    "HOP": "HOP 10 SECONDS BY 5 SECONDS",
    "FIXED": "FIXED 10 SECONDS",
    "NOW": "NOW",
    "UNBOUNDED": "UNBOUNDED",
    "SINCE": "SINCE 5000000",
    "BETWEEN": "BETWEEN 5000000 AND 20000000",
    "ROWS": "ROWS {live}",
    "ROWS SLIDE": "ROWS {live} SLIDE 1000",
    "PARTITION BY ROWS": "PARTITION BY grp ROWS 200",
    "PARTITION BY ROWS SLIDE": "PARTITION BY grp ROWS 200 SLIDE 20",
}
"""Each window of the language, as written."""

JOINED = f"FROM l {TEN} JOIN r {TEN} ON l.k = r.k"
OUTER = f"SELECT l.k, l.v, r.v AS w FROM l {TEN} {{}} JOIN r {TEN} ON l.k = r.k"
PARTNER = f"EXISTS (SELECT r.k FROM r {TEN} WHERE r.k = l.k)"
GROUPED = f"SELECT grp, {{}} AS a FROM s {TEN} GROUP BY grp"
PRICED = f"SELECT s.k, s.v, p.price FROM s {TEN} JOIN p ON s.k = p.k"


ROW_CASES = (
    OperatorCase("filter", f"SELECT ts, k, v FROM s {TEN} WHERE v < 500", one_stream),
    OperatorCase("map", f"SELECT k, v * 2 + 1 AS w FROM s {TEN}", one_stream),
    *(
        OperatorCase(f"window {name}", f"SELECT k, v FROM s [{text}]", one_stream)
        for name, text in WINDOWS.items()
    ),
    OperatorCase(
        "UNION ALL", f"SELECT k FROM l {TEN} UNION ALL SELECT k FROM r {TEN}", two_streams,
    ),
    OperatorCase(
        "group into 4", lambda parts: parts("SELECT k, v FROM s").group_into("k % 4", 4)[0],
        one_stream,
    ),
)  # fmt: skip
JOIN_CASES = (
    OperatorCase("equi-join", f"SELECT l.k, l.v, r.v AS w {JOINED}", two_streams),
    OperatorCase(
        "theta-join",
        "SELECT l.v, r.v AS w FROM l [RANGE {g100}] JOIN r [RANGE {g100}] "
        "ON l.v < r.v + 10 AND r.v < l.v + 10",
        two_streams,
    ),
    OperatorCase(
        "product", "SELECT l.v, r.v AS w FROM l [RANGE {g4}], r [RANGE {g4}]", two_streams,
    ),
    OperatorCase("semi-join", f"SELECT l.k, l.v FROM l {TEN} WHERE {PARTNER}", two_streams),
    OperatorCase("anti-join", f"SELECT l.k, l.v FROM l {TEN} WHERE NOT {PARTNER}", two_streams),
    OperatorCase("LEFT JOIN", OUTER.format("LEFT"), two_streams),
    OperatorCase("FULL JOIN", OUTER.format("FULL"), two_streams),
)  # fmt: skip
SET_CASES = (
    OperatorCase("DISTINCT", f"SELECT DISTINCT k FROM s {TEN}", one_stream),
    OperatorCase("EXCEPT ALL", _set_operation("difference"), two_streams),
    OperatorCase("INTERSECT ALL", _set_operation("intersection"), two_streams),
    OperatorCase("max-union", _set_operation("max_union"), two_streams),
    OperatorCase("strict difference", _set_operation("strict_difference"), two_streams),
)  # fmt: skip
AGGREGATE_CASES = (
    *(
        OperatorCase(f"GROUP BY {name}", GROUPED.format(text), one_stream)
        for name, text in AGGREGATES.items()
    ),
    *(
        OperatorCase(name, f"SELECT {text} AS a FROM s {TEN}", one_stream)
        for name, text in AGGREGATES.items()
    ),
)  # fmt: skip
OUTPUT_CASES = (
    OperatorCase(
        "split", lambda parts: parts(f"SELECT k FROM s {TEN}").split(5_000_000), one_stream,
    ),
    OperatorCase(
        "coalesce", lambda parts: parts(f"SELECT k FROM s {TEN}").coalesce(), one_stream,
    ),
    OperatorCase("NRR read", PRICED, with_nrr),
    OperatorCase("relation join", PRICED, with_relation),
    OperatorCase("ISTREAM", f"ISTREAM(SELECT k, v FROM s {TEN})", one_stream),
    OperatorCase("DSTREAM", f"DSTREAM(SELECT k, v FROM s {TEN})", one_stream),
    OperatorCase(
        "RSTREAM periodic",
        "RSTREAM(SELECT k, v FROM s [RANGE 10 SECONDS SLIDE 5 SECONDS])",
        one_stream,
    ),
    OperatorCase(
        "RSTREAM RESTORE",
        "RSTREAM RESTORE(SELECT k, v FROM s [RANGE 10 SECONDS SLIDE 5 SECONDS])",
        one_stream,
    ),
    OperatorCase("OUTPUT", f"SELECT k, v FROM s {TEN} OUTPUT [RANGE 20 SECONDS]", one_stream),
    OperatorCase("EMIT FINAL", GROUPED.format("MAX(v)") + " EMIT FINAL", one_stream),
)  # fmt: skip
CASES = {
    case.name: case
    for case in (*ROW_CASES, *JOIN_CASES, *SET_CASES, *AGGREGATE_CASES, *OUTPUT_CASES)
}
"""All cases by name, in the order in which they are shown."""
