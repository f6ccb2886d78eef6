"""Snapshot-equality of two results: the netted changes of both, compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.time import INFINITY
from penstock.operators.block import concatenated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.block import Block


def changes(table: pa.Table) -> pa.Table:
    """The rows that enter and leave at each instant, netted, of elements `_ts`, `_te`, `_sign`."""
    values = table.drop(["_ts", "_te", "_sign"])
    begin = values.append_column("at", table["_ts"]).append_column("change", table["_sign"])
    end = values.append_column("at", table["_te"])
    end = end.append_column("change", pc.negate(table["_sign"]))
    both = pa.concat_tables([begin, end.filter(pc.less(end["at"], INFINITY))])
    keys = [*values.column_names, "at"]
    netted = both.group_by(keys, use_threads=False).aggregate([("change", "sum")])
    netted = netted.filter(pc.not_equal(netted["change_sum"], 0))
    return netted.sort_by([(key, "ascending") for key in keys]).combine_chunks()


def of_blocks(blocks: Sequence[Block]) -> pa.Table:
    """The netted changes of a result of ours."""
    whole = concatenated(blocks)
    columns = {f"c{number}": column for number, column in enumerate(whole.columns)}
    sign = whole.signs.astype(np.int64)
    return changes(pa.table({**columns, "_ts": whole.ts, "_te": whole.te, "_sign": sign}))


def of_intervals(table: pa.Table) -> pa.Table:
    """The netted changes of a result whose last two columns are the interval of each row."""
    *columns, ts, te = [column.combine_chunks() for column in table.columns]
    named = {f"c{number}": column for number, column in enumerate(columns)}
    sign = np.ones(len(table), np.int64)
    return changes(pa.table({**named, "_ts": ts, "_te": te, "_sign": sign}))


def equal(one: pa.Table, other: pa.Table) -> bool:
    """Two results change in the same way at every instant."""
    return bool(one.equals(other.cast(one.schema)))
