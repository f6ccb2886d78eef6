"""The jars of Spark that a start loads: all of them, or those that local pipelines need.

Java reads the table of contents of each jar that it looks into, and Spark's searches for services
look into all. What is left out has a third of their entries.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from penstock.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SETTING = "spark.penstock.jars"
"""The setting that chooses them: `all`, or `few`, where that is enough."""
CLASS_PATH = "PENSTOCK_CLASS_PATH"
"""The variable in which `jdk/bin/java` finds the jars that it is to load in place of all."""

_LEFT_OUT = {
    "other masters": ("kubernetes-", "spark-kubernetes", "spark-yarn", "vertx-", "volcano-"),
    "Hive and its database": (
        *("hive-beeline", "hive-cli", "hive-common", "hive-exec", "hive-jdbc", "hive-metastore"),
        *("hive-serde", "hive-service", "hive-shims", "spark-hive", "datanucleus-", "derby"),
        *("libthrift", "libfb303", "javax.jdo", "jdo-api", "HikariCP", "antlr-runtime", "ST4"),
    ),
    "Spark Connect, declared pipelines, the shell": (
        *("spark-connect", "spark-pipelines", "spark-repl", "scala-compiler", "jline"),
    ),
    "machine learning and graphs": (
        *("spark-mllib", "spark-graphx", "breeze", "spire", "cats-kernel", "algebra_"),
        *("JTransforms", "JLargeArrays", "arpack", "lapack", "blas-"),
    ),
    "the pages of Spark's UI, and ZooKeeper": ("jersey-", "hk2-", "curator-", "zookeeper"),
}
"""Beginnings of the names of jars, by who needs them."""
_HARMLESS = re.compile(
    r"spark\.(app\.name|master|(driver|executor)\.(memory|cores)|default\.parallelism|local\.dir"
    r"|sql\.shuffle\.partitions|sql\.session\.timeZone|penstock\.(jars|reading)|locality\.wait.*)"
)
"""Settings of a user that name no other code; with any other one all jars are there."""
_GIVEN_BY = ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_CLASSPATH", "SPARK_DIST_CLASSPATH")
"""Variables by which the surroundings may name other code."""
_LONGEST = 100_000
"""Bytes of a variable, at the most: Linux takes 128 kB. With longer paths all jars are loaded."""


def class_path(spark_home: Path, *, with_all: bool) -> str:
    """The jars that Java is to load, in an order that does not depend on the disk.

    Those that few starts need stand behind the others, so that an archive of classes that was
    written without them fits with them, too.
    """
    names = sorted(one.name for one in (spark_home / "jars").glob("*.jar"))
    left_out = tuple(start for starts in _LEFT_OUT.values() for start in starts)
    few = [one for one in names if not one.startswith(left_out)]
    more = [one for one in names if one.startswith(left_out)] if with_all else []
    path = os.pathsep.join(str(spark_home / "jars" / one) for one in (*few, *more))
    return path if len(os.fsencode(path)) < _LONGEST else ""


def needs_all(
    master: str, settings: Mapping[str, str], environment: Mapping[str, str], spark_home: Path
) -> bool:
    """A start that loads all jars: nobody asked for few, or something may need the others.

    Args:
        master: The master that Spark is started with.
        settings: Spark's configuration, as a program or an option gives it.
        environment: The variables of the process.
        spark_home: The folder of Spark, which may have a configuration of its own.

    Raises:
        QueryError: The setting has another value.
    """
    asked = settings.get(SETTING, "all")
    if asked not in ("all", "few"):
        msg = f"{SETTING} is {asked!r}, but must be 'all' or 'few'"
        raise QueryError(msg, hint="all is the default of connect(), few that of penstock run.")
    is_plain = all(_HARMLESS.fullmatch(one) for one in settings)
    is_local = re.fullmatch(r"local(\[.*\])?", master) is not None
    is_alone = not any(environment.get(one) for one in _GIVEN_BY)
    is_alone = is_alone and not (spark_home / "conf").exists()
    return asked == "all" or not (is_plain and is_local and is_alone)
