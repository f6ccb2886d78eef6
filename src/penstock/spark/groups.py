"""Where groups of queries stand in the records of a home."""

from __future__ import annotations

from bisect import bisect_left
from functools import cache
from typing import TYPE_CHECKING

from penstock.pipeline.plans import read_plan
from penstock.store.result_reader import read_record

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.pipeline.plans import Group
    from penstock.store.layout import Home


def next_group_of(home: Home) -> int:
    """A number for a group that no plan of a home has had; also none that was never committed."""
    plans = [read_plan(home, path.name) for path in home.plans.glob("[0-9]*.plan")]
    return max((group.number for plan in plans for group in plan.groups), default=-1) + 1


def plans_with(home: Home, group: Group) -> Callable[[str], bool]:
    """Tells of the name of a plan whether a group runs in it."""

    @cache
    def runs_in(plan: str) -> bool:
        return any(one.number == group.number for one in read_plan(home, plan).groups)

    return runs_in


def first_record_of(home: Home, group: Group) -> int:
    """The record by which a group that runs was registered; one that is gone if it may be."""
    numbers = home.chain.numbers()
    runs_in = plans_with(home, group)
    # A group runs in all records from the first: numbers of groups do not come back.
    place = bisect_left(numbers, True, key=lambda number: runs_in(read_record(home, number).plan))
    is_certain = place > 0 or numbers[0] == 0
    return numbers[place] if is_certain else numbers[0] - 1
