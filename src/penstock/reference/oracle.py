"""The reference evaluator: the result of any logical plan over finite inputs, by definition.

Every relation is a step function of time; an operator's result at an instant is its relational
definition (`snapshots`) on what its inputs hold then. Windows (`windows`) and relation-to-stream
operators (`emissions`) have files of their own; how they meet is here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.failures import Failures
from penstock.algebra.time import INFINITY, round_up
from penstock.algebra.values import row_key
from penstock.algebra.windows import Rows, Unbounded
from penstock.reference import emissions as emit
from penstock.reference.inputs import (
    Arrival,
    Inputs,
    RelationHistory,
    arrivals_of,
    relation_elements,
)
from penstock.reference.snapshots import Definitions
from penstock.reference.timeline import (
    Element,
    Emission,
    Origin,
    Row,
    Snapshot,
    Steps,
    Tagged,
    Timeline,
    arrival_of,
    in_order,
)
from penstock.reference.windows import windowed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.algebra.plan import Plan
    from penstock.algebra.windows import WindowSpec


class Oracle:
    """Evaluates plans over one set of inputs.

    >>> from penstock.builder import stream
    >>> speeds = stream("speeds", "ts BIGINT, speed DOUBLE", time="ts")
    >>> plan = speeds.range(10).aggregate(average="AVG(speed)").plan
    >>> oracle = Oracle(Inputs(streams={"speeds": [(1, 20.0), (4, 10.0)]}))
    >>> [(at, *oracle.timeline(plan).at(at)) for at in (0, 1, 4, 11, 14)]
    [(0, (None,)), (1, (20.0,)), (4, (15.0,)), (11, (10.0,)), (14, (None,))]
    """

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self.failures = Failures()
        self._definitions = Definitions(self.failures)
        self._known: dict[int, tuple[Plan, Steps]] = {}

    def timeline(self, plan: Plan) -> Timeline:
        """The result at every instant; of a stream, all rows so far."""
        return Timeline.of_steps(self.steps(plan))

    def answer(self, plan: Plan, instant: int) -> list[Row]:
        """The rows that a question about an instant is answered with.

        What holds then, in the order of an ORDER BY or of the values; of a query that sends out
        rows, those that it sends at that instant, in their order.
        """
        if isinstance(plan, st.RelationToStream):
            return [one.row for one in self.emissions(plan) if one.at == instant]
        if st.is_ordered(plan):
            return [one.row for one in self.steps(plan).at(instant)]
        return in_order(self.timeline(plan).at(instant))

    def emissions(self, plan: st.RelationToStream) -> list[Emission]:
        """The rows that ISTREAM and its kin send out, in order."""
        if isinstance(plan, st.IStream | st.RStream) and plan.restore:
            return self._restored(plan)
        if isinstance(plan, st.IStream):
            return emit.istream(self.timeline(plan.child))
        if isinstance(plan, st.DStream):
            return emit.dstream(self.timeline(plan.child))
        slide = st.slide_sent(plan)
        instants = self._slides(plan.child, slide) if slide else self._boundaries(plan.child)
        ordered = st.is_ordered(plan.child)
        return emit.rstream(self.steps(plan.child), list(instants), ordered=ordered)

    def _restored(self, plan: st.IStream | st.RStream) -> list[Emission]:
        """RESTORE: with what entered the query without SLIDEs since the slide before."""
        plain = self.timeline(st.without_slides(plan.child))
        slide = st.slide_sent(plan)
        slides = list(self._slides(plan.child, slide))
        if slide is not None and slide.time_slide:
            step = slide.time_slide
            entered = emit.entered(plain, lambda instant: round_up(instant, step))
        else:
            entered = emit.entered(plain, lambda instant: _first_from(slides, instant))
        if isinstance(plan, st.IStream):
            return emit.istream_restore(entered)
        # A row too short-lived for a slide may lie beyond the last moved interval.
        first = self._first_slide(plan.child, slide)
        later = [at for at in entered if first is not None and at >= first]
        return emit.rstream_restore(plain, sorted({*slides, *later}), entered)

    def steps(self, plan: Plan) -> Steps:
        """The step function of a plan; each plan object is evaluated once."""
        # Keyed by identity: hashing a plan walks it, and shared subplans are the same object.
        if id(plan) not in self._known:
            self._known[id(plan)] = (plan, self._evaluate(plan))
        return self._known[id(plan)][1]

    def _evaluate(self, plan: Plan) -> Steps:
        match plan:
            case st.Window() | st.Stream() | st.RelationToStream():
                return Steps.of_elements(self._elements(plan))
            case st.Relation():
                return Steps.of_elements(relation_elements(plan, self.inputs))
            case st.Internal():
                return Steps.of_elements(self._appended(plan))
            case op.OnArrival():
                left = self.steps(plan.reading.left)
                return Steps(
                    left.starts, [self._read_on_arrival(plan, rows) for rows in left.snapshots]
                )
        inputs = [self.steps(child) for child in plan.children]
        starts = sorted({start for one in inputs for start in one.starts})
        snapshots = [
            self._definitions.apply(plan, [one.at(start) for one in inputs]) for start in starts
        ]
        return Steps(starts, snapshots)

    def _read_on_arrival(self, plan: op.OnArrival, rows: Snapshot) -> Snapshot:
        """The operator applied to each row and the relation as it was when the row arrived."""
        relation = self.steps(plan.reading.right)
        return [
            result
            for row in rows
            for result in self._definitions.apply(
                plan.reading, [[row], relation.at(arrival_of(row))]
            )
        ]

    def _elements(self, window: Plan) -> list[Element]:
        """The elements of an input window; a bare stream is UNBOUNDED."""
        if isinstance(window, st.Window):
            return windowed(window.spec, self._arrivals(window.child), window.child.schema)
        return windowed(Unbounded(), self._arrivals(window), window.schema)

    def _arrivals(self, plan: Plan) -> list[Arrival]:
        """The elements of a stream in (ts, seq) order; of a derived one in (ts, row) order."""
        if isinstance(plan, st.Stream):
            return arrivals_of(plan, self.inputs)
        if st.is_stream(plan) and not isinstance(plan, st.RelationToStream):
            return self._carried(plan)
        derived = (
            self.emissions(plan)
            if isinstance(plan, st.RelationToStream)
            else emit.istream(self.timeline(plan))
        )
        derived.sort(key=lambda one: (one.at, row_key(one.row)))
        return [Arrival(one.at, one.row) for one in derived]

    def _carried(self, plan: Plan) -> list[Arrival]:
        """Filters and maps on a stream: rows keep their positions."""
        if isinstance(plan, st.Window):
            return [Arrival(one.start, one.row.row) for one in self._elements(plan)]
        child = plan.reading.left if isinstance(plan, op.OnArrival) else plan.children[0]
        return [
            Arrival(arrival.at, row)
            for arrival in self._arrivals(child)
            for row in self._carried_rows(plan, arrival)
        ]

    def _carried_rows(self, plan: Plan, arrival: Arrival) -> list[Row]:
        """The rows that one row of a stream becomes; several are ordered by value."""
        one = Tagged(arrival.row, (Origin(arrival.at, 0),))
        if isinstance(plan, op.OnArrival):
            found = self._read_on_arrival(plan, [one])
        else:
            found = self._definitions.apply(plan, [[one]])
        return sorted((made.row for made in found), key=row_key)

    def _appended(self, plan: st.Internal) -> list[Element]:
        """The elements that INTERNAL windows let into the result, each for ever."""
        if plan.appends == "insertions":
            rows = emit.istream(self.timeline(plan.child))
        elif plan.appends == "slides":
            rows = emit.rstream(
                self.steps(plan.child),
                list(self._slides(plan.child, st.slide_sent(plan))),
                ordered=False,
            )
        else:
            return self._combinations(plan.child)
        return [
            Element(Tagged(one.row, (Origin(one.at, position),)), one.at, INFINITY)
            for position, one in enumerate(rows)
        ]

    def _combinations(self, plan: Plan) -> list[Element]:
        """Each combination of input elements, from when it first exists."""
        steps = self.steps(plan)
        first_seen: dict[Tagged, int] = {}
        for start, snapshot in zip(steps.starts, steps.snapshots, strict=True):
            for combination in snapshot:
                first_seen.setdefault(combination, start)
        return [Element(one, start, INFINITY) for one, start in first_seen.items()]

    def _boundaries(self, plan: Plan) -> list[int]:
        """Instants at which an element of an input window begins or ends, or a relation changes."""
        windows = list(st.input_windows(plan))
        relations = [one for one in _nodes(plan) if isinstance(one, st.Relation)]
        elements = [element for window in windows for element in self._elements(window)]
        instants = {at for element in elements for at in (element.start, element.end)}
        for relation in relations:
            history = self.inputs.relations.get(relation.name, RelationHistory())
            instants.update(change.at for change in history.changes)
        return sorted(instants - {INFINITY})

    def _slides(self, plan: Plan, slide: WindowSpec | None) -> Iterator[int]:
        """The instants at which a periodic query is evaluated."""
        windows = list(st.input_windows(plan))
        if isinstance(slide, Rows):
            # Sliding by rows, intervals begin and end only where a slide is complete. A plan that
            # was rewritten may have the one window of the query several times.
            window, *_ = windows
            yield from self._row_slides(window, slide)
        elif slide is not None and slide.time_slide:
            moved = [element for window in windows for element in self._elements(window)]
            ends = [at for one in moved for at in (one.start, one.end) if at < INFINITY]
            first = self._first_slide(plan, slide)
            if ends and first is not None:
                yield from range(first, max(ends) + 1, slide.time_slide)

    def _first_slide(self, plan: Plan, slide: WindowSpec | None) -> int | None:
        """The first slide at or after the first row of any input."""
        step = (slide and slide.time_slide) or 1
        windows = st.input_windows(plan)
        arrived = [one.at for window in windows for one in self._arrivals(window.children[0])]
        return round_up(min(arrived), step) if arrived else None

    def _row_slides(self, window: Plan, slide: Rows) -> Iterator[int]:
        """The times of the rows numbered m, 2m, ... of each partition."""
        (child,) = window.children
        indexes = [child.schema.names.index(name) for name in slide.partition_by]
        counts: dict[tuple[object, ...], int] = {}
        seen = set()
        for arrival in self._arrivals(child):
            key = tuple(arrival.row[index] for index in indexes)
            counts[key] = counts.get(key, 0) + 1
            if counts[key] % (slide.slide or 1) == 0:
                seen.add(arrival.at)
        yield from sorted(seen)


def _first_from(slides: list[int], instant: int) -> int | None:
    """The first slide at or after an instant, if there is one yet."""
    return next((slide for slide in slides if slide >= instant), None)


def _nodes(plan: Plan) -> Iterator[Plan]:
    """The operators of this query, not of those that make its input streams."""
    yield plan
    if not isinstance(plan, st.Window | st.RelationToStream):
        for child in plan.children:
            yield from _nodes(child)
