"""Scarce space: what happens when the disk with a home gets full, before nothing goes on any more.

What nobody needs has been removed by then. A warning comes first; retained rows are given up last,
the oldest of the stream that takes up most.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.catalog.retain_rules import size_text
from penstock.pipeline.sealing import Sealed
from penstock.store.sub_windows.piece_files import read_list, write_list

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.pipeline.bound import BoundPlan
    from penstock.pipeline.sweeping import Retention
    from penstock.store.layout import Home
    from penstock.store.records import Record
    from penstock.store.sub_windows.piece_files import PieceFile


class ScarceSpace:
    """Watches the disk of a home.

    Args:
        home: The home.
        report: Told, in a sentence, that space gets scarce, and what was given up.
    """

    def __init__(self, home: Home, report: Callable[[str], None]) -> None:
        self._home = home
        self._report = report
        self._is_warned = False

    def is_low(self, retention: Retention) -> bool:
        """There is so little space that it is time to look after it."""
        return self._free() < retention.warn_free

    def given_up(self, record: Record, plan: BoundPlan, retention: Retention) -> Sealed | None:
        """The rows that streams retain without the oldest, if these have to go; else None.

        They go if they were warned of in an earlier pass.
        """
        free = self._free()
        if free >= retention.warn_free:
            self._is_warned = False
            return None
        if not self._is_warned:
            self._is_warned = True
            self._report(
                f"the disk with {self._home.path} has {size_text(free)} left: make space there;"
                f" below {size_text(retention.least_free)} the oldest retained rows are given up"
            )
            return None
        if free >= retention.least_free:
            return None
        return self._without_oldest(record, plan, retention.least_free - free)

    def _free(self) -> int:
        return shutil.disk_usage(self._home.path).free

    def _without_oldest(self, record: Record, plan: BoundPlan, wanted: int) -> Sealed | None:
        lists = {
            name: read_list(self._home.segments, one.pieces)
            for name, one in record.retained.items()
            if one.pieces is not None
        }
        left = {name: list(one.pieces) for name, one in lists.items()}
        since = _give_up(left, wanted)
        if not since:
            return None
        retained = dict(record.retained)
        columns = {one.name: one.schema.names for one in plan.streams}
        units = {one.name: one.unit for one in plan.streams}
        for name, first in since.items():
            length = lists[name].length
            file = write_list(self._home, record.number + 1, length, columns[name], left[name])
            start = max(first, retained[name].since)
            retained[name] = replace(retained[name], pieces=file, since=start)
            self._report(
                f'the disk with {self._home.path} is full: retained rows of stream "{name}" before'
                f" {units[name].format(start)} are given up"
            )
        return Sealed(frozenset(), retained)


def _give_up(left: dict[str, list[PieceFile]], wanted: int) -> dict[str, int]:
    """Take the oldest pieces from lists until so many bytes have gone.

    The youngest of a stream stays. Of what is left all rows are there from the instant returned.
    """
    since: dict[str, int] = {}
    while wanted > 0:
        able = [name for name, one in left.items() if len(one) > 1]
        if not able:
            break
        name = max(able, key=lambda one: sum(piece.nbytes for piece in left[one]))
        oldest = min(left[name], key=lambda one: one.last)
        wanted -= oldest.nbytes
        left[name].remove(oldest)
        since[name] = oldest.last + 1
    return since
