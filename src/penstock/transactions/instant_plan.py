"""Instant plans: a plan computed once over rows that are all valid at one instant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.block import arriving, concatenated
from penstock.planner.physical.building import Choices
from penstock.planner.physical.lowering import operator_graph
from penstock.results.settling import ChangingContent
from penstock.runtime.lane import Lane

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan

_RESULT = "result"
_INSTANT = 0

Columns = tuple[pa.Array, ...]


class InstantPlan:
    """A plan over one input, ready to be computed again and again, from any thread.

    Args:
        plan: It reads the stream, or what is exchanged, under this name, and nothing else.
        source: The name.
        choices: How its operators run.
    """

    def __init__(self, plan: Plan, source: str, choices: Choices | None = None) -> None:
        self.schema = plan.schema
        self._source = source
        self._choices = choices or Choices()
        self._graph = operator_graph({_RESULT: plan}, self._choices)

    def rows(self, columns: Columns, count: int, *, in_order: bool = False) -> Columns:
        """The result over so many rows; if it is asked for, in the order of its values."""
        block = arriving(columns, np.full(count, _INSTANT, np.int64))
        # What a lane remembers is of no use behind the instant, so each time has its own.
        output = Lane(self._graph).feed({self._source: block}, {self._source: _INSTANT + 1})
        made = output.blocks.get(_RESULT, [])
        node = self._graph.nodes[self._graph.results[_RESULT]]
        if made and not in_order and all(one.sign is None for one in made):
            return concatenated(made).columns
        content = ChangingContent(list(node.arrow_types), node.span, self._choices.queue_partitions)
        content.take_in(made, _INSTANT + 1)
        return content.current()
