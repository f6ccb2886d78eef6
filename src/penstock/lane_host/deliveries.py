"""Deliveries: which lanes the rows of a stream go to, as few copies of each as possible.

Groups that divide a stream by the same key, into as many lanes, share its rows: one delivery
brings them to the lanes of all. A row carries a code, which says for which delivery it is, and
which of the lanes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.algebra.expressions import Expression
    from penstock.algebra.types import Schema
    from penstock.lane_host.hosted_plan import HostedFragment, HostedPlan
    from penstock.operators.block import Block
    from penstock.planner.partition.partitioning import Route


@dataclass(frozen=True)
class Delivery:
    """Rows go to the lane that their keys say, or to every lane, if there are no keys.

    Of one lane, `task` says where it is.
    """

    route: Route | None
    lanes: int
    task: int = 0

    @property
    def keys(self) -> tuple[Expression, ...] | None:
        """The expressions that divide the rows; None if each row goes to all lanes, or to one."""
        return self.route.keys if self.route is not None else None

    def shares(self, block: Block, schema: Schema) -> Iterator[tuple[int, Block]]:
        """The rows of each lane, as Spark would send them; the number is the lane's."""
        # Here, because tasks of Spark's divide rows without the operators.
        from penstock.runtime.lanes import Router

        if self.route is None:
            yield self.task, block
            return
        router = Router(self.route, schema, self.lanes)
        for lane in range(self.lanes):
            yield lane, router.share(block, lane)


@dataclass
class Deliveries:
    """The deliveries of all streams to the lanes of the first stage.

    Attributes:
        tasks: How many tasks there are.
        width: A delivery has so many codes; a code's remainder by the tasks is the task it is for.
        of_stream: The deliveries of each stream, in the order of their codes.
        codes: For each lane, the code of the rows that it reads of each stream.
    """

    tasks: int
    width: int
    of_stream: dict[str, list[Delivery]] = field(default_factory=dict)
    codes: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def are_plain(self) -> bool:
        """Tasks that get rows of one code only, the one with their own number."""
        every = [one for several in self.of_stream.values() for one in several[1:]]
        return not every and self.width == self.tasks

    def counting(self) -> dict[str, list[int]]:
        """The codes of each stream whose rows together are the rows of the stream, each once."""
        return {stream: self._counting(several[0]) for stream, several in self.of_stream.items()}

    def _counting(self, delivery: Delivery) -> list[int]:
        if delivery.route is None:
            return [delivery.task]
        return list(range(delivery.lanes)) if delivery.keys is not None else [0]


def deliveries_for(plan: HostedPlan, tasks: int) -> Deliveries:
    """The deliveries of a plan's streams to so many tasks."""
    first = [one for one in plan.fragments.values() if one.stage == 0]
    most = max((one.lanes for one in first), default=1)
    made = Deliveries(tasks, -(-most // tasks) * tasks)
    for fragment in first:
        for stream in fragment.streams:
            delivery = _delivery(fragment, stream, tasks)
            known = made.of_stream.setdefault(stream, [])
            if delivery not in known:
                known.append(delivery)
            base = known.index(delivery) * made.width
            for number, lane in enumerate(fragment.lane_names()):
                place = delivery.task if delivery.route is None else number
                made.codes.setdefault(lane, {})[stream] = base + place
    for stream in plan.unread:
        made.of_stream[stream] = [Delivery(None, 1)]
    return made


def _delivery(fragment: HostedFragment, stream: str, tasks: int) -> Delivery:
    if fragment.lanes == 1:
        return Delivery(None, 1, fragment.task_of(0, tasks))
    return Delivery(fragment.partitioning.routes[stream], fragment.lanes)
