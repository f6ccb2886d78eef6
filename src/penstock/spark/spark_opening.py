"""Opening a connection to a pipeline: Spark is started, the home is taken."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.connection.connection import Connection
from penstock.errors import QueryError
from penstock.spark.causes import cause_of
from penstock.spark.spark_engine import SparkEngine
from penstock.spark.spark_session import running_master, start_session
from penstock.store.layout import Home

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from pyspark.sql import SparkSession

_JAVA_CODE = "JAVA_GATEWAY_EXITED"
_JAVA_ENDED = "the Java process that runs Spark ended before it could be reached"


def open_pipeline(
    master: str,
    home: str | PathLike[str] | None,
    lanes: int | None,
    settings: Mapping[str, str] | None,
) -> Connection:
    """The connection that `penstock.connect` returns."""
    if lanes is not None and (not isinstance(lanes, int) or lanes < 1):
        msg = f"lanes is {lanes!r}, but must be a whole number above zero"
        raise QueryError(msg)
    spark = _spark(master, settings)
    path = Path(tempfile.mkdtemp(prefix="penstock-")) if home is None else Path(home)
    folder = Home(path)
    folder.open()
    try:
        return Connection(SparkEngine(spark, folder, lanes, is_temporary=home is None))
    except BaseException:
        folder.close()
        raise


def _spark(master: str, settings: Mapping[str, str] | None) -> SparkSession:
    running = running_master()
    if running is not None and running != master and not _are_local(running, master):
        msg = f'Spark runs in this process already, with the master "{running}", not "{master}"'
        hint = (
            "Stop it with SparkSession.getActiveSession().stop(), or connect from another process."
        )
        raise QueryError(msg, hint=hint)
    try:
        return start_session("penstock", master=master, settings=settings)
    except Exception as fault:
        reason = _JAVA_ENDED if _JAVA_CODE in str(fault) else cause_of(fault).text
        msg = f'Spark does not start with the master "{master}": {reason}'
        raise QueryError(msg, hint="./penstock doctor checks Java and Spark.") from fault


def _are_local(*masters: str) -> bool:
    """All are this machine: with how many cores is settled by who came first."""
    return all(one.startswith("local") for one in masters)
