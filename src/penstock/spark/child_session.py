"""A session of our own beside the user's: one SparkContext, and settings that nobody else sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.connectors.zoned_times import with_zone
from penstock.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

SESSION_SETTINGS: dict[str, str] = {
    "spark.sql.session.timeZone": "UTC",
    # The plan of a micro-batch is ours: one shuffle of known width. Re-planning only costs time.
    "spark.sql.adaptive.enabled": "false",
    # A checkpoint on a local disk needs no renaming through Hadoop, and no second checksum.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing."
        "FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    # Spark writes down again which files it has ever read, every 10 batches, and keeps that for 10
    # minutes. On a local disk nobody needs it for so long.
    "spark.sql.streaming.fileSource.log.compactInterval": "100",
    "spark.sql.streaming.fileSource.log.cleanupDelay": "60s",
    # Streams come and go under one checkpoint, so sources are known by name.
    "spark.sql.streaming.queryEvolution.enableSourceEvolution": "true",
    # A column that nobody reads may be what makes a row unreadable.
    "spark.sql.csv.parser.columnPruning.enabled": "false",
    # Python takes a whole task's rows at once anyway; batches of rows with long texts end by size.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000000",
}
"""The configuration of our session, unless the caller says otherwise."""

CONNECT_HINT = (
    "Run the program by spark-submit, or with SparkSession.builder.master(...) and without"
    " SPARK_REMOTE; rows of a Spark Connect session can be brought as files, or by insert."
)
"""Advice for who has a session of Spark Connect."""

_CONNECT = "pyspark.sql.connect."


def running_session() -> SparkSession | None:
    """The session that is active in this process, else its first one; None without Spark."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is None:
        return None
    # A context that has no session yet gets one: that sets nothing.
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def is_remote(one: object) -> bool:
    """A session or a DataFrame of Spark Connect."""
    return any(kind.__module__.startswith(_CONNECT) for kind in type(one).__mro__)


def usable_session(spark: object) -> SparkSession:
    """The session that a user gave, if it can run a pipeline.

    Raises:
        QueryError: It is none, it is one of Spark Connect, or it has been stopped.
    """
    from pyspark.sql import SparkSession

    if is_remote(spark):
        msg = (
            "spark is a session of Spark Connect, which has no SparkContext in this process; lanes"
            " are kept by jobs that Spark Connect cannot run"
        )
        raise QueryError(msg, hint=CONNECT_HINT)
    if not isinstance(spark, SparkSession):
        msg = f"spark is {spark!r}, but must be a session of Spark"
        raise QueryError(msg, hint="Write connect(spark=SparkSession.builder.getOrCreate()).")
    if spark.sparkContext._jsc is None or spark.sparkContext._jsc.sc().isStopped():
        msg = "the session has been stopped"
        raise QueryError(msg, hint="SparkSession.builder.getOrCreate() starts Spark again.")
    return spark


def child_session(
    spark: SparkSession, settings: Mapping[str, str] | None = None, *, is_new: bool = False
) -> SparkSession:
    """A session with the settings of another one, ours, and those of the caller.

    Args:
        spark: The other session; it stays as it is.
        settings: Spark's configuration, stronger than ours.
        is_new: Whether Spark was just started, with the settings that cannot be changed later.

    Raises:
        QueryError: A setting cannot be changed while Spark runs.
    """
    child = spark.newSession()
    own = child.conf.getAll
    for key, value in spark.conf.getAll.items():
        if own.get(key) != value:
            _set(child, key, value)
    for key, value in SESSION_SETTINGS.items():
        child.conf.set(key, value)
    fixed = [key for key, value in (settings or {}).items() if not _set(child, key, value)]
    context = spark.sparkContext.getConf()
    fixed = [key for key in fixed if context.get(key) != (settings or {})[key]]
    if fixed and not is_new:
        msg = f"Spark runs already, and cannot change {', '.join(fixed)} any more"
        raise QueryError(msg, hint="Give it to whoever starts Spark, or connect before Spark runs.")
    return child


def _set(session: SparkSession, key: str, value: str) -> bool:
    """Set what can be set while Spark runs; whether it could."""
    from pyspark.errors import AnalysisException

    try:
        session.conf.set(key, value)
    except AnalysisException:
        return False
    return True


def frame_of(session: SparkSession, table: pa.Table) -> DataFrame:
    """A table as a DataFrame of a session; another one that is active stays so."""
    # createDataFrame makes its session the active one, in Java for the thread, here for all.
    known: Any = type(session)
    in_java = known._get_j_spark_session_class(session._jvm)
    before, before_in_java = known._activeSession, in_java.getActiveSession()
    try:
        return session.createDataFrame(with_zone(table))
    finally:
        known._activeSession = before
        if before_in_java.isDefined():
            in_java.setActiveSession(before_in_java.get())
        else:
            in_java.clearActiveSession()
