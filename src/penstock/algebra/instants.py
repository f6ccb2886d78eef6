"""Instants as people write them on a command line and in stream tests."""

from __future__ import annotations

import re

from penstock.algebra.time import TimeUnit
from penstock.algebra.values import parse_timestamp
from penstock.errors import DataError

TIME_OF_DAY = re.compile(r"\d\d:\d\d(:\d\d(\.\d+)?)?")


def read_instant(text: str, unit: TimeUnit | None, day: str | None = None) -> int:
    """The instant behind an `@`: a whole number, or a date and time; None takes either.

    >>> read_instant("00:01", TimeUnit.TIMESTAMP, day="1970-01-01")
    60000000
    """
    numeric = re.fullmatch(r"-?\d+", text) is not None
    if unit is not None and numeric == (unit is TimeUnit.TIMESTAMP):
        wanted = "a date and time" if numeric else "a whole number"
        msg = f"the instants of this query are not written like @{text}, expected {wanted}"
        raise DataError(msg)
    if numeric:
        return int(text)
    if TIME_OF_DAY.fullmatch(text):
        if day is None:
            msg = f"@{text} does not say on which day"
            raise DataError(msg, hint="Write the date too, or a line such as: day 2024-01-31")
        text = f"{day} {text}"
    try:
        return parse_timestamp(text)
    except ValueError as fault:
        msg = f"there is no such date and time: {text}"
        raise DataError(msg) from fault
