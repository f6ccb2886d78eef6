"""The choice of an engine for a script: this process where that is enough, else Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.errors import QueryError, count
from penstock.files.folders import declared_folder, is_folder
from penstock.spark.sink_declarations import needs_spark

if TYPE_CHECKING:
    from penstock.spark.script import Script

SMALL_BYTES = 64 << 20
"""Files of no more bytes are read in this process: about so much Spark would read at once."""
SMALL_FILES = 1000
"""So many files, at the most."""


@dataclass(frozen=True)
class EngineOptions:
    """Options of `run` that speak for an engine.

    Attributes:
        is_finite: Whether it ends when all that is there has been read.
        needing_spark: The options that were given and need Spark, as they are written.
    """

    is_finite: bool
    needing_spark: tuple[str, ...] = ()


def reason_for_spark(script: Script, options: EngineOptions) -> str | None:
    """The reason for which a script cannot run in this process; None if it can."""
    if not options.is_finite:
        return "--trigger continuous goes on for ever"
    if options.needing_spark:
        return f"{options.needing_spark[0]} is given"
    written = [one for one in script.sinks if needs_spark(one)]
    if written:
        return f'sink "{written[0].name}" ({written[0].format}) is written by Spark'
    if script.replans:
        return "REPLAN needs commits"
    others = [one for one in script.sources() if not is_folder(one)]
    if others:
        one = others[0]
        return f'{one.kind} "{one.name}" ({one.format}) is read by Spark'
    return None


def said_choice(script: Script, options: EngineOptions) -> tuple[bool, str]:
    """The choice of this process, if it is enough, and a line that says why or why not.

    Raises:
        DataError: A path is not there.
    """
    reason = reason_for_spark(script, options)
    if reason is not None:
        return False, f"on Spark, because {reason}"
    folders = [declared_folder(one) for one in script.sources()]
    sizes = [one.size for folder in folders for one in folder.new_files(())]
    what = f"{count(len(sizes), 'file')}, {shown_size(sum(sizes))}"
    if len(sizes) > SMALL_FILES or sum(sizes) > SMALL_BYTES:
        return False, f"on Spark, because there is much to read: {what}"
    return True, f"in this process, because there is little to read: {what}"


def require_inline(script: Script, options: EngineOptions) -> None:
    """See that a script can run in this process.

    Raises:
        QueryError: It cannot.
    """
    reason = reason_for_spark(script, options)
    if reason is not None:
        msg = f"--engine inline cannot run this: {reason}"
        raise QueryError(msg, hint="Leave --engine inline out: then it runs on Spark.")


def shown_size(number: int) -> str:
    """A number of bytes for people.

    >>> shown_size(900), shown_size(265_771)
    ('900 bytes', '266 kB')
    """
    for one, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if number >= one:
            return f"{number / one:.3g} {name}"
    return count(number, "byte")
