"""The formats that statements may name: those that only read and write data.

Spark takes any data source that it finds, by name or by class. Some of them do what they are told:
through JDBC a statement reaches whatever a database can do, and one that runs Java code comes with
Spark. Whoever starts Spark may allow such formats; statements cannot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.connectors.connector_list import SOURCES
from penstock.errors import QueryError, did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALLOWED = "spark.penstock.formats"
"""The setting of Spark's that names further formats, with commas between them."""


def require_allowed(spark: SparkSession, what: str, format_: str | None) -> None:
    """Refuse formats that might do more than read or write data.

    Args:
        spark: Where the setting is.
        what: What is declared with it, such as `stream "cars"`.
        format_: The format; None is fine.

    Raises:
        QueryError: It is neither known nor allowed.
    """
    further = (spark.conf.get(ALLOWED, "") or "").split(",")
    allowed = {*SOURCES, *(one.strip().lower() for one in further)}
    if format_ is None or format_.lower() in allowed:
        return
    msg = f'{what}: the format "{format_}" is not allowed'
    how = f"Whoever starts Spark can allow it: --set {ALLOWED}={format_}."
    raise QueryError(msg, hint=did_you_mean(format_, SOURCES, otherwise=how))
