"""Flow rules: for each kind of operator that runs, the rows it makes of those that come.

Values of columns are thought to be independent and equally frequent. That is seldom true; the
order in which plans come by it often is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from penstock.algebra.expressions import Column, columns_of
from penstock.algebra.patterns import Pattern
from penstock.errors import InternalError
from penstock.operators import source_specs as sources
from penstock.operators.aggregate import aggregate_specs as aggregates
from penstock.operators.flow import DIFFERENT_VALUES, Flow, present, united
from penstock.operators.join import join_specs as joins
from penstock.operators.output import output_specs as output
from penstock.operators.set import set_specs as sets
from penstock.operators.set.counted import Target
from penstock.operators.window import window_specs as windows
from penstock.planner.cost import join_flows as pairs
from penstock.planner.cost.selectivity import selectivity
from penstock.planner.physical.multi_join_spec import MultiJoinSpec
from penstock.planner.statistics.statistics import RELATION_ROWS, Statistics, endless_span

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.streams import Source
    from penstock.algebra.time import TimeUnit
    from penstock.operators.spec import Spec
    from penstock.planner.physical.graph import Node


@dataclass(frozen=True)
class EstimateContext:
    """An operator where it stands, and what is known there.

    Args:
        node: The operator.
        inputs: The rows that come.
        patterns: Their patterns.
        statistics: What was measured.
        unit: The unit of time.
        exchanged: The rows that other fragments send, by their names.
    """

    node: Node
    inputs: Sequence[Flow]
    patterns: Sequence[Pattern]
    statistics: Statistics
    unit: TimeUnit | None
    exchanged: Mapping[str, Flow]

    @property
    def spec(self) -> Any:
        """The operator as data."""
        return self.node.spec

    @property
    def first(self) -> Flow:
        """The rows of the only input, or the first one."""
        return self.inputs[0]

    @cached_property
    def endless_span(self) -> float:
        """Steps of time after which what never ends is looked at."""
        return endless_span(self.unit)

    def selectivity(self, condition: Expression, columns: Mapping[str, float]) -> float:
        """The share of rows, or of pairs, for which a condition over positions is TRUE."""
        predicate, known = self.node.predicate, self.statistics.selectivities
        if predicate is None or not known:
            return selectivity(condition, columns)
        names = {part: key for key, part in predicate.parts}
        if predicate.key is not None:
            names[condition] = predicate.key

        def measured(part: Expression) -> float | None:
            return known.get(names.get(part, ""))

        return selectivity(condition, columns, measured)

    def as_measured(self, name: str | None, assumed: Flow) -> Flow:
        """The rows that are sent for each row that comes first, if that was measured."""
        if name is None or name not in self.statistics.outputs:
            return assumed
        sent, withdrawn = self.statistics.outputs[name]
        share = self.statistics.selectivities.get(name)
        live = assumed.live if share is None else self.first.live * share
        came = self.first.sent
        return replace(assumed, rate=came * sent, withdrawn=came * withdrawn, live=live)


Rule = Callable[[EstimateContext], Flow]
NOTHING = Flow(0.0, 0.0, 0.0)


def _unchanged(at: EstimateContext) -> Flow:
    return at.first


def _beside_number(at: EstimateContext) -> Flow:
    """Rows with one more column, which tells them apart."""
    return replace(at.first, different=(*at.first.different, max(at.first.live, 1.0)))


def _stream(at: EstimateContext) -> Flow:
    source, known = at.spec.source, at.statistics
    rate = known.rate(source.name, source.time_unit)
    names = source.schema.names
    even = {
        n: known.even[source.name, c] for n, c in enumerate(names) if (source.name, c) in known.even
    }
    return Flow(rate, 0.0, rate * endless_span(source.time_unit), _values_of(source, known), even)


def _exchanged(at: EstimateContext) -> Flow:
    """Rows that another fragment sends; where nobody knows them, as many as of a stream."""
    source = at.spec.source
    if source.name in at.exchanged:
        return at.exchanged[source.name]
    if source.unit is None:
        return _changes(at)
    rate = at.statistics.rate(source.name, source.unit)
    return Flow(rate, 0.0, RELATION_ROWS, _values_of(source, at.statistics))


def _changes(at: EstimateContext) -> Flow:
    known = _values_of(at.spec.source, at.statistics)
    return Flow(RELATION_ROWS / at.endless_span, 0.0, RELATION_ROWS, known)


def _values_of(source: Source, known: Statistics) -> tuple[float, ...]:
    return tuple(known.different(source.name, one.name, one.type) for one in source.schema)


def _filtered(at: EstimateContext) -> Flow:
    return at.first.share(at.selectivity(at.spec.predicate, pairs.by_name([at.first])))


def _mapped(at: EstimateContext) -> Flow:
    """The same rows with other columns."""
    columns, rows = at.spec.columns, at.first
    even = {
        place: rows.even[int(one.name)]
        for place, one in enumerate(columns)
        if isinstance(one, Column) and int(one.name) in rows.even
    }
    return replace(rows, different=tuple(_values(one, rows) for one in columns), even=even)


def _values(expression: Expression, rows: Flow) -> float:
    """The number of values of an expression: as many as of its columns, at most."""
    return max((rows.different[int(one)] for one in columns_of(expression)), default=1.0)


def _time_window(at: EstimateContext) -> Flow:
    stay = at.spec.window.mean_stay
    return at.first if stay is None else replace(at.first, live=at.first.rate * stay)


def _rows_window(at: EstimateContext) -> Flow:
    live = at.spec.count * present(at.first.values(at.spec.partition_by), at.first.live)
    return replace(at.first, live=live, withdrawn=at.first.rate)


def _announced(at: EstimateContext) -> Flow:
    return replace(at.first, withdrawn=at.first.rate)


def _stays(at: EstimateContext) -> Flow:
    """Rows that are never withdrawn, and stay for ever."""
    return replace(at.first, withdrawn=0.0, live=at.first.rate * at.endless_span)


def _attached(at: EstimateContext) -> Flow:
    """Rows made of others, for as long as these: numbers come first, then what was made."""
    elements, made = at.inputs
    share = made.rate / max(elements.rate, 1e-9)
    found = replace(made, live=elements.live * share, withdrawn=elements.withdrawn * share)
    return replace(found, different=made.different[:-1], even={})


def _distinct(at: EstimateContext) -> Flow:
    """Each value with its first row; and again, with a later end, when that has come.

    About once in the time for which rows live.
    """
    rows = at.first
    there = present(rows.values(range(len(rows.different))), rows.live)
    rate = rows.rate * min(there / max(rows.live, 1e-9), 1.0)
    found = Flow(rate, 0.0, there, rows.different, rows.even)
    return at.as_measured(at.node.made_of, found)


def _counted(at: EstimateContext) -> Flow:
    target, withdraws = at.spec.counting.target, at.node.pattern is Pattern.STR
    left, right = at.inputs[0], at.inputs[-1]
    match target:
        case Target.DISTINCT:
            return at.as_measured(at.node.made_of, _distinct_counted(left))
        case Target.INTERSECTION | Target.MAX_UNION:
            found = left.share(0.5) if target is Target.INTERSECTION else united([left, right])
            return replace(found, withdrawn=found.rate) if withdraws else found
        case Target.DIFFERENCE | Target.STRICT_DIFFERENCE:
            # Left rows are counted, and each right row is one that changes them.
            return replace(left, rate=left.rate + right.rate, withdrawn=left.withdrawn + right.rate)
    msg = f"nobody has said how many rows there are of {target.name}"
    raise InternalError(msg)


def _distinct_counted(rows: Flow) -> Flow:
    """A value comes with its first row, and goes with its last."""
    values = rows.values(range(len(rows.different)))
    there = present(values, rows.live)
    new = 1 - there / values if values else 0.0
    return Flow(rows.rate * new, rows.withdrawn * new, there, rows.different, rows.even)


def _grouped(at: EstimateContext) -> Flow:
    """Each row that comes or goes changes the row of its group."""
    rows, changes = at.first, 2 * at.first.rate
    keys = tuple(_values(one, rows) for one in at.spec.keys)
    groups = 1.0
    if keys:
        whole = Flow(0.0, 0.0, 0.0, keys)
        groups = present(whole.values(range(len(keys))), rows.live)
    calls = (max(groups, 1.0),) * len(at.spec.calls)
    return at.as_measured(at.node.made_of, Flow(changes, changes, groups, (*keys, *calls)))


def _joined(at: EstimateContext) -> Flow:
    share = pairs.share_of(at.spec.left, at.spec.right, at.inputs)
    meeting = at.node.meeting
    if meeting is not None and meeting.of_pairs:
        share = at.statistics.selectivities.get(meeting.condition, share)
    left, right = at.inputs
    found = pairs.joined(left, right, share * residual_share(at))
    if meeting is not None and not meeting.of_pairs:
        return at.as_measured(meeting.condition, found)
    return found


def residual_share(at: EstimateContext) -> float:
    """The share of the pairs with equal keys that satisfy what else a join asks for."""
    if at.spec.residual is None:
        return 1.0
    return at.selectivity(at.spec.residual, pairs.by_name(at.inputs))


def _padded(at: EstimateContext) -> Flow:
    spec, (left, right) = at.spec, at.inputs
    share = pairs.share_of(spec.left, spec.right, at.inputs)
    return pairs.padded(left, right, share, spec.padded)


def _uncovered(at: EstimateContext) -> Flow:
    left, covered = at.inputs
    share = pairs.share_of(at.spec.left, at.spec.coverage, at.inputs)
    alone = 1 - min(share * covered.live, 1.0)
    assumed = pairs.unmatched(left, covered, share, alone)
    return at.as_measured(None if at.node.meeting is None else at.node.meeting.condition, assumed)


def _read(at: EstimateContext) -> Flow:
    """Each row meets a relation once; what changes there later is nothing to it."""
    spec, (left, right) = at.spec, at.inputs
    share = pairs.share_of(spec.stream, spec.relation, at.inputs) * residual_share(at)
    match spec.mode:
        case "semi":
            return left.share(1 - pairs.alone(right, share))
        case "anti":
            return left.share(pairs.alone(right, share))
        case "aggregate":
            calls = (DIFFERENT_VALUES,) * len(spec.totals.calls)
            return replace(left, different=(*left.different, *calls))
    beside = pairs.joined(left, right, share)
    found = left.share(right.live * share)
    return replace(found, different=beside.different, even=beside.even)


def _first_rows(at: EstimateContext) -> Flow:
    """The first rows of each group; one that comes pushes another out."""
    rows, spec = at.first, at.spec
    groups, limit = 1.0, spec.order.limit
    if spec.partition_by:
        keys = tuple(_values(one, rows) for one in spec.partition_by)
        groups = present(Flow(0.0, 0.0, 0.0, keys).values(range(len(keys))), rows.live)
    live = rows.live if limit is None else min(rows.live, groups * limit)
    share = live / max(rows.live, 1e-9)
    moved = min(share * (limit or 1), limit or 1) if spec.is_numbered else share
    withdrawn = (rows.rate + rows.withdrawn) * moved
    return replace(rows, rate=rows.rate * moved, withdrawn=withdrawn, live=live)


def _hopping(at: EstimateContext) -> Flow:
    """Each row in each of its windows, with their bounds in columns of their own."""
    window, rows = at.spec.window, _time_window(at)
    each = (max(window.copies, 1.0),) * len(window.added)
    copied = replace(rows, rate=rows.rate * window.copies, live=rows.live * window.copies)
    return replace(copied, different=(*rows.different, *each))


def _boundaries(at: EstimateContext) -> Flow:
    """Begins and ends of rows; the ends of what counts rows are told when they have come."""
    known = [one for one, how in zip(at.inputs, at.patterns, strict=True) if how is Pattern.WKS]
    return Flow(united(at.inputs).sent, 0.0, sum(one.live for one in known))


def _row_slides(at: EstimateContext) -> Flow:
    groups = present(at.first.values(at.spec.partition_by), at.first.live)
    return Flow(at.first.rate / at.spec.slide, 0.0, groups)


RULES: Mapping[type[Spec], Rule] = {
    sources.StreamSpec: _stream,
    sources.ExchangeSpec: _exchanged,
    sources.ChangesSpec: _changes,
    sources.UnionSpec: lambda at: united(at.inputs),
    sources.FilterSpec: _filtered,
    sources.MapSpec: _mapped,
    sets.RelationSpec: _unchanged,
    sets.DistinctSpec: _distinct,
    sets.CountedSpec: _counted,
    sets.ChangedSpec: _stays,
    windows.TimeWindowSpec: _time_window,
    windows.HoppingWindowSpec: _hopping,
    windows.RowsWindowSpec: _rows_window,
    windows.ByValueSpec: _unchanged,
    windows.NumberSpec: _beside_number,
    windows.AttachedSpec: _attached,
    windows.EndsToColumnSpec: _beside_number,
    windows.EndsFromColumnSpec: lambda at: replace(at.first, different=at.first.different[:-1]),
    windows.DropEndsSpec: _stays,
    joins.JoinSpec: _joined,
    joins.OuterJoinSpec: _padded,
    joins.AntiJoinSpec: _uncovered,
    joins.ReadOnArrivalSpec: _read,
    MultiJoinSpec: lambda at: pairs.joined_many(at.inputs, at.spec.model),
    aggregates.AggregateSpec: _grouped,
    aggregates.CombineSpec: _grouped,
    output.AnnouncedEndsSpec: _announced,
    output.CutSpec: _unchanged,
    output.FinalSpec: lambda at: replace(at.first, withdrawn=0.0),
    output.FirstRowsSpec: _first_rows,
    output.WholeResultSpec: _stays,
    output.RestoredResultSpec: _stays,
    output.NextInstantSpec: _stays,
    output.BoundariesSpec: _boundaries,
    output.TimeSlidesSpec: lambda at: Flow(1 / at.spec.slide, 0.0, 0.0),
    output.RowSlidesSpec: _row_slides,
}
"""The rows that each operator makes."""
