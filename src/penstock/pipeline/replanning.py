"""Another plan for queries that run, their answers as exact as before.

The new plan runs beside the old one, in a group of its own whose windows begin empty. Once time
has gone on by as much as the queries remember (`forgetting`), both answer alike. Where queries
remember for ever, the new plan begins with the rows that their streams are declared to retain, if
these are all it needs. Then, at one instant, what the old plan said and is still valid is
withdrawn, what the new plan says takes its place, and the old plan ends. Rows that both say alike
cancel out: who follows the results sees nothing of it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra.operators import Final
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.errors import Refused
from penstock.lane_host.images import write_images
from penstock.lane_host.lane_host import LaneHost
from penstock.lane_host.routable_keys import is_routable
from penstock.pipeline.bound import BoundGroup
from penstock.pipeline.given_rows import exact_by_query
from penstock.pipeline.plans import QueryGroup, successor
from penstock.pipeline.result_folding import left_of_results
from penstock.pipeline.state_horizon import NeverForgets, memory_of
from penstock.planner.planning import physical_plan
from penstock.store.contents import net_difference

if TYPE_CHECKING:
    from penstock.operators.block import Block
    from penstock.pipeline.ledger import Ledger
    from penstock.pipeline.plans import PipelinePlan
    from penstock.planner.physical.physical_plan import PhysicalPlan
    from penstock.planner.statistics.statistics import Statistics
    from penstock.store.records import LaneState


def replanned(
    ledger: Ledger, number: int, statistics: Statistics, new: int, *, even_if_same: bool = False
) -> PipelinePlan | None:
    """The plan in which a group of queries runs by another plan as well, to be replaced by it.

    Args:
        ledger: What runs.
        number: The number of the group.
        statistics: What is known of its streams.
        new: A number for the other group, which no group has had.
        even_if_same: Whether to do so for a plan that is no other.

    Returns:
        None if the queries would run as they do, are about to run by another plan already, or
        read no stream.

    Raises:
        Refused: A query remembers something whose end is not known.
    """
    group = ledger.plan.groups[number]
    if group.group.catches_up:
        return None
    if not group.streams or any(one.replaces == number for one in ledger.plan.plan.groups):
        return None
    refusal = None
    try:
        memory = _memory(group)
    except Refused as found:
        # Unless what it remembers is retained.
        if not _is_retained(ledger, group):
            raise
        memory, refusal = 0, found
    lanes = group.lanes
    # What is not measured yet is as it is stated.
    statistics = statistics.expecting(group.group.known.expected)
    physical = physical_plan(group.plans, group.choices, is_routable, lanes, statistics)
    is_same = physical.identity == group.physical.identity
    if not _is_divisible(physical, group) or (is_same and not even_if_same):
        return None
    made = _successor(ledger, group, physical, statistics, new, memory)
    if refusal is not None:
        made = _with_past(ledger, group, made, refusal)
    return replace(ledger.plan.plan, groups=(*ledger.plan.plan.groups, made))


def _successor(
    ledger: Ledger,
    group: BoundGroup,
    physical: PhysicalPlan,
    statistics: Statistics,
    number: int,
    memory: int,
) -> QueryGroup:
    record = ledger.record
    streams = [record.streams[name].latest for name in group.streams]
    # It is told what a relation holds from there on where the first of all queries has come to.
    relations = [
        instant
        for name in group.relations
        for one in [record.relations[name]]
        for instant in (one.clock, *one.groups.values())
    ]
    latest = max(*streams, *relations, BEGINNING)
    return QueryGroup(
        number,
        tuple(map(successor, group.group.queries)),
        group.lanes,
        physical.called({name: successor(name) for name in group.group.queries}),
        json.dumps(statistics.to_json()),
        group.number,
        BEGINNING if latest == BEGINNING else latest + memory + 1,
    )


def _with_past(ledger: Ledger, group: BoundGroup, made: QueryGroup, refusal: Refused) -> QueryGroup:
    """The group that is to replace one, fed all that is retained; both are exact from some instant.

    Raises:
        Refused: It is not known from when on.
    """
    made = replace(made, catches_up=True)
    plan = ledger.plan
    new = BoundGroup.of(made, plan.session, plan.plan.partitions)
    is_final = any(isinstance(one, Final) for one in group.plans.values())
    exact = exact_by_query(ledger.home, ledger.record, plan, new)
    since = max([*exact.values(), *group.group.exact.values()])
    if is_final or since == INFINITY:
        raise refusal
    return replace(made, since=since, exact=exact)


def _is_retained(ledger: Ledger, group: BoundGroup) -> bool:
    """All streams of a group are declared to retain rows."""
    return all(ledger.plan.rules[name][1] for name in group.streams)


def _is_divisible(made: PhysicalPlan, before: BoundGroup) -> bool:
    """Several queries still have a key in common by which streams can be divided."""
    return len(before.plans) == 1 or is_routable(made.fragments[0].partitioning)


def _memory(group: BoundGroup) -> int:
    """For how long the queries of a group remember, at most.

    Raises:
        Refused: One of them never forgets.
    """
    longest = 0
    for query, plan in group.plans.items():
        try:
            longest = max(longest, memory_of(plan))
        except NeverForgets as reason:
            raise _refusal(query, list(group.plans), reason) from None
    return longest


def _refusal(query: str, together: list[str], reason: NeverForgets) -> Refused:
    """Why a query, and with it those that it shares operators with, cannot be planned anew."""
    msg = f'query "{query}" cannot be planned anew while it runs: it has {reason.what}'
    hint = reason.hint
    others = [f'query "{one}"' for one in together if one != query]
    if others:
        msg += f"; nor can {' and '.join(others)}, registered together with it"
        hint += " Or register the others in an execute() of their own."
    return Refused(msg, hint=hint)


def due(ledger: Ledger) -> list[int]:
    """The groups that can be replaced as soon as all lanes have come equally far."""
    clocks = ledger.record.clocks
    return [
        one.replaces
        for one in ledger.plan.plan.groups
        if one.replaces is not None
        and not one.catches_up
        and all(clocks.get(name, BEGINNING) >= one.since for name in one.queries)
    ]


def replace_group(ledger: Ledger, number: int) -> bool:
    """Let a group go on by the plan of the group that replaces it.

    All lanes have come equally far: the last record was by a tick. The state of the group is held
    in memory.

    Returns:
        Whether that was possible; False if the two have not come to the same instant.
    """
    plan, record = ledger.plan.plan, ledger.record
    (made,) = (one for one in plan.groups if one.replaces == number)
    clocks = [(record.clocks[made.runs[name]], record.clocks[name]) for name in made.queries]
    if any(old != new for old, new in clocks):
        return False
    (old,) = (one for one in plan.groups if one.number == number)
    after = replace(old, statistics=made.statistics, physical=made.physical.called(made.runs))
    groups = tuple(after if one is old else one for one in plan.groups if one is not made)
    handed_over = _Handover(ledger, made)
    ledger.change_group(
        replace(plan, groups=groups), handed_over.lanes(after), handed_over.results()
    )
    return True


class _Handover:
    """The part of one group that takes over from the other that has run beside it."""

    def __init__(self, ledger: Ledger, made: QueryGroup) -> None:
        self._ledger = ledger
        self._home = ledger.home
        self._record = ledger.record
        self._made = made

    def lanes(self, after: QueryGroup) -> dict[str, LaneState]:
        """The recipe of each lane's state: that of the lane that has run beside it."""
        host = LaneHost(self._home)
        states = dict(self._record.lanes)
        for name in [one for one in states if one.startswith(f"{after.number}.")]:
            del states[name]
        # What failed under the old plan is told by one lane; what fails from now on, by all.
        failed = {query: self._record.failures.get(query, {}) for query in after.queries}
        images = []
        for fragment in after.hosted.fragments:
            beside = f"{self._made.number}.{fragment.number}"
            for lane, name in enumerate(fragment.lane_names()):
                state = states.pop(f"{beside}.{lane}", None)
                if state is not None:
                    was = f"{beside}.{lane}"
                    kept = host.lanes_at(self._record.plan, {was: state})[was]
                    images.append((name, kept.lane.segments(), failed))
                    failed = {}
        if not images:
            return states
        return states | write_images(self._home, self._record.number + 1, 0, images)

    def results(self) -> dict[str, Block]:
        """The results that take each other's place, at the instant that both plans have come to."""
        left = left_of_results(self._home, self._record, self._ledger.plan)
        made: dict[str, Block] = {}
        for name in self._made.queries:
            query = self._made.runs[name]
            block = net_difference(left.get(query), left.get(name), self._record.clocks[query])
            if block is not None and len(block):
                made[query] = block
        return made
