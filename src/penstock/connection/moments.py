"""Instants as people write them: numbers, dates and times."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.algebra.values import parse_timestamp
from penstock.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Collection

    from penstock.algebra.time import TimeUnit

Moment = int | str | datetime
"""An instant: a number in the unit of the streams, or a date and time (UTC if it has no zone)."""


def instant_of(moment: Moment, units: Collection[TimeUnit]) -> int:
    """The instant that is meant, in the unit of a stream, or the one unit that streams share.

    Raises:
        DataError: It is no instant, or the unit has no dates.
    """
    if isinstance(moment, int) and not isinstance(moment, bool):
        instant = moment
    else:
        instant = _from_clock(moment, units)
    if not BEGINNING < instant < INFINITY:
        msg = f"{moment} lies outside of time"
        raise DataError(msg, hint=f"Instants lie between {BEGINNING + 1} and {INFINITY - 1}.")
    return instant


def _from_clock(moment: Moment, units: Collection[TimeUnit]) -> int:
    if not isinstance(moment, str | datetime):
        msg = f"{moment!r} is not an instant"
        raise DataError(
            msg, hint="Give a number, a datetime, or a text such as '2024-05-01 12:00'."
        )
    steps = {unit.micros for unit in units}
    step = steps.pop() if len(steps) == 1 else None
    if step is None:
        msg = f"{moment!r} is a date, but the event time here is counted in ticks or several units"
        raise DataError(msg, hint="Give the instant as a number.")
    try:
        micros = parse_timestamp(str(moment))
    except ValueError as fault:
        msg = f"{moment!r} is not a date and time"
        raise DataError(msg, hint="Write it like '2024-05-01 12:00:00'.") from fault
    return micros // step
