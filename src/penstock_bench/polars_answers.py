"""The headline queries in Polars: lazy frames over all rows at once, in one thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import polars as pl

from penstock_bench.data import WINDOW
from penstock_bench.formulation import Answer, Formulation

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_bench.data import Tables

Engine = Literal["in-memory", "streaming"]

BUCKET = pl.col("ts") // WINDOW
PERIOD = f"{WINDOW}i"
SHIFT = 40
"""Bits for the instant, where key and instant are packed into one integer."""


def asked(
    query: Callable[[dict[str, pl.LazyFrame]], pl.LazyFrame], engine: Engine = "in-memory"
) -> Callable[[Tables], Answer]:
    """The preparation of a query over frames."""

    def prepare(tables: Tables) -> Answer:
        frames = {name: _frame(tables, name).lazy() for name in tables}
        return lambda: query(frames).collect(engine=engine).to_arrow()

    return prepare


def _frame(tables: Tables, name: str) -> pl.DataFrame:
    frame = pl.from_arrow(tables[name])
    assert isinstance(frame, pl.DataFrame)
    return frame


def _pairs(joined: pl.LazyFrame) -> pl.LazyFrame:
    """Of pairs of rows with the same key, those that are in the windows together."""
    near = (pl.col("ts") - pl.col("ts_right")).abs() < WINDOW
    return joined.filter(near).select(
        "k",
        "v",
        "v_right",
        pl.max_horizontal("ts", "ts_right").alias("begin"),
        (pl.min_horizontal("ts", "ts_right") + WINDOW).alias("te"),
    )


def join_by_key(frames: dict[str, pl.LazyFrame]) -> pl.LazyFrame:
    """All pairs of a key, then the filter."""
    return _pairs(frames["l"].join(frames["r"], on="k"))


def join_by_bucket(frames: dict[str, pl.LazyFrame]) -> pl.LazyFrame:
    """Pairs of a key in the same or neighbouring stretches of ten seconds, then the filter."""
    home = frames["l"].with_columns(bucket=BUCKET)
    near = pl.concat([frames["r"].with_columns(bucket=BUCKET + step) for step in (-1, 0, 1)])
    return _pairs(home.join(near, on=["k", "bucket"]))


def _events(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Arrivals and expiries by time; `v` is NULL where a row leaves."""
    enter = rows.select("k", t="ts", v="v", amount="v", one=pl.lit(1, pl.Int64))
    leave = rows.select(
        "k",
        t=pl.col("ts") + WINDOW,
        v=pl.lit(None, pl.Int64),
        amount=-pl.col("v"),
        one=pl.lit(-1, pl.Int64),
    )
    return enter.merge_sorted(leave, "t")


def _running() -> dict[str, pl.Expr]:
    return {
        "n": pl.col("one").cum_sum(),
        "total": pl.col("amount").cum_sum(),
        "te": pl.col("t").shift(-1),
    }


_TOP = pl.col("v").rolling_max_by("t", PERIOD, closed="right")


def _states(frame: pl.LazyFrame) -> pl.LazyFrame:
    """The content at the end of each instant, where there are rows."""
    holds = (pl.col("n") > 0) & (pl.col("te") > pl.col("t"))
    return frame.filter(holds).select("k", "n", "total", "top", "t", "te")


def aggregate_by_group(frames: dict[str, pl.LazyFrame]) -> pl.LazyFrame:
    """Each group's events as lists, running sums and a rolling maximum over them."""
    lists = _events(frames["s"]).group_by("k").agg("t", top=_TOP, **_running())
    return _states(lists.explode("t", "n", "total", "te", "top"))


def aggregate_sorted(frames: dict[str, pl.LazyFrame]) -> pl.LazyFrame:
    """Running sums over all groups one after the other: each group's end in zero."""
    by_key = _events(frames["s"]).sort("k", maintain_order=True)
    return _states(by_key.with_columns(top=_TOP.over("k"), **_running()))


def aggregate_at_arrivals(frames: dict[str, pl.LazyFrame]) -> pl.LazyFrame:
    """The content when a row arrives."""
    by_key = frames["s"].sort("k", maintain_order=True)
    value = pl.col("v")
    return by_key.rolling("ts", period=PERIOD, group_by="k").agg(
        n=value.count(), total=value.sum(), top=value.max()
    )


def distinct_islands(frames: dict[str, pl.LazyFrame]) -> pl.LazyFrame:
    """Rows by key and time, cut where the key changes or nothing came for ten seconds."""
    key, ts = pl.col("k"), pl.col("ts")
    new = (key != key.shift(1)) | (ts - ts.shift(1) >= WINDOW)
    first = new.fill_null(True)
    last = first.shift(-1).fill_null(True)
    # Both filters keep one row of each island, in the same order.
    return (
        frames["s"]
        .sort("k", maintain_order=True)
        .select(key.filter(first), ts.filter(first), (ts.filter(last) + WINDOW).alias("te"))
    )


def distinct_packed(frames: dict[str, pl.LazyFrame]) -> pl.LazyFrame:
    """The same with key and instant in one integer, which sorts several times faster."""
    word = pl.col("word")
    first = (word.diff() >= WINDOW).fill_null(True)
    last = first.shift(-1).fill_null(True)
    instant = (1 << SHIFT) - 1
    packed = frames["s"].select(word=pl.col("k") * (1 << SHIFT) + pl.col("ts")).sort("word")
    begin, end = word.filter(first), word.filter(last)
    return packed.select(k=begin // (1 << SHIFT), ts=begin & instant, te=(end & instant) + WINDOW)


JOIN = (
    Formulation("Polars", "join on key, filter by time", asked(join_by_key)),
    Formulation("Polars", "join on key and time bucket", asked(join_by_bucket, "streaming")),
)
AGGREGATE = (
    Formulation("Polars", "running sums by group", asked(aggregate_by_group)),
    Formulation("Polars", "running sums over sorted groups", asked(aggregate_sorted)),
    Formulation(
        "Polars",
        "rolling at arrivals",
        asked(aggregate_at_arrivals),
        easier="no rows for expiries",
        complete=False,
    ),
)
DISTINCT = (
    Formulation("Polars", "islands by neighbours", asked(distinct_islands)),
    Formulation(
        "Polars",
        "islands in packed integers",
        asked(distinct_packed),
        easier=f"relies on keys below 2^{63 - SHIFT} and instants below 2^{SHIFT}",
    ),
)
