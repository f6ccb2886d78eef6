"""What went wrong in Spark, in a sentence rather than in pages of stack traces."""

from __future__ import annotations

import re

_PYTHON = re.compile(
    r"^(?:[A-Za-z_][\w.]*\.)?([A-Z]\w*(?:Error|Exception|Failed|Interrupt)): (.+)$"
)
_JAVA = re.compile(r"^(?:Caused by: )?(?:[a-z][\w$]*\.)+([A-Z]\w*(?:Exception|Error)): (.+)$")
_OURS = ("KeeperFailed", "DataError", "InternalError", "QueryError")


def cause_of(fault: BaseException) -> str:
    """The innermost reason that a fault names; else its first line."""
    lines = [line.strip() for line in str(fault).splitlines()]
    python = [found for line in lines if (found := _PYTHON.match(line))]
    ours = [found[2] for found in python if found[1] in _OURS and "Traceback" not in found[2]]
    if ours:
        return ours[-1]
    if python:
        return f"{python[-1][1]}: {python[-1][2]}"
    java = [found for line in lines if (found := _JAVA.match(line))]
    if java:
        return f"{java[-1][1]}: {java[-1][2]}"
    return lines[0] if lines else type(fault).__name__
