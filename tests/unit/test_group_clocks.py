"""Clocks that tasks tell by group are those of all queries."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from penstock.lane_host.group_clocks import GroupClocks, least_clocks
from penstock.lane_host.work import Done

if TYPE_CHECKING:
    from collections.abc import Mapping

GROUPS = {0: ["a", "b", "c"], 3: ["d"], 12: ["e", "f"]}
OF_A_GROUP = {
    number: st.tuples(*(st.integers(0, 2) for _ in one)) for number, one in GROUPS.items()
}
TASK = st.fixed_dictionaries({}, optional=OF_A_GROUP)


@given(st.lists(TASK, max_size=5))
def test_clocks_told_by_group_are_the_least_of_each_query(
    tasks: list[Mapping[int, tuple[int, ...]]],
) -> None:
    told, wanted = [], dict[str, int]()
    for task in tasks:
        clocks = {
            name: clock
            for number, values in task.items()
            for name, clock in zip(GROUPS[number], values, strict=True)
        }
        for name, clock in clocks.items():
            wanted[name] = min(clock, wanted.get(name, clock))
        done = Done(0, clocks=GroupClocks.of(clocks, GROUPS))
        told.append(Done.from_json(json.loads(done.line)).clocks)
    assert least_clocks(told, GROUPS) == wanted


def test_what_a_task_tells_does_not_grow_with_queries_that_came_equally_far() -> None:
    names = [f"q{number}" for number in range(1000)]
    told = GroupClocks.of(dict.fromkeys(names, 7) | {"q3": 5}, {1: names})
    assert told == GroupClocks({"1": 7}, {"q3": 5})
