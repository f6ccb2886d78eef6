"""The inline engine for stream tests: the lane of this process, fed with the rows of a case."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import Relation, RelationToStream, Stream
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.algebra.values import canonical
from penstock.planner.physical.building import Choices
from penstock.reference.arrow_rows import stream_table
from penstock.reference.inputs import RelationHistory, arrivals_of, relation_elements
from penstock.reference.timeline import Bag, Emission, Row, Timeline
from penstock.runtime.local_run import LocalRun
from penstock.testing.engines import CaseAnswer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.algebra.expressions import Value
    from penstock.algebra.plan import Plan
    from penstock.algebra.types import Schema
    from penstock.operators.block import Block
    from penstock.reference.inputs import Inputs
    from penstock.testing.engines import Question

QUERY = "query"
"""The name under which the one query of a case runs."""


class InlineEngine:
    """Runs a plan on a lane: all input in one feed, then the end."""

    def answer(self, question: Question) -> CaseAnswer:
        """The complete result."""
        plan, inputs = question.plan, question.inputs
        refuse_bad_inputs(plan, inputs)
        # Rows of a case come in any order: none is late.
        forever = {node.name: 2**62 for node in different_nodes(plan) if isinstance(node, Stream)}
        choices = Choices.of(question.tactics)
        running = LocalRun({QUERY: plan}, slack=forever, choices=choices)
        results = running.feed(tables_of(running, inputs))
        results.extend(running.finish())
        failures = running.lanes.failures(QUERY).count
        return answer_of(plan, results.blocks.get(QUERY, []), failures)


def refuse_bad_inputs(plan: Plan, inputs: Inputs) -> None:
    """Refuse rows that are no rows of a stream, and changes that cannot be, as the oracle does."""
    for node in different_nodes(plan):
        if isinstance(node, Stream):
            arrivals_of(node, inputs)
        elif isinstance(node, Relation):
            relation_elements(node, inputs)


def answer_of(plan: Plan, blocks: Sequence[Block], failures: int) -> CaseAnswer:
    """The answer that the blocks of a finished query give."""
    if isinstance(plan, RelationToStream):
        return CaseAnswer(emissions(blocks), failures)
    return CaseAnswer(timeline(blocks), failures)


def tables_of(running: LocalRun, inputs: Inputs) -> dict[str, pa.Table]:
    """The rows of streams and the changes of relations as tables."""
    tables = {
        name: stream_table(plan.schema, inputs.streams.get(name, ()))
        for name, (plan, _) in running.graph.streams.items()
    }
    for name, (relation, _) in running.graph.relations.items():
        history = inputs.relations.get(name, RelationHistory())
        tables[name] = changes_table(relation.schema, history)
    return tables


def changes_table(schema: Schema, history: RelationHistory) -> pa.Table:
    """A relation's content before all input, and its changes."""
    rows = [*history.initial, *(change.row for change in history.changes)]
    at = [BEGINNING] * len(history.initial) + [change.at for change in history.changes]
    signs = [1] * len(history.initial)
    signs += [1 if change.sign == "+" else -1 for change in history.changes]
    table = stream_table(schema, rows)
    table = table.append_column("_at", pa.array(at, pa.int64()))
    return table.append_column("_sign", pa.array(signs, pa.int8()))


def rows_of(block: Block) -> list[Row]:
    """The rows of a block as the reference evaluator holds them."""
    columns = [[canonical(value) for value in _plain(column)] for column in block.columns]
    return list(zip(*columns, strict=True)) if columns else [()] * len(block)


def _plain(column: pa.Array) -> list[Value]:
    if pa.types.is_date(column.type):
        column = column.cast(pa.int32())
    elif pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    return list(column.to_pylist())


def emissions(blocks: Iterable[Block]) -> list[Emission]:
    """The rows sent out, by instant; of one instant in the order they were made."""
    found = [
        Emission(int(at), row)
        for block in blocks
        for at, row in zip(block.ts, rows_of(block), strict=True)
    ]
    return sorted(found, key=lambda one: one.at)


def timeline(blocks: Iterable[Block]) -> Timeline:
    """The result at every instant: the sum of the signs of the elements valid then."""
    changes: dict[int, Bag] = {BEGINNING: Counter()}
    for block in blocks:
        for row, ts, te, sign in zip(rows_of(block), block.ts, block.te, block.signs, strict=True):
            changes.setdefault(int(ts), Counter())[row] += int(sign)
            changes.setdefault(int(te), Counter())[row] -= int(sign)
    starts, bags = [], []
    now: Bag = Counter()
    for at in sorted(changes):
        if at == INFINITY:
            break
        now = _sum(now, changes[at])
        starts.append(at)
        bags.append(now)
    return Timeline(starts, bags)


def _sum(bag: Bag, change: Mapping[Row, int]) -> Bag:
    """A bag after changes; a count below zero is kept, for a comparison to find."""
    total = Counter(bag)
    for row, copies in change.items():
        total[row] += copies
        if not total[row]:
            del total[row]
    return total
