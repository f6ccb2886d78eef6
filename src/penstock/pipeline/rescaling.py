"""Another number of lanes: the state of running queries is divided anew."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.lane_host.images import write_images
from penstock.lane_host.lane_host import LaneHost
from penstock.operators.division import CannotDivide
from penstock.runtime.repartition import repartitioned

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.lane_host.hosted_plan import HostedFragment
    from penstock.pipeline.bound import BoundGroup
    from penstock.pipeline.ledger import Ledger
    from penstock.store.layout import Home
    from penstock.store.records import LaneState, Record


def needs_rescaling(ledger: Ledger, lanes: int) -> bool:
    """Some group of queries has another number of lanes."""
    return any(one.lanes != lanes for one in ledger.plan.plan.groups)


def rescale(ledger: Ledger, lanes: int) -> dict[str, str]:
    """Let all groups of queries go on with so many lanes, as if it had always been as many.

    All lanes have come equally far: the last record was by a tick. The state of one group at a
    time is held in memory.

    Returns:
        Why, by query, for those that go on with the number they had.
    """
    refused: dict[str, str] = {}
    states: dict[str, LaneState] = {}
    groups = []
    for group in ledger.plan.groups.values():
        state = _GroupState(ledger, group)
        try:
            states |= state.divided(lanes)
            groups.append(group.group.on_lanes(lanes))
        except CannotDivide as reason:
            refused |= dict.fromkeys(group.group.queries, reason.message)
            states |= state.as_it_is()
            groups.append(group.group)
    ledger.change_lanes(replace(ledger.plan.plan, groups=tuple(groups)), states)
    return refused


class _GroupState:
    """The state of the lanes of a group."""

    def __init__(self, ledger: Ledger, group: BoundGroup) -> None:
        self._home: Home = ledger.home
        self._record: Record = ledger.record
        self._group = group
        self._host = LaneHost(ledger.home)

    def as_it_is(self) -> dict[str, LaneState]:
        """The recipes of the states of the lanes there are."""
        names = [name for one in self._group.fragments for name in one.lane_names()]
        return {name: self._record.lanes[name] for name in names if name in self._record.lanes}

    def divided(self, lanes: int) -> dict[str, LaneState]:
        """The recipes of the states of the lanes there are to be."""
        changed = self._group.group.on_lanes(lanes).hosted
        after = {one.name: one for one in changed.fragments}
        states: dict[str, LaneState] = {}
        for before in self._group.fragments:
            names = before.lane_names()
            known = {one: self._record.lanes[one] for one in names if one in self._record.lanes}
            if not known:
                continue
            if len(names) == after[before.name].lanes:
                states |= known
            else:
                states |= self._fragment(before, after[before.name], known)
        return states

    def _fragment(
        self, before: HostedFragment, after: HostedFragment, states: Mapping[str, LaneState]
    ) -> dict[str, LaneState]:
        kept = self._host.lanes_at(self._record.plan, states)
        segments = [one.lane.segments() for one in kept.values()]
        parts = repartitioned(before.graph, before.partitioning, segments, after.lanes)
        failures: dict[str, Counter[str]] = {}
        for one in kept.values():
            for query in one.lane.graph.results:
                failures.setdefault(query, Counter()).update(one.failures(query))
        # What has failed so far is told by one of them.
        told = [failures, *({} for _ in parts[1:])]
        images = zip(after.lane_names(), parts, told, strict=True)
        return write_images(self._home, self._record.number + 1, 0, images)
