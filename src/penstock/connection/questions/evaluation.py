"""The evaluation of a question: retained rows through the operators of the query, once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.plan import different_nodes
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.connection.questions.one_step import Held, in_one_step
from penstock.connection.questions.part_totals import PartTotals, with_part_totals
from penstock.connection.questions.piece_work import PieceWork, merged
from penstock.connection.questions.retained_reading import newest, require_within, rows_of
from penstock.connection.questions.scans import PieceScan, with_scans
from penstock.operators.block import Block, arriving, concatenated, empty_block
from penstock.planner.optimizing import plans_to_run
from penstock.planner.partition.partitioning import common_partitioning
from penstock.planner.physical.lowering import operator_graph
from penstock.planner.reach import lists_slides
from penstock.results.settling import ChangingContent, SentElements
from penstock.runtime.lanes import Lanes
from penstock.store.sub_windows.piece import MemoryPiece, table_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from penstock.algebra.plan import Plan
    from penstock.connection.questions.coverage import NeededRows
    from penstock.connection.questions.piece_work import PieceReader
    from penstock.planner.physical.building import Choices
    from penstock.store.sub_windows.piece import Piece

ASKED = "question"
"""The name under which a question runs."""


@dataclass(frozen=True)
class PieceReading:
    """The pieces of a stream that a question reads.

    Attributes:
        stream: The stream.
        work: What is made of each.
        pieces: Those that may have rows.
        known: How many there are in all.
    """

    stream: str
    work: PieceWork
    pieces: tuple[Piece, ...]
    known: int

    @property
    def rows(self) -> int:
        """The rows in these pieces."""
        return sum(one.rows for one in self.pieces)


@dataclass(frozen=True)
class ByPieces:
    """A question over what is made of pieces: its plan, and the readings by names in it."""

    plan: Plan
    readings: dict[str, PieceReading]


class Evaluation:
    """A question with all that it reads.

    Args:
        plan: What is asked, without an order.
        instant: About when.
        stretches: The rows of streams that it needs.
        relations: The changes of relations, and the contents of queries that it reads as such.
        choices: How its operators run.
        limit: The bytes that it may read of a stream; None: any number.
        clock: All is final before this; INFINITY: the input has come to its end.
        reader: Whoever reads pieces.
    """

    def __init__(
        self,
        plan: Plan,
        instant: int,
        stretches: Mapping[str, NeededRows],
        relations: Mapping[str, Block],
        choices: Choices,
        limit: int | None,
        clock: int,
        reader: PieceReader,
    ) -> None:
        self._plan = plan.child if isinstance(plan, op.Final) else plan
        # Nothing is dated with the ends of time.
        self._instant = min(max(instant, BEGINNING + 1), INFINITY - 1)
        self._stretches = stretches
        self._relations = relations
        self._choices = choices
        self._limit = limit
        self._clock = clock
        self._reader = reader

    def columns(self) -> tuple[pa.Array, ...]:
        """The columns of the answer: rows in the order of their values, or as they were sent.

        Raises:
            DataError: A file of retained rows is missing or damaged.
            Refused: More would be read than is allowed.
        """
        direct = self.by_pieces()
        if direct is None:
            # Whether a slide is shown depends on the rows that come after it.
            end = self._clock - 1 if lists_slides(self._plan) else self._instant
            rows = {name: self._read(one, one.start, end) for name, one in self._stretches.items()}
            return self._answer(self._plan, rows, self._relations, end + 1)
        rows = {name: self._rows(one) for name, one in direct.readings.items()}
        return self._computed(direct.plan, rows, self._known_then(), self._instant + 1)

    def by_pieces(self) -> ByPieces | None:
        """The question over what is made of pieces; None if it cannot be computed so.

        Raises:
            DataError: A file of retained rows is missing or damaged.
            Refused: More would be read than is allowed.
        """
        direct = in_one_step(self._plan, self._instant)
        if direct is None:
            return None
        plan, held = direct
        running = plans_to_run({ASKED: plan}, choices=self._choices)[ASKED]
        scans: dict[str, PieceScan] = {}
        running = with_scans(running, scans)
        totals: dict[str, PartTotals] = {}
        running = with_part_totals(running, totals)
        read = {node.name for node in different_nodes(running) if isinstance(node, st.Stream)}
        readings = {}
        for name in sorted(read & (totals.keys() | scans.keys())):
            scan = scans[totals[name].stream if name in totals else name]
            readings[name] = self._reading(scan, held[scan.stream.name], totals.get(name))
        return ByPieces(running, readings)

    def _reading(self, scan: PieceScan, held: Held, totals: PartTotals | None) -> PieceReading:
        """The pieces with rows that a window holds, and what is made of them."""
        stretch = self._stretches[held.stream.name]
        start = max(held.start, stretch.start)
        if held.newest is None:
            require_within(stretch.stream, start, held.end, self._limit)
            pieces = [piece for one in stretch.stream.sub_windows for piece in one.pieces]
        else:
            block = newest(self._read(stretch, start, held.end), held.newest)
            pieces = [MemoryPiece(table_of(block, stretch.schema))] if len(block) else []
        chosen = scan.chosen(pieces, start, held.end)
        work = PieceWork(scan, start, held.end, totals)
        return PieceReading(held.stream.name, work, tuple(chosen), len(pieces))

    def _rows(self, reading: PieceReading) -> Block:
        """The rows that are made of pieces, all of them at the instant."""
        columns = merged(self._reader.read(reading.work, reading.pieces), reading.work)
        return arriving(columns, np.full(len(columns[0]), self._instant, np.int64))

    def _read(self, stretch: NeededRows, start: int, end: int) -> Block:
        require_within(stretch.stream, start, end, self._limit)
        return rows_of(stretch.stream, stretch.schema, start, end)

    def _known_then(self) -> dict[str, Block]:
        """The changes of relations up to the instant, as if all were there from the beginning."""
        return {
            name: replace(due, ts=np.full(len(due), BEGINNING, np.int64))
            for name, block in self._relations.items()
            for due in [block.take(block.ts <= self._instant)]
        }

    def _answer(
        self,
        plan: Plan,
        rows: Mapping[str, Block],
        relations: Mapping[str, Block],
        reached: int,
    ) -> tuple[pa.Array, ...]:
        running = plans_to_run({ASKED: plan}, choices=self._choices)[ASKED]
        return self._computed(running, rows, relations, reached)

    def _computed(
        self,
        plan: Plan,
        rows: Mapping[str, Block],
        relations: Mapping[str, Block],
        reached: int,
    ) -> tuple[pa.Array, ...]:
        """The columns that the operators of a plan make of rows and changes, up to an instant."""
        graph = operator_graph({ASKED: plan}, self._choices)
        lanes = Lanes(graph, common_partitioning([plan]))
        sources = {**rows, **relations}
        fed = {
            name: sources.get(name, empty_block(source.schema))
            for name, (source, _) in {**graph.streams, **graph.relations}.items()
        }
        clock = self._instant + 1
        found = lanes.feed(fed, dict.fromkeys(fed, reached)).blocks.get(ASKED, [])
        if isinstance(self._plan, st.RelationToStream):
            return self._sent(found, clock)
        node = graph.nodes[graph.results[ASKED]]
        content = ChangingContent(list(node.arrow_types), node.span, self._choices.queue_partitions)
        content.take_in(found, clock)
        return content.current()

    def _sent(self, blocks: list[Block], clock: int) -> tuple[pa.Array, ...]:
        """The rows that are sent out at the instant."""
        nothing = empty_block(self._plan.schema)
        sent = SentElements().take_in([concatenated([nothing, *blocks])], clock)
        return nothing.columns if sent is None else sent.take(sent.ts == self._instant).columns
