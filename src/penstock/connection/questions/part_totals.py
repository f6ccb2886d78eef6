"""Aggregates over scans: the rows of each piece are put together before all pieces are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.failures import Failures
from penstock.algebra.windows import Unbounded
from penstock.operators.aggregate.aggregate_specs import CombineSpec
from penstock.operators.block import arriving, concatenated, empty_block
from penstock.planner.partition.phases import in_phases
from penstock.planner.physical.lowering import operator_graph

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.algebra.plan import Plan

_PARTS = "part totals"
_INSTANT = 0


@dataclass(frozen=True)
class PartTotals:
    """The first phase of an aggregate over one stream.

    Attributes:
        stream: The name of the stream.
        first: What is computed of the rows of each piece.
    """

    stream: str
    first: op.Combine

    def of_rows(self, columns: tuple[pa.Array, ...]) -> tuple[pa.Array, ...]:
        """The totals of some rows."""
        rows = len(columns[0])
        if not rows:
            return empty_block(self.first.schema).columns
        block = arriving(columns, np.full(rows, _INSTANT, np.int64))
        made = self._spec.build(Failures()).step([[block]], _INSTANT + 1)
        return concatenated([empty_block(self.first.schema), *made]).columns

    @cached_property
    def _spec(self) -> CombineSpec:
        """The operator of the first phase, described."""
        graph = operator_graph({_PARTS: self.first})
        spec = graph.nodes[graph.results[_PARTS]].spec
        assert isinstance(spec, CombineSpec)
        return spec

    def __getstate__(self) -> dict[str, Any]:
        """The fields: operators are made where they are needed."""
        return {"stream": self.stream, "first": self.first}


def with_part_totals(plan: Plan, found: dict[str, PartTotals]) -> Plan:
    """The plan over totals of the pieces of streams, where an aggregate is right above one.

    Args:
        plan: It reads streams of what scans give.
        found: The aggregates in two phases, by the streams of their totals; it is added to.
    """
    match plan:
        case op.Aggregate(st.Window(st.Stream(name=name) as stream, Unbounded())):
            phases = in_phases(plan)
            if phases is not None and plan.child.schema.names:
                totals = f"{name} totals {len(found) + 1}"
                found[totals] = PartTotals(name, phases.first)
                leaf = st.Stream(totals, phases.first.schema, stream.time_column, stream.time_unit)
                return phases.second(st.Window(leaf, Unbounded()))
    return plan.rebuild(tuple(with_part_totals(one, found) for one in plan.children))
