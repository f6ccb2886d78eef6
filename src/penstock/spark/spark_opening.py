"""Opening a connection to a pipeline: Spark is started, the home is taken."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.errors import PenstockError, QueryError
from penstock.spark.causes import cause_of
from penstock.spark.child_session import (
    CONNECT_HINT,
    child_session,
    running_session,
    usable_session,
)
from penstock.spark.given_settings import names_remote
from penstock.spark.spark_session import start_session

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from pyspark.sql import SparkSession

    from penstock.connection.connection import Connection

_JAVA_CODE = "JAVA_GATEWAY_EXITED"
_JAVA_ENDED = "the Java process that runs Spark ended before it could be reached"


def open_pipeline(
    master: str | None,
    home: str | PathLike[str] | None,
    lanes: int | None,
    settings: Mapping[str, str] | None,
    given: object,
) -> Connection:
    """The connection that `penstock.connect` returns."""
    if lanes is not None and (not isinstance(lanes, int) or lanes < 1):
        msg = f"lanes is {lanes!r}, but must be a whole number above zero"
        raise QueryError(msg)
    if given is None:
        spark = _spark(master, settings)
        users = running_session() or spark
    else:
        users = usable_session(given)
        spark = _beside(users, master, settings)
    # Only now, as others may load them while Java starts.
    from penstock.connection.connection import Connection
    from penstock.spark.spark_engine import SparkEngine
    from penstock.store.layout import Home

    path = Path(tempfile.mkdtemp(prefix="penstock-")) if home is None else Path(home)
    folder = Home(path)
    folder.open()
    try:
        return Connection(SparkEngine(spark, users, folder, lanes, is_temporary=home is None))
    except BaseException:
        folder.close()
        raise


def _beside(
    given: SparkSession, master: str | None, settings: Mapping[str, str] | None
) -> SparkSession:
    """A session of our own beside the one that the user gave."""
    if master is not None:
        msg = f'both spark and master "{master}" are given, but a session has its master'
        raise QueryError(msg, hint="Leave one of them out.")
    return child_session(given, settings)


def _spark(master: str | None, settings: Mapping[str, str] | None) -> SparkSession:
    """A session of our own, of the Spark that runs here, or of one that is started."""
    if names_remote(os.environ):
        msg = (
            "SPARK_REMOTE or SPARK_CONNECT_MODE_ENABLED is set, so sessions are those of Spark"
            " Connect; lanes are kept by jobs that it cannot run"
        )
        raise QueryError(msg, hint=CONNECT_HINT)
    session = running_session()
    if session is not None:
        _require_master(str(session.sparkContext.master), master)
    try:
        return start_session("penstock", master=master, settings=settings)
    except PenstockError:
        raise
    except Exception as fault:
        reason = _JAVA_ENDED if _JAVA_CODE in str(fault) else cause_of(fault).text
        where = "" if master is None else f' with the master "{master}"'
        msg = f"Spark does not start{where}: {reason}"
        raise QueryError(msg, hint="./penstock doctor checks Java and Spark.") from fault


def _require_master(running: str, master: str | None) -> None:
    """See that the Spark that runs has the master that is asked for, if one is.

    Local ones are all this machine: with how many cores is settled by who came first.
    """
    if master in (None, running) or (running.startswith("local") and master.startswith("local")):
        return
    msg = f'Spark runs in this process already, with the master "{running}", not "{master}"'
    hint = "Stop it with SparkSession.getActiveSession().stop(), or connect from another process."
    raise QueryError(msg, hint=hint)
