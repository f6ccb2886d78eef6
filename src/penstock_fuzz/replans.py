"""Another plan in the middle of a trial: by statistics that make the planner choose otherwise."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from penstock.errors import Refused
from penstock.pipeline.replanning import due, replace_group, replanned
from penstock.planner.statistics.statistics import Statistics
from penstock_fuzz.draw import Draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.pipeline.bound import BoundGroup
    from penstock.pipeline.ledger import Ledger
    from penstock.pipeline.plans import PipelinePlan
    from penstock_fuzz.driving import LaneHostDriver

PLAN_ANEW = 1_000_000
"""The number of the group of a new plan; those of a trial's own are few."""
TRIES = 10
"""So many statistics are tried until one leads to another plan."""


class Replans:
    """Plans the queries of trials anew, and lets new plans take over.

    Attributes:
        counts: How often a plan was `asked` for, was `refused`, was `another` than the one that
            ran, or the `same`; and how often one `took over`, and how often `another took over`.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def line(self) -> str:
        """The counts, as `Coverage` has its own."""
        shown = ", ".join(f"{name} {count}" for name, count in self.counts.items())
        return f"{'plans anew':<12} {shown or '-'}"

    def plan_anew(self, ledger: Ledger, number: int) -> None:
        """Let all groups be replaced by what the planner makes of other statistics.

        Of many that `number` decides, the first that lead to another plan; if none do, the same
        plan takes over.
        """
        for group in list(ledger.plan.groups):
            self.counts["asked"] += 1
            try:
                plan = _another(ledger, group, number)
                kind = "another"
                if plan is None:
                    kind = "same"
                    plan = _planned(ledger, group, Statistics(), even_if_same=True)
            except Refused:
                # Some queries never forget their first rows.
                self.counts["refused"] += 1
                continue
            if plan is not None:
                self.counts[kind] += 1
                ledger.change_plan(plan)

    def take_over(self, ledger: Ledger, driver: LaneHostDriver) -> None:
        """Let plans take over for which it is time."""
        for group in due(ledger):
            driver.tick()
            before = ledger.plan.groups[group].physical.identity
            if replace_group(ledger, group):
                self.counts["took over"] += 1
                after = ledger.plan.groups[group].physical.identity
                self.counts["another took over"] += after != before


def _another(ledger: Ledger, group: int, number: int) -> PipelinePlan | None:
    found = (
        _planned(ledger, group, statistics)
        for statistics in _statistics(ledger.plan.groups[group], number)
    )
    return next((plan for plan in found if plan is not None), None)


def _planned(
    ledger: Ledger, group: int, statistics: Statistics, *, even_if_same: bool = False
) -> PipelinePlan | None:
    return replanned(ledger, group, statistics, PLAN_ANEW + group, even_if_same=even_if_same)


def _statistics(group: BoundGroup, number: int) -> Iterator[Statistics]:
    """Statistics that may be known of the streams, conditions and operators of a group."""
    streams = group.streams
    columns = [(name, column) for name, one in streams.items() for column in one.schema.names]
    nodes = [node for part in group.fragments for node in part.graph.nodes]
    asked = [one.predicate for one in nodes if one.predicate is not None]
    keys = [key for one in asked for key in (one.key, *(part for part, _ in one.parts))]
    met = [one.meeting.condition for one in nodes if one.meeting is not None]
    made = [one.made_of for one in nodes]
    for place in range(TRIES):
        draw = Draw(f"{number} {place}")
        sizes = (0.01, 1.0, 10.0, 1e5)
        yield Statistics(
            {name: draw.pick(*sizes) for name in streams},
            {column: draw.pick(*sizes[1:]) for column in columns},
            {key: draw.pick(0.0001, 0.2, 1.0) for key in (*keys, *met) if key},
            outputs={
                key: (draw.pick(0.001, 1.0, 4.0), draw.pick(0.0, 1.0))
                for key in (*made, *met)
                if key is not None
            },
        )
