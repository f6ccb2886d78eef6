"""Penstock: continuous queries over data streams, on Apache Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from penstock.algebra.patterns import Strategy
    from penstock.connection.connection import Connection

__version__ = "0.1.0"
__all__ = ["PenstockSource", "connect", "connect_inline"]


def __getattr__(name: str) -> object:
    """The data source for other Spark programs, which loads Spark."""
    if name == "PenstockSource":
        from penstock.spark.data_source import PenstockSource

        return PenstockSource
    msg = f"module 'penstock' has no attribute {name!r}"
    raise AttributeError(msg)


def connect(
    master: str | None = None,
    home: str | Path | None = None,
    lanes: int | None = None,
    *,
    spark: object = None,
    settings: Mapping[str, str] | None = None,
) -> Connection:
    """Open a connection to a pipeline on Spark: it runs queries, and their results are kept.

    Spark is started, unless it runs in this process already. Sessions that there are stay as they
    are: a connection has a session of its own, with the settings that it needs.

    Args:
        master: Spark's master URL. Without it, that of the Spark that runs here; else the one that
            spark-submit, PYSPARK_SUBMIT_ARGS, `spark-defaults.conf` in SPARK_CONF_DIR or MASTER
            name; else all cores of this machine.
        home: The folder of the pipeline, where a cluster is used one that all nodes see. What is
            there already goes on where it was. Without one, there is a new folder that is removed
            by `Connection.close`.
        lanes: How many lanes share the work of a query, if a key divides it. The result is the
            same for any number. Queries that the home has from before go on with so many, too.
            Without it, new ones have as many as Spark has cores, and others what they had.
        spark: The SparkSession whose Spark is used, and whose settings hold where Penstock needs no
            other; by default the active one. Spark Connect has none that can be used.
        settings: Spark's configuration, stronger than Penstock's own; while Spark runs, only what
            can be changed for a session.

    Raises:
        PenstockError: An option has no meaning, Spark cannot be used, the home is in use, or
            it is damaged.
    """
    # Commands that need no rows start faster without Arrow, Numba and Spark.
    from penstock.spark.spark_opening import open_pipeline

    return open_pipeline(master, home, lanes, settings, spark)


def connect_inline(
    *,
    lanes: int = 1,
    strategy: Strategy = "upa",
    partitions: int = 32,
    keep: int = 1_000_000,
    restore: str | Path | None = None,
) -> Connection:
    """Open a connection without Spark: streams, relations and queries run in this process.

    Args:
        lanes: How many lanes share the work of a query, if a key divides it. The result is the
            same for any number.
        strategy: How operators learn that rows have left a window: by their update patterns
            (`upa`), by looking through their state (`direct`), or by being told (`negative`).
        partitions: Into how many parts a calendar queue divides the time in which rows leave.
        keep: How many results of a query, and rows of a stream that were late, wait to be read;
            more are forgotten, oldest first, and counted.
        restore: A folder that `Connection.save` wrote: the connection goes on from there, with the
            options it had.

    Raises:
        PenstockError: An option has no meaning, or there is nothing to restore.
    """
    from penstock.connection.engines.local.local_opening import open_connection

    return open_connection(lanes, strategy, partitions, keep, restore)
