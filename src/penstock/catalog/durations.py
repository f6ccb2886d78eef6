"""Lengths of time of the clock on the wall, as options are written: '30 seconds', '5 minutes'."""

from __future__ import annotations

import re

from penstock.errors import QueryError

_UNITS = {"millisecond": 1e-3, "second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0}
_SHORT = {"ms": "millisecond", "s": "second"}


def seconds_of(option: str, text: str) -> float:
    """The length of time that an option gives.

    >>> seconds_of("reload", "5 minutes")
    300.0
    >>> seconds_of("lane_budget", "200 ms")
    0.2

    Raises:
        QueryError: The text is no length of time.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *([a-z]+)", text.strip().lower())
    unit = None if found is None else _SHORT.get(found[2], found[2].removesuffix("s"))
    if found is None or unit not in _UNITS:
        msg = f"{option} '{text}' is no length of time"
        raise QueryError(msg, hint=f"Write {option} '30 seconds', or minutes, hours, days.")
    return float(found[1]) * _UNITS[unit]
