"""The places of groups of queries in the records of a home."""

from __future__ import annotations

from bisect import bisect_left
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from penstock.pipeline.plans import Followed, numbered_groups
from penstock.store.layout import Home
from penstock.store.result_reader import read_record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from penstock.pipeline.plans import QueryGroup


def next_group_of(home: Home) -> int:
    """A number for a group that no plan of a home has had; also none that was never committed."""
    plans = (_numbers(home.plans, path.name) for path in home.plans.glob("[0-9]*.plan"))
    return max((number for one in plans for number, _ in one), default=-1) + 1


@lru_cache(maxsize=1 << 16)
def _numbers(plans: Path, name: str) -> tuple[tuple[int, Followed], ...]:
    """The groups of a plan, which is never written twice, and what their queries followed."""
    return tuple(numbered_groups(Home(plans.parent), name))


def plans_with(home: Home, group: QueryGroup, query: str) -> Callable[[str], bool]:
    """Tells of the name of a plan whether a query of a group runs in it, or one it followed."""
    numbers = set(group.numbers_of(query))

    @cache
    def runs_in(plan: str) -> bool:
        return any(
            number in numbers or not numbers.isdisjoint(followed.get(query, ()))
            for number, followed in _numbers(home.plans, plan)
        )

    return runs_in


def first_record_of(home: Home, group: QueryGroup, query: str) -> int:
    """The record by which a query that runs was registered; one that is gone if it may be."""
    numbers = home.chain.numbers()
    runs_in = plans_with(home, group, query)
    # A group runs in all records from the first: numbers of groups do not come back.
    place = bisect_left(numbers, True, key=lambda number: runs_in(read_record(home, number).plan))
    is_certain = place > 0 or numbers[0] == 0
    return numbers[place] if is_certain else numbers[0] - 1
