"""Progress as people read it: instants of streams with a TIMESTAMP are times, in UTC."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from penstock.algebra.time import TimeUnit
from penstock.algebra.values import EPOCH
from penstock.catalog.definitions import QueryDefinition, StreamDefinition

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from penstock.catalog.definitions import Catalog

_INSTANTS = ("watermark", "latest", "clock")
_LENGTHS = ("late_by", "lag")


def with_times(progress: Mapping[str, Any], catalog: Catalog) -> dict[str, Any]:
    """The same facts; where one step is a microsecond of a TIMESTAMP, times and lengths of time.

    Args:
        progress: As an engine says it: instants are numbers.
        catalog: The streams and queries, which have the units.
    """
    units = {
        ("streams", one.name): one.unit for one in catalog if isinstance(one, StreamDefinition)
    }
    units |= {
        ("queries", one.name): one.plan.unit
        for one in catalog
        if isinstance(one, QueryDefinition) and one.plan.unit is not None
    }
    made = dict(progress)
    for part in ("streams", "queries"):
        made[part] = {
            name: _timed(facts) if units.get((part, name)) is TimeUnit.TIMESTAMP else facts
            for name, facts in progress[part].items()
        }
    return made


def _timed(facts: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(facts)
    for names, convert in ((_INSTANTS, _moment), (_LENGTHS, _length)):
        for name in names:
            if found.get(name) is not None:
                found[name] = _or_number(found[name], convert)
    return found


def _or_number(number: int, convert: Callable[[int], object]) -> object:
    """A number where the calendar ends."""
    try:
        return convert(number)
    except OverflowError:
        return number


def _moment(micros: int) -> datetime:
    return EPOCH + timedelta(microseconds=micros)


def _length(micros: int) -> timedelta:
    return timedelta(microseconds=micros)
