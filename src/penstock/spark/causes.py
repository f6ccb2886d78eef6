"""What went wrong in Spark, in a sentence rather than in pages of stack traces."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PYTHON = re.compile(
    r"^(?:[A-Za-z_][\w.]*\.)?([A-Z]\w*(?:Error|Exception|Failed|Refused|Interrupt)): (.+)$"
)
_JAVA = re.compile(r"^(?:Caused by: )?(?:[a-z][\w$]*\.)+([A-Z]\w*(?:Exception|Error)): (.+)$")
_FULL = "No space left on device"
_REFUSALS = ("KeeperRefused", "DataError", "QueryError", "UnknownName")
"""What trying again does not mend."""


@dataclass(frozen=True)
class Cause:
    """Why something failed, and whether trying again may help."""

    text: str
    may_pass: bool = True


def cause_of(fault: BaseException) -> Cause:
    """The innermost reason that a fault names; else its first line."""
    lines = [line.strip() for line in str(fault).splitlines()]
    python = [found for line in lines if (found := _PYTHON.match(line))]
    refusals = [found[2] for found in python if found[1] in _REFUSALS]
    if refusals:
        return Cause(refusals[-1], may_pass=False)
    if python:
        return Cause(f"{python[-1][1]}: {python[-1][2]}")
    if any(_FULL in line for line in lines):
        # Java does not say which; when it is ours, Python was faster.
        return Cause(f"the disk of the home, or that of Spark's own files, is full ({_FULL})")
    java = [found for line in lines if (found := _JAVA.match(line))]
    if java:
        return Cause(f"{java[-1][1]}: {java[-1][2]}")
    return Cause(lines[0] if lines else type(fault).__name__)
