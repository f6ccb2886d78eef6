"""Java's archive of loaded classes: with it, Spark starts with about half of the work.

`penstock.spark.probe` writes it if it is told to, for one Java and one installation of Spark. Java
looks whether it fits, and does without it otherwise.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from penstock.spark.jars import class_path
from penstock.state.loop_folder import folder

if TYPE_CHECKING:
    from pathlib import Path

WRITE = "PENSTOCK_WRITE_JAVA_ARCHIVE"
"""The variable by which a process is told to write the archive when its Java ends."""
_QUIET = "-Xlog:disable"
"""Java would warn of each class that it leaves out."""


def archive_of(java: Path, spark_home: Path) -> Path | None:
    """The place of the archive; None if there is no folder to keep it in.

    Args:
        java: The program.
        spark_home: The folder of Spark, with its jars.
    """
    cache = folder()
    if cache is None:
        return None
    jars = sorted((one.name, one.stat().st_size) for one in (spark_home / "jars").iterdir())
    program = java.resolve()
    # It is written by a start with few jars, and fits where others follow behind them.
    few = class_path(spark_home, with_all=False)
    about = (str(program), program.stat().st_mtime_ns, few, jars)
    return cache.parent / "java" / f"{hashlib.sha256(repr(about).encode()).hexdigest()[:16]}.jsa"


def archive_options(java: Path, spark_home: Path) -> str:
    """Options of Java that use the archive, or write it if this process is to; else none."""
    archive = archive_of(java, spark_home)
    if archive is None:
        return ""
    if os.environ.get(WRITE):
        archive.parent.mkdir(parents=True, exist_ok=True)
        return f'"-XX:ArchiveClassesAtExit={draft_of(archive)}" {_QUIET}'
    if archive.exists():
        return f'"-XX:SharedArchiveFile={archive}" -Xshare:auto {_QUIET}'
    return ""


def draft_of(archive: Path) -> Path:
    """The file that becomes the archive when it is complete."""
    return archive.with_suffix(f".{os.getpid()}.draft")
