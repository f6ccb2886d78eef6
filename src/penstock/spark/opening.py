"""How a connection to a pipeline is opened: Spark is started, the home is taken."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.errors import QueryError
from penstock.home.layout import Home
from penstock.spark.causes import cause_of
from penstock.spark.connection import Connection
from penstock.spark.session import start_session

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from pyspark.sql import SparkSession


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
        return Connection(spark, folder, lanes, is_temporary=home is None)
    except BaseException:
        folder.close()
        raise


def _spark(master: str, settings: Mapping[str, str] | None) -> SparkSession:
    try:
        return start_session("penstock", master=master, settings=settings)
    except Exception as fault:
        msg = f'Spark does not start with the master "{master}": {cause_of(fault).text}'
        raise QueryError(msg, hint="./penstock doctor checks Java and Spark.") from fault
