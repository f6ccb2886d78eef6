"""The cause of a failure in Spark, in a sentence rather than in pages of stack traces."""

from __future__ import annotations

import re
from dataclasses import dataclass

from penstock.spark.jars import SETTING
from penstock.spark.spark_session import java_end

_PYTHON = re.compile(
    r"^(?:[A-Za-z_][\w.]*\.)?([A-Z]\w*(?:Error|Exception|Failed|Refused|Interrupt)): (.+)$"
)
_JAVA = re.compile(r"^(?:Caused by: )?(?:[a-z][\w$]*\.)+([A-Z]\w*(?:Exception|Error)): (.+)$")
_FULL = "No space left on device"
_HEADER = re.compile(r"^Expected: (.*) but found: (.*)$")
_WIDTH = re.compile(r"^Header length: (\d+), schema size: (\d+)$")
_CSV_FILE = re.compile(r"^CSV file: (?:file:)?/*(/.*)$")
_CARRIER = "Py4JJavaError"
"""Passes on what Java says in the lines behind it."""
_IMPORTS = ("ModuleNotFoundError", "ImportError")
_REFUSALS = (
    *("LaneHostRefused", "DataError", "QueryError", "UnknownName"),
    *_IMPORTS,
)
"""What trying again does not mend."""


@dataclass(frozen=True)
class Cause:
    """Why something failed, and whether trying again may help."""

    text: str
    may_pass: bool = True


def cause_of(fault: BaseException) -> Cause:
    """The innermost reason that a fault names; else its first line.

    If the Java that Spark runs in is gone, that is the reason of all others.
    """
    ended = java_end(fault)
    if ended is not None:
        return Cause(ended, may_pass=False)
    lines = [line.strip() for line in str(fault).splitlines()]
    header = _other_header(lines)
    if header is not None:
        return Cause(header, may_pass=False)
    found_in_python = [found for line in lines if (found := _PYTHON.match(line))]
    python = [found for found in found_in_python if found[1] != _CARRIER]
    refusals = [found for found in python if found[1] in _REFUSALS]
    if refusals:
        text = refusals[-1][2]
        return Cause(_not_imported(text) if refusals[-1][1] in _IMPORTS else text, may_pass=False)
    if python:
        return Cause(f"{python[-1][1]}: {python[-1][2]}")
    if any(_FULL in line for line in lines):
        # Java does not say which; when it is ours, Python was faster.
        return Cause(f"the disk of the home, or that of Spark's own files, is full ({_FULL})")
    java = [found for line in lines if (found := _JAVA.match(line))]
    if java:
        return Cause(f"{java[-1][1]}: {java[-1][2]}{_without_jars(java[-1][1])}")
    return Cause(lines[0] if lines else type(fault).__name__)


def _without_jars(fault: str) -> str:
    """Advice for whoever misses a class, if Spark was started without some of its jars."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    is_missed = fault in ("NoClassDefFoundError", "ClassNotFoundException")
    if not is_missed or context is None or context.getConf().get(SETTING, "all") == "all":
        return ""
    return f" (Spark runs without jars that few need: {SETTING}=all brings them back)"


def _not_imported(text: str) -> str:
    """The sentence about workers that have not what this process has."""
    return (
        f"the Python of Spark's workers cannot import what they need ({text}); when Spark starts,"
        " PYSPARK_PYTHON has to name one that has Penstock"
    )


def _other_header(lines: list[str]) -> str | None:
    """The fault of the header of a CSV file, if that is what Spark complains of."""
    file = _first(_CSV_FILE, lines)
    names, width = _first(_HEADER, lines), _first(_WIDTH, lines)
    if file is None or (names is None and width is None):
        return None
    if names is not None:
        wrong = f'"{names[2]}" in its header where column "{names[1]}" is declared'
    elif width is not None:
        wrong = f"{width[1]} columns in its header where {width[2]} are declared"
    return (
        f"{file[1]} has {wrong}; columns are to be declared in the order of the file,"
        " and a file without a header needs OPTIONS (header 'false')"
    )


def _first(wanted: re.Pattern[str], lines: list[str]) -> re.Match[str] | None:
    return next((found for line in lines if (found := wanted.match(line))), None)
