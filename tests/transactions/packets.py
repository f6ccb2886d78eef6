"""Packets in sub-windows, and the oracle's answer over a window of them."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.values import row_key
from penstock.planner.merged_queries import MergedQuery, merged_query
from penstock.planner.optimizing import plans_to_run
from penstock.reference.arrow_rows import stream_table
from penstock.reference.compare import Tolerance
from penstock.reference.inputs import Inputs
from penstock.reference.oracle import Oracle
from penstock.session import Session
from penstock.store.sub_windows.piece import MemoryPiece
from penstock.store.sub_windows.sub_window import SubWindow

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.algebra.plan import Plan
    from penstock.reference.timeline import Row

LENGTH = 10
DECLARED = (
    "CREATE STREAM packets (ts BIGINT, source INT, size INT, cost DOUBLE, price DECIMAL(30, 2),"
    " name STRING, seen BOOLEAN, WATERMARK FOR ts AS ts);"
)


def bound(query: str) -> Plan:
    session = Session()
    session.execute(DECLARED)
    return session.bind(query).plan


def merged(query: str) -> MergedQuery:
    plan = plans_to_run({"q": bound(query)})["q"]
    found = merged_query(plan)
    assert isinstance(found, MergedQuery), found
    return found


SCHEMA = bound("SELECT * FROM packets").schema


class Packets:
    """Random rows, sub-window by sub-window; some of these are empty."""

    def __init__(self, seed: int, numbers: int) -> None:
        random = np.random.default_rng(seed)
        self.rows: list[list[Row]] = []
        for number in range(numbers):
            instants = np.sort(random.integers(number * LENGTH, (number + 1) * LENGTH, 6))
            several = [] if random.random() < 0.1 else [row(int(ts), random) for ts in instants]
            self.rows.append(several)

    def sub_window(self, number: int) -> SubWindow:
        rows = self.rows[number]
        if not rows:
            return SubWindow.numbered(number, LENGTH)
        table = stream_table(SCHEMA, rows)
        piece = MemoryPiece(table.append_column("_ts", table["ts"]))
        return SubWindow.numbered(number, LENGTH, [piece])

    def expected(self, plan: Plan, number: int) -> list[Row]:
        """The oracle's answer at the last instant of a sub-window."""
        rows = [one for several in self.rows for one in several]
        timeline = Oracle(Inputs(streams={"packets": rows})).timeline(plan)
        return sorted(timeline.at((number + 1) * LENGTH - 1).elements(), key=row_key)


def row(ts: int, random: np.random.Generator) -> Row:
    def maybe(value: object) -> object:
        return None if random.random() < 0.2 else value

    return (
        ts,
        maybe(int(random.integers(3))),
        maybe(int(random.integers(-3, 9))),
        maybe(float(random.choice([0.1, -2.5, 1e9, 3.0, -0.0]))),
        maybe(Decimal(int(random.integers(-200, 200))) / 100),
        maybe(str(random.choice(["a", "b", "c"]))),
        maybe(bool(random.integers(2))),
    )  # type: ignore[return-value]  # values of the columns


def same(expected: list[Row], found: pa.Table) -> bool:
    rows = sorted((tuple(one.values()) for one in found.to_pylist()), key=row_key)
    tolerance = Tolerance(absolute=1.0)
    return len(rows) == len(expected) and all(map(tolerance.same_rows, expected, rows))
