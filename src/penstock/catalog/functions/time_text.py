"""Dates and timestamps in text, in the forms that Spark's CAST reads, and a few more.

`2024`, `2024-3`, `2024-03-01`, `2024-03-01 7:30`, `2024-03-01T07:30:15.25+02:00`, `... Z`. The
year has four digits. Without a zone it is UTC; zones by the name of a place are not read.
"""

from __future__ import annotations

import re
from datetime import date

from penstock.catalog.functions.widening import DAY_MICROS

_DATE = r"(?P<year>\d{4})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})%s)?)?"
_ZONE = r"\s*(?P<zone>Z|UTC|GMT|(?P<sign>[+-])(?P<zh>\d{1,2})(?::?(?P<zm>\d{2}))?)?"
_TIME = r"(?P<h>\d{1,2})(?::(?P<m>\d{1,2})(?::(?P<s>\d{1,2})(?:\.(?P<fraction>\d*))?)?)?" + _ZONE

_DATE_ONLY = re.compile(_DATE % "", re.ASCII)
_DATE_THEN_ANYTHING = re.compile(_DATE % "(?:[ T].*)?", re.ASCII | re.DOTALL)
_DATE_AND_TIME = re.compile(_DATE % f"(?:[ T]{_TIME})?", re.ASCII)

_EPOCH = date(1970, 1, 1).toordinal()


def date_in_text(text: str, *, exactly: bool = False) -> int | None:
    """Days since 1970-01-01, None when the text is no date.

    A time of day behind the date is passed over, unless the text has to be `exactly` a date.

    >>> date_in_text("1970-01-02 23:59"), date_in_text("1970-01-02 23:59", exactly=True)
    (1, None)
    """
    found = (_DATE_ONLY if exactly else _DATE_THEN_ANYTHING).fullmatch(text.strip())
    return None if found is None else _days(found)


def timestamp_in_text(text: str) -> int | None:
    """Microseconds since the epoch, None when the text is no date and time.

    >>> timestamp_in_text("1970-01-01 01:00:00.5+01:00")
    500000
    """
    found = _DATE_AND_TIME.fullmatch(text.strip())
    days = None if found is None else _days(found)
    if found is None or days is None:
        return None
    seconds = _seconds(found)
    if seconds is None:
        return None
    micros = int((found["fraction"] or "")[:6].ljust(6, "0"))
    return days * DAY_MICROS + seconds * 1_000_000 + micros


def _days(found: re.Match[str]) -> int | None:
    try:
        day = date(int(found["year"]), int(found["month"] or 1), int(found["day"] or 1))
    except ValueError:
        return None
    return day.toordinal() - _EPOCH


def _seconds(found: re.Match[str]) -> int | None:
    """Seconds into the UTC day, beyond its ends when the zone moves them; None: no such time."""
    hour, minute, second = (int(found[name] or 0) for name in ("h", "m", "s"))
    zone_hours, zone_minutes = int(found["zh"] or 0), int(found["zm"] or 0)
    if hour > 23 or minute > 59 or second > 59 or zone_hours > 18 or zone_minutes > 59:
        return None
    offset = zone_hours * 3600 + zone_minutes * 60
    return hour * 3600 + minute * 60 + second - (-offset if found["sign"] == "-" else offset)
