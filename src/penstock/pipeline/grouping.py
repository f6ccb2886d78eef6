"""Which of the queries that are registered together share lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.pipeline.keys import is_routable
from penstock.pipeline.plans import Group
from penstock.planner.fragments import has_clock
from penstock.planner.partitioning import common_partitioning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.algebra.plan import Plan


def groups_for(plans: Mapping[str, Plan], first: int, lanes: int) -> list[Group]:
    """Divide new queries into groups, each with a key that all of its queries agree on.

    A query without a key is in a group of its own, whose plan is cut into fragments. So is one
    that reads relations only: its clock is what the changes say, and a lane would know only its
    own.
    """
    together: list[list[str]] = []
    alone: list[list[str]] = []
    for name, plan in plans.items():
        if not has_clock(plan) or not is_routable(common_partitioning([plan])):
            alone.append([name])
            continue
        for names in together:
            if is_routable(common_partitioning([*(plans[one] for one in names), plan])):
                names.append(name)
                break
        else:
            together.append([name])
    return [
        Group(first + number, tuple(names), lanes)
        for number, names in enumerate([*together, *alone])
    ]
