"""Queries that run in this process: tables in, results out, state saved and restored on demand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.errors import UnknownName, did_you_mean
from penstock.planner.optimizing import plans_to_run
from penstock.planner.partition.partitioning import common_partitioning
from penstock.planner.physical.lowering import operator_graph
from penstock.runtime.changes import due_from, read_changes, told_by
from penstock.runtime.intake import Intake, RejectedRows
from penstock.runtime.jumps import periodic_parts, refuse_jumps
from penstock.runtime.lanes import Lanes
from penstock.shedding.columns import NO_COLUMNS
from penstock.shedding.input_monitor import InputMonitor
from penstock.shedding.intake_rules import IntakeRules

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from penstock.algebra.plan import Plan
    from penstock.operators.block import Block
    from penstock.planner.physical.building import Choices
    from penstock.runtime.changes import RelationChanges
    from penstock.runtime.lane_output import LaneOutput
    from penstock.runtime.work_clock import WorkClock
    from penstock.scheduling.work_rules import WorkRules
    from penstock.shedding.columns import SheddingColumns


@dataclass(frozen=True)
class Saved:
    """The state of running queries: of each lane, and of each stream's way in."""

    lanes: list[dict[str, pa.Table]]
    intakes: dict[str, tuple[int, int, int, int]]


class LocalRun:
    """Queries over streams and relations, fed table by table.

    Args:
        plans: The queries, by name.
        slack: How far rows of a stream may be behind its latest; 0 where it is not given.
        lanes: How many lanes share the work, if a key divides it.
        choices: Strategy and structures.
        rules: How long lanes work in a feed, and in which order.
        clock: What measures that; None: that of this machine.
        intake: When rows are shed.
        own: By stream, the columns that shedding goes by.
    """

    def __init__(
        self,
        plans: Mapping[str, Plan],
        slack: Mapping[str, int] | None = None,
        lanes: int = 1,
        choices: Choices | None = None,
        rules: WorkRules | None = None,
        clock: WorkClock | None = None,
        intake: IntakeRules | None = None,
        own: Mapping[str, SheddingColumns] | None = None,
    ) -> None:
        plans = plans_to_run(plans, choices=choices)
        self.partitioning = common_partitioning(list(plans.values()))
        sharing = lanes if self.partitioning.is_partitioned else 1
        self.graph = operator_graph(plans, choices, lanes=sharing)
        self.lanes = Lanes(self.graph, self.partitioning, lanes, rules=rules, clock=clock)
        self._periodic = periodic_parts(plans.values())
        self.aside: list[RejectedRows] = []
        self._rules = intake or IntakeRules()
        self.monitor = InputMonitor()
        self._last_rows = 0
        self.intakes = {
            name: Intake(
                name,
                plan.schema,
                plan.time_column,
                (slack or {}).get(name, 0),
                own=(own or {}).get(name, NO_COLUMNS),
            )
            for name, (plan, _) in self.graph.streams.items()
        }

    def feed(self, tables: Mapping[str, pa.Table]) -> LaneOutput:
        """Take in rows of streams and changes of relations, and return what is then final.

        A relation's table has the column `_sign` besides its own and, where changes are dated,
        `_at`. All tables are checked before any row is taken in.

        Raises:
            DataError: A column is missing, or cannot be read as declared; a row of a stream that a
                periodic query reads is from the far future.
            UnknownName: No query reads a source of that name.
        """
        readings = {}
        changes = {}
        for name, table in tables.items():
            if name in self.intakes:
                readings[name] = self.intakes[name].read(table)
            else:
                changes[name] = self._changes(name, table)
        refuse_jumps(self._periodic, self.intakes, readings)
        blocks = {name: self._dated(one) for name, one in changes.items()}
        watermarks = told_by(blocks)
        shedding = self.monitor.look(self._rules, self.lanes.waiting_bytes, self._last_rows)
        self._last_rows = sum(len(tables[name]) for name in readings)
        for name, reading in readings.items():
            blocks[name] = reading.take_in(shedding)
            self.aside += self.intakes[name].taken_rejected()
        watermarks |= {name: intake.watermark for name, intake in self.intakes.items()}
        return self.lanes.feed(blocks, watermarks)

    def finish(self) -> LaneOutput:
        """The input has come to its end: return all that is left."""
        return self.lanes.finish()

    def _changes(self, name: str, table: pa.Table) -> RelationChanges:
        if name not in self.graph.relations:
            known = [*self.intakes, *self.graph.relations]
            msg = f'no running query reads "{name}"'
            otherwise = f"They read {', '.join(known)}."
            raise UnknownName(msg, hint=did_you_mean(name, known, otherwise=otherwise))
        return read_changes(name, self.graph.relations[name][0].schema, table)

    def _dated(self, changes: RelationChanges) -> Block:
        clock = max(lane.relation_clock(changes.name) for lane in self.lanes.lanes)
        self.aside += changes.overdue(clock)
        return due_from(changes.block(clock), clock)

    def save(self) -> Saved:
        """The state between two feeds, complete."""
        intakes = {
            name: (one.watermark, one.brought, one.latest, one.shed)
            for name, one in self.intakes.items()
        }
        return Saved(self.lanes.segments(), intakes)

    def restore(self, saved: Saved) -> None:
        """Go on from saved state; these queries are the same, and new."""
        self.lanes.restore(saved.lanes)
        for name, (watermark, brought, latest, shed) in saved.intakes.items():
            intake = self.intakes[name]
            intake.watermark, intake.brought = watermark, brought
            intake.latest, intake.shed = latest, shed
