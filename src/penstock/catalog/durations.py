"""Lengths of time of the clock on the wall, as options are written: '30 seconds', '5 minutes'."""

from __future__ import annotations

import re

from penstock.errors import QueryError

_UNITS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0}


def seconds_of(option: str, text: str) -> float:
    """The length of time that an option gives.

    >>> seconds_of("reload", "5 minutes")
    300.0

    Raises:
        QueryError: The text is no length of time.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *(second|minute|hour|day)s?", text.strip().lower())
    if found is None:
        msg = f"{option} '{text}' is no length of time"
        raise QueryError(msg, hint=f"Write {option} '30 seconds', or minutes, hours, days.")
    return float(found[1]) * _UNITS[found[2]]
