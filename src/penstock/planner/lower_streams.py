"""Block operators for streams, relations and windows, and for what a query sends out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.patterns import Pattern
from penstock.algebra.time import INFINITY
from penstock.algebra.windows import Fixed, Now, Range, Rows, WindowSpec
from penstock.operators.counted import Target
from penstock.operators.forever import Forever
from penstock.operators.instants import Boundaries, RowSlides, TimeSlides
from penstock.operators.negative import AnnouncedEnds
from penstock.operators.restored import NextInstant, RestoredResult
from penstock.operators.rows_window import RowsWindow
from penstock.operators.rstream import WholeResult
from penstock.operators.set_operations import InsertedRows, RemovedRows
from penstock.operators.sources import InOrder, Passing, RelationRows
from penstock.operators.stateless import Map
from penstock.operators.time_windows import TimeWindow
from penstock.planner import lower_internal as internal
from penstock.planner import lower_rows as rows
from penstock.planner.building import evaluators
from penstock.planner.conditions import positional
from penstock.planner.graph import Lineage, positions
from penstock.planner.partition_search import empties

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.plan import Plan
    from penstock.compute.failures import Failures
    from penstock.planner.building import Building
    from penstock.planner.lowering import Lowering


def stream_node(building: Building, plan: st.Stream) -> int:
    """Where the rows of a stream enter."""
    number = building.add(
        ("stream", plan.name),
        [],
        lambda _: InOrder(),
        label=plan.label(),
        types=plan.schema.types,
        pattern=Pattern.MON,
    )
    building.graph.streams[plan.name] = (plan, number)
    return number


def exchanged_node(building: Building, plan: st.Exchanged) -> int:
    """Where the rows of another fragment enter; they are what results are."""
    number = building.add(
        ("exchange", plan.name),
        [],
        lambda _: Passing(),
        label=plan.label(),
        types=plan.schema.types,
        pattern=plan.pattern,
        span=plan.span,
    )
    building.graph.exchanges[plan.name] = (plan, number)
    return number


def changes_node(building: Building, plan: st.Relation) -> int:
    """Where the changes of a relation enter."""
    number = building.add(
        ("changes", plan.name),
        [],
        lambda _: Passing(),
        label=f"Changes of {plan.name}",
        types=plan.schema.types,
        pattern=Pattern.STR,
    )
    building.graph.relations[plan.name] = (plan, number)
    return number


def relation_node(building: Building, plan: st.Relation) -> int:
    """A relation, as the net of its changes."""
    changes = changes_node(building, plan)
    make = rows.counted_rows(building, [changes], Target.COPIES)
    return building.add(
        "relation",
        [changes],
        lambda _: RelationRows(make(), plan.name),
        label=plan.label(),
        types=plan.schema.types,
        pattern=Pattern.STR,
        lineage=building.passed([changes]),
    )


def window_node(lowering: Lowering, plan: st.Window, *, announced: bool = True) -> int:
    """A window; with the negative strategy, with a negative row for each end."""
    building = lowering.building
    if isinstance(plan.spec, Rows):
        return rows_window_node(building, lowering.arranged(plan.child), plan)
    window = time_window_node(building, lowering.lower(plan.child), plan.spec, plan.label())
    return announced_node(building, window) if announced else window


def time_window_node(building: Building, child: int, spec: WindowSpec, label: str) -> int:
    """A window over time on the rows of a stream."""
    pattern = Pattern.MON if never_ends(spec) else Pattern.WKS
    return _moved_node(building, child, spec, label, pattern)


def _moved_node(
    building: Building, child: int, spec: WindowSpec, label: str, pattern: Pattern
) -> int:
    """The rows of a stream with the intervals of a window."""
    node = building.node(child)
    return building.add(
        ("window", spec),
        [child],
        lambda _: TimeWindow(spec),
        label=label,
        types=node.types,
        pattern=pattern,
        span=_span(spec),
        lineage=building.passed([child]),
    )


def never_ends(spec: WindowSpec) -> bool:
    """Whether rows in the window stay for ever."""
    return not isinstance(spec, Range | Fixed | Now | Rows)


def _span(spec: WindowSpec) -> int:
    """How long a row lives at most, about."""
    match spec:
        case Range(length, slide):
            return min(length + (slide or 0), INFINITY)
        case Fixed(length):
            return min(length, INFINITY)
    return 1


def announced_node(building: Building, child: int) -> int:
    """With the negative strategy, negative rows in the place of known ends."""
    node = building.node(child)
    if building.choices.strategy != "negative" or node.pattern in (Pattern.MON, Pattern.STR):
        return child
    partitions = building.choices.queue_partitions
    return building.add(
        "announced",
        [child],
        lambda _: AnnouncedEnds(node.arrow_types, node.pattern, node.span, partitions),
        label="Announced ends",
        types=node.types,
        pattern=Pattern.STR,
        lineage=building.passed([child]),
    )


def rows_window_node(
    building: Building, child: int, plan: st.Window, *, tell_vanished: bool = False
) -> int:
    """A window that counts rows."""
    spec = plan.spec
    assert isinstance(spec, Rows)
    node = building.node(child)
    partition_by = tuple(plan.child.schema.names.index(name) for name in spec.partition_by)
    return building.add(
        ("rows", spec.count, spec.slide, partition_by, tell_vanished),
        [child],
        lambda _: RowsWindow(node.arrow_types, spec, partition_by, tell_vanished=tell_vanished),
        label=plan.label(),
        types=node.types,
        pattern=Pattern.STR,
        lineage=building.passed([child]),
    )


def internal_node(lowering: Lowering, plan: st.Internal) -> int:
    """INTERNAL windows: what is appended stays."""
    building = lowering.building
    if plan.appends == "insertions":
        return inserted_node(lowering, plan.child)
    if plan.appends == "slides":
        return whole_node(lowering, plan)
    again = internal.lets_in_again(plan.child)
    child = (
        internal.first_combinations_node(lowering, plan.child)
        if again
        else lowering.lower(plan.child)
    )
    return building.add(
        "forever",
        [child],
        lambda _: Forever(),
        label=plan.label(),
        types=building.node(child).types,
        pattern=Pattern.MON,
        lineage=building.passed([child]),
    )


def emitted_node(lowering: Lowering, plan: st.RelationToStream) -> int:
    """ISTREAM, DSTREAM, RSTREAM."""
    match plan:
        case st.IStream(restore=True) | st.RStream(restore=True):
            return restored_node(lowering, plan)
        case st.IStream():
            return inserted_node(lowering, plan.child)
        case st.RStream():
            return whole_node(lowering, plan)
    return changed_node(lowering, plan.child, RemovedRows, "DStream")


def inserted_node(lowering: Lowering, plan: Plan) -> int:
    """What enters a result; where nothing ever leaves, that is the result."""
    child = lowering.lower(plan)
    if lowering.building.node(child).pattern is Pattern.MON:
        return child
    return changed_node(lowering, plan, InsertedRows, "IStream")


def changed_node(lowering: Lowering, plan: Plan, kind: type[InsertedRows], label: str) -> int:
    """What enters or leaves a result, netted."""
    building = lowering.building
    child = lowering.lower(plan)
    make = rows.counted_rows(building, [child], Target.COPIES)
    return building.add(
        ("changed", label),
        [child],
        lambda _: kind(make(), 1),
        label=label,
        types=building.node(child).types,
        pattern=Pattern.MON,
        lineage=building.passed([child]),
    )


def whole_node(lowering: Lowering, sender: st.RStream | st.Internal) -> int:
    """All of a result at its instants, in order if it has one."""
    building = lowering.building
    plan, label = sender.child, sender.label()
    maps: list[op.Map] = []
    result = plan
    if st.is_ordered(plan):
        while isinstance(result, op.Map):
            maps.insert(0, result)
            result = result.child
    sort = result if isinstance(result, op.Sort) else None
    child = lowering.lower(plan if sort is None else sort.child)
    make = rows.counted_rows(building, [child], Target.COPIES)
    inputs = [child, instants_node(lowering, sender)]
    if sort is None:
        return building.add(
            "whole",
            inputs,
            lambda _: WholeResult(make(), None),
            label=label,
            types=building.node(child).types,
            pattern=Pattern.MON,
            lineage=_of_first(building, inputs),
        )
    makers = [_map_maker(one) for one in maps]
    ordering = rows.ordering_of(building, child, sort, makers)
    return building.add(
        ("whole", sort.label(), tuple(one.label() for one in maps), child),
        inputs,
        lambda failures: WholeResult(make(), ordering(failures)),
        label=label,
        types=plan.schema.types,
        pattern=Pattern.MON,
    )


def _map_maker(plan: op.Map) -> Callable[[Failures], Map]:
    columns = [positional(one.expression, plan.child.schema) for one in plan.columns]
    compiled = evaluators(columns, positions(plan.child.schema.types))
    return lambda failures: Map(compiled, failures)


def instants_node(lowering: Lowering, sender: st.RelationToStream | st.Internal) -> int:
    """The instants at which the whole result of a query is sent out."""
    slide, plan = st.slide_sent(sender), sender.child
    if isinstance(slide, Rows):
        return _row_slides(lowering, plan, slide)
    if isinstance(slide, Range) and slide.slide:
        return _time_slides(lowering, plan, slide.slide)
    building = lowering.building
    windows = [_elements(lowering, window) for window in st.input_windows(plan)]
    relations = [changes_node(building, one) for one in _relations(plan)]
    inputs = list(dict.fromkeys([*windows, *relations]))
    span = max((building.node(one).span for one in inputs), default=1)
    partitions = building.choices.queue_partitions
    return building.add(
        "boundaries",
        inputs,
        lambda _: Boundaries(len(inputs), span, partitions),
        label="Boundaries",
        types=(),
        pattern=Pattern.MON,
    )


def _elements(lowering: Lowering, window: Plan) -> int:
    """The elements of an input window, with their ends where these are known."""
    if isinstance(window, st.Window):
        return window_node(lowering, window, announced=False)
    return lowering.lower(window)


def _relations(plan: Plan) -> list[st.Relation]:
    """The relations of this query, not of those that make its input streams."""
    if isinstance(plan, st.Relation):
        return [plan]
    if isinstance(plan, st.Window | st.RelationToStream):
        return []
    return [relation for child in plan.children for relation in _relations(child)]


def _time_slides(lowering: Lowering, plan: Plan, slide: int) -> int:
    windows = list(st.input_windows(plan))
    arrivals = _arrivals(lowering, plan)
    elements = list(dict.fromkeys(_elements(lowering, one) for one in windows))
    skips = empties(plan)
    return lowering.building.add(
        ("slides", slide, len(arrivals), skips),
        [*arrivals, *elements],
        lambda _: TimeSlides(slide, len(arrivals), len(elements), skips=skips),
        label=f"Slides of {slide}",
        types=(),
        pattern=Pattern.MON,
    )


def _arrivals(lowering: Lowering, plan: Plan) -> list[int]:
    """The streams under the windows of a query, each once."""
    windows = st.input_windows(plan)
    return list(dict.fromkeys(lowering.lower(one.children[0]) for one in windows))


def _row_slides(lowering: Lowering, plan: Plan, slide: Rows) -> int:
    building = lowering.building
    # A rewritten plan may have the one window of the query several times.
    window, *_ = st.input_windows(plan)
    child = lowering.arranged(window.children[0])
    node = building.node(child)
    step = slide.slide or 1
    names = window.children[0].schema.names
    partition_by = tuple(names.index(name) for name in slide.partition_by)
    return building.add(
        ("row slides", step, partition_by),
        [child],
        lambda _: RowSlides(node.arrow_types, step, partition_by),
        label=f"Slides of {step} rows",
        types=(),
        pattern=Pattern.MON,
    )


def restored_node(lowering: Lowering, plan: st.IStream | st.RStream) -> int:
    """RESTORE: with what entered the query without its slides since the slide before."""
    building = lowering.building
    slide = st.slide_sent(plan)
    step = slide.slide if isinstance(slide, Range) else None
    plain = st.without_slides(plan.child)
    if isinstance(plan, st.IStream) and step:
        # A row for ever, moved to the next slide: a window that slides and does not end.
        spec, child = Range(INFINITY, step), inserted_node(lowering, plain)
        return _moved_node(building, child, spec, plan.label(), Pattern.MON)
    instants = instants_node(lowering, plan)
    if isinstance(plan, st.IStream):
        child = inserted_node(lowering, plain)
        return building.add(
            "next instant",
            [child, instants],
            lambda _: NextInstant(),
            label=plan.label(),
            types=building.node(child).types,
            pattern=Pattern.MON,
        )
    child = lowering.lower(plain)
    make = rows.counted_rows(building, [child], Target.COPIES)
    arrivals = _arrivals(lowering, plan.child)
    return building.add(
        ("restored", step),
        [child, instants, *arrivals],
        lambda _: RestoredResult(make(), step, len(arrivals)),
        label=plan.label(),
        types=building.node(child).types,
        pattern=Pattern.MON,
        lineage=_of_first(building, [child, instants, *arrivals]),
    )


def _of_first(building: Building, inputs: list[int]) -> Lineage:
    """Rows of the first input, at instants that the others tell."""
    columns = building.columns(inputs[0])
    return Lineage((tuple(columns), *[(None,) * len(columns)] * (len(inputs) - 1)))
