"""The input of benchmarks: random rows in time order, and the feeds that bring them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.operators.block import Block, arriving
from penstock.operators.saved_tables import arrays_of
from penstock.runtime.lane import STEP_ROWS

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Values

SEED = 3
WINDOW = 10_000_000
"""Ten seconds, in microseconds: the window of the comparisons."""
LIVE = 200_000
"""Rows of all streams in ten seconds, once there are five times as many."""

Tables = Mapping[str, pa.Table]
"""Streams by name, each by time: `ts`, then its other columns."""

_TYPES = {"int64": "BIGINT", "double": "DOUBLE", "string": "STRING"}


@dataclass(frozen=True)
class Scale:
    """The number of rows, and how many of them ten seconds hold: a fifth, and at most LIVE."""

    rows: int

    @property
    def live(self) -> int:
        """Rows of all streams within ten seconds."""
        return max(min(LIVE, self.rows // 5), 10)

    @property
    def gap(self) -> int:
        """Microseconds from row to row, on average."""
        return WINDOW // self.live


@dataclass(frozen=True)
class BenchInputs:
    """Streams, and relations as changes with `_at` and `_sign` behind their columns."""

    streams: Tables
    relations: Tables = field(default_factory=dict)
    retroactive: bool = True

    @property
    def rows(self) -> int:
        """Rows of all streams."""
        return sum(len(table) for table in self.streams.values())

    def declarations(self) -> str:
        """The statements that declare them."""
        made = [
            f"CREATE STREAM {name} ({_columns(table)}, WATERMARK FOR ts AS ts) "
            "OPTIONS (time_unit 'us');"
            for name, table in self.streams.items()
        ]
        kind = "RELATION" if self.retroactive else "NONRETROACTIVE RELATION"
        for name, table in self.relations.items():
            made.append(f"CREATE {kind} {name} ({_columns(table.drop(['_at', '_sign']))});")
        return "\n".join(made)


def _columns(table: pa.Table) -> str:
    return ", ".join(f"{one.name} {_TYPES[str(one.type)]}" for one in table.schema)


@dataclass(frozen=True)
class LaneFeed:
    """The rows that a lane is fed at once."""

    blocks: dict[str, Block]
    watermarks: dict[str, int]


def instants(rows: int, gap: int, random: np.random.Generator) -> Ints:
    """Ascending instants, one in each stretch of `gap` microseconds."""
    return np.arange(rows, dtype=np.int64) * gap + random.integers(0, gap, rows)


def table_of(ts: Ints, **columns: Values) -> pa.Table:
    """The rows of a stream."""
    return pa.table({"ts": ts, **columns})


def dealt(table: pa.Table, names: tuple[str, ...], random: np.random.Generator) -> Tables:
    """The rows of a table, each given to one of several streams by chance."""
    owner = random.integers(0, len(names), len(table))
    return {name: table.filter(pa.array(owner == number)) for number, name in enumerate(names)}


def feeds(inputs: BenchInputs, block_rows: int = STEP_ROWS) -> list[LaneFeed]:
    """The input in time order, `block_rows` rows of all streams at a time."""
    streams = {name: _stream_block(table) for name, table in inputs.streams.items()}
    relations = {name: _relation_block(table) for name, table in inputs.relations.items()}
    times = np.sort(np.concatenate([block.ts for block in streams.values()]))
    cuts = [*times[block_rows::block_rows].tolist(), int(times[-1]) + 1]
    made = []
    start = BEGINNING
    for stop in dict.fromkeys(cuts):
        part = {name: _between(one, start, stop) for name, one in (streams | relations).items()}
        made.append(LaneFeed(part, dict.fromkeys(streams, stop)))
        start = stop
    return made


def _stream_block(table: pa.Table) -> Block:
    columns = tuple(arrays_of(table.combine_chunks()))
    return arriving(columns, columns[0].to_numpy())


def _relation_block(table: pa.Table) -> Block:
    *columns, at, sign = arrays_of(table.combine_chunks())
    return Block(tuple(columns), at.to_numpy(), np.full(len(at), INFINITY), sign.to_numpy())


def _between(block: Block, start: int, stop: int) -> Block:
    """The rows of a block, which stand by time, with start <= ts < stop."""
    first, last = np.searchsorted(block.ts, [start, stop]).tolist()
    columns = tuple(column.slice(first, last - first) for column in block.columns)
    sign = None if block.sign is None else block.sign[first:last]
    return Block(columns, block.ts[first:last], block.te[first:last], sign)
