"""Block operators for streams, relations and windows, and for what a query sends out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.algebra import streams as st
from penstock.algebra.emptiness import empties
from penstock.algebra.patterns import Pattern
from penstock.algebra.positions import positional
from penstock.algebra.time import INFINITY
from penstock.algebra.windows import Hopping, Range, Rows, WindowSpec
from penstock.errors import InternalError
from penstock.operators.output.output_specs import (
    AnnouncedEndsSpec,
    BoundariesSpec,
    NextInstantSpec,
    RestoredResultSpec,
    RowSlidesSpec,
    TimeSlidesSpec,
    WholeResultSpec,
)
from penstock.operators.set.set_specs import ChangedSpec, RelationSpec
from penstock.operators.source_specs import ChangesSpec, ExchangeSpec, MapSpec, StreamSpec
from penstock.operators.window.window_specs import (
    DropEndsSpec,
    HoppingWindowSpec,
    RowsWindowSpec,
    TimeWindowSpec,
)
from penstock.planner.physical import lower_internal as internal
from penstock.planner.physical import lower_rows as rows

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.planner.physical.building import Building
    from penstock.planner.physical.lower_plans import Lowering


def stream_node(building: Building, plan: st.Stream) -> int:
    """The place where the rows of a stream enter."""
    return building.add(
        StreamSpec(plan), [], label=plan.label(), types=plan.schema.types, pattern=Pattern.MON
    )


def exchanged_node(building: Building, plan: st.Exchanged) -> int:
    """The place where the rows of another fragment enter; they are what results are."""
    return building.add(
        ExchangeSpec(plan),
        [],
        label=plan.label(),
        types=plan.schema.types,
        pattern=plan.pattern,
        span=plan.span,
    )


def changes_node(building: Building, plan: st.Relation) -> int:
    """The place where the changes of a relation enter."""
    label, types = f"Changes of {plan.name}", plan.schema.types
    return building.add(ChangesSpec(plan), [], label=label, types=types, pattern=Pattern.STR)


def relation_node(building: Building, plan: st.Relation) -> int:
    """A relation, as the net of its changes."""
    changes = changes_node(building, plan)
    return building.add(
        RelationSpec(plan.name, building.counting([changes])),
        [changes],
        label=plan.label(),
        types=plan.schema.types,
        pattern=Pattern.STR,
    )


def window_node(lowering: Lowering, plan: st.Window, *, announced: bool = True) -> int:
    """A window; with the negative strategy, with a negative row for each end."""
    building = lowering.building
    if plan.spec.counts_rows:
        return rows_window_node(building, lowering.arranged(plan.child), plan)
    if isinstance(plan.spec, Hopping):
        window = hopping_window_node(building, lowering.lower(plan.child), plan)
    else:
        window = time_window_node(building, lowering.lower(plan.child), plan.spec, plan.label())
    return announced_node(building, window) if announced else window


def hopping_window_node(building: Building, child: int, plan: st.Window) -> int:
    """Windows [start, end) on the rows of a stream."""
    spec = plan.spec
    assert isinstance(spec, Hopping)
    types = building.node(child).types
    time = plan.schema.types[-1]
    return building.add(
        HoppingWindowSpec(spec, types, time),
        [child],
        label=plan.label(),
        types=[*types, *[time] * len(spec.added)],
        pattern=Pattern.WKS if spec.ends_in_order else Pattern.WK,
        span=spec.span,
    )


def time_window_node(building: Building, child: int, spec: WindowSpec, label: str) -> int:
    """A window over time on the rows of a stream."""
    pattern = Pattern.MON if spec.never_ends else Pattern.WKS
    return _moved_node(building, child, spec, label, pattern)


def _moved_node(
    building: Building, child: int, spec: WindowSpec, label: str, pattern: Pattern
) -> int:
    """The rows of a stream with the intervals of a window."""
    node = building.node(child)
    return building.add(
        TimeWindowSpec(spec, node.types),
        [child],
        label=label,
        types=node.types,
        pattern=pattern,
        span=spec.span or 1,
    )


def announced_node(building: Building, child: int) -> int:
    """With the negative strategy, negative rows in the place of known ends."""
    node = building.node(child)
    if building.choices.strategy != "negative" or node.pattern in (Pattern.MON, Pattern.STR):
        return child
    return building.add(
        AnnouncedEndsSpec(node.edge, building.choices.queue_partitions),
        [child],
        label="Announced ends",
        types=node.types,
        pattern=Pattern.STR,
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
        RowsWindowSpec(node.types, spec.count, spec.slide, partition_by, tell_vanished),
        [child],
        label=plan.label(),
        types=node.types,
        pattern=Pattern.STR,
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
    return _endless_node(building, child, plan.label())


def _endless_node(building: Building, child: int, label: str) -> int:
    """Rows that stay for ever, once they are there."""
    types = building.node(child).types
    return building.add(DropEndsSpec(types), [child], label=label, types=types, pattern=Pattern.MON)


def emitted_node(lowering: Lowering, plan: st.RelationToStream) -> int:
    """ISTREAM, DSTREAM, RSTREAM."""
    match plan:
        case st.IStream(restore=True) | st.RStream(restore=True):
            return restored_node(lowering, plan)
        case st.IStream():
            return inserted_node(lowering, plan.child)
        case st.RStream():
            return whole_node(lowering, plan)
        case st.AtEnds():
            return _at_ends_node(lowering, plan)
        case st.DStream():
            return changed_node(lowering, plan.child, "DStream", removed=True)
    msg = f"{type(plan).__name__} cannot be lowered"
    raise InternalError(msg)


def _at_ends_node(lowering: Lowering, plan: st.AtEnds) -> int:
    """The answers of windows: rows of one instant each, which are sent as they come."""
    if st.is_ordered(plan.child) or not st.ends_are_apart(plan.child):
        return whole_node(lowering, plan)
    return _endless_node(lowering.building, lowering.lower(plan.child), plan.label())


def inserted_node(lowering: Lowering, plan: Plan) -> int:
    """The rows that enter a result; where nothing ever leaves, that is the result."""
    child = lowering.lower(plan)
    if lowering.building.node(child).pattern is Pattern.MON:
        return child
    return changed_node(lowering, plan, "IStream")


def changed_node(lowering: Lowering, plan: Plan, label: str, *, removed: bool = False) -> int:
    """The rows that enter or leave a result, netted."""
    building = lowering.building
    child = lowering.lower(plan)
    return building.add(
        ChangedSpec(building.counting([child]), removed),
        [child],
        label=label,
        types=building.node(child).types,
        pattern=Pattern.MON,
    )


def whole_node(lowering: Lowering, sender: st.RStream | st.AtEnds | st.Internal) -> int:
    """All of a result at its instants, in order if it has one."""
    building = lowering.building
    plan, label = sender.child, sender.label()
    maps: list[op.Map] = []
    result = plan
    if st.is_ordered(plan):
        while isinstance(result, op.Map):
            maps.insert(0, result)
            result = result.child
    sort = result if isinstance(result, orders.Sort) else None
    child = lowering.lower(plan if sort is None else sort.child)
    inputs = [child, instants_node(lowering, sender)]
    order = None
    if sort is not None:
        order = rows.order_of(building, child, sort, tuple(map(_map_spec, maps)))
    return building.add(
        WholeResultSpec(building.counting([child]), order),
        inputs,
        label=label,
        types=building.node(child).types if sort is None else plan.schema.types,
        pattern=Pattern.MON,
    )


def _map_spec(plan: op.Map) -> MapSpec:
    columns = tuple(positional(one.expression, plan.child.schema) for one in plan.columns)
    return MapSpec(columns, plan.child.schema.types)


def instants_node(lowering: Lowering, sender: st.RelationToStream | st.Internal) -> int:
    """The instants at which the whole result of a query is sent out."""
    slide, plan = st.slide_sent(sender), sender.child
    if isinstance(slide, Rows):
        return _row_slides(lowering, plan, slide)
    if slide is not None and slide.time_slide:
        return _time_slides(lowering, plan, slide.time_slide)
    building = lowering.building
    windows = [_elements(lowering, window) for window in st.input_windows(plan)]
    relations = [changes_node(building, one) for one in _relations(plan)]
    return _boundaries(building, list(dict.fromkeys([*windows, *relations])))


def _boundaries(building: Building, inputs: list[int]) -> int:
    span = max((building.node(one).span for one in inputs), default=1)
    return building.add(
        BoundariesSpec(span, building.choices.queue_partitions),
        inputs,
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
    return lowering.building.add(
        TimeSlidesSpec(slide, len(arrivals), empties(plan)),
        [*arrivals, *elements],
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
    windows = [*st.input_windows(plan)]
    if not windows:
        # Of a part that is only priced, the window is in another part.
        return _boundaries(building, [])
    # A rewritten plan may have the one window of the query several times.
    window = windows[0]
    child = lowering.arranged(window.children[0])
    step = slide.slide or 1
    names = window.children[0].schema.names
    partition_by = tuple(names.index(name) for name in slide.partition_by)
    return building.add(
        RowSlidesSpec(building.node(child).types, step, partition_by),
        [child],
        label=f"Slides of {step} rows",
        types=(),
        pattern=Pattern.MON,
    )


def restored_node(lowering: Lowering, plan: st.IStream | st.RStream) -> int:
    """RESTORE: with what entered the query without its slides since the slide before."""
    building = lowering.building
    slide = st.slide_sent(plan)
    step = None if slide is None else slide.time_slide
    plain = st.without_slides(plan.child)
    if isinstance(plan, st.IStream) and step:
        # A row for ever, moved to the next slide: a window that slides and does not end.
        spec, child = Range(INFINITY, step), inserted_node(lowering, plain)
        return _moved_node(building, child, spec, plan.label(), Pattern.MON)
    instants = instants_node(lowering, plan)
    if isinstance(plan, st.IStream):
        child = inserted_node(lowering, plain)
        return building.add(
            NextInstantSpec(building.node(child).types),
            [child, instants],
            label=plan.label(),
            types=building.node(child).types,
            pattern=Pattern.MON,
        )
    child = lowering.lower(plain)
    arrivals = _arrivals(lowering, plan.child)
    return building.add(
        RestoredResultSpec(building.counting([child]), step, len(arrivals)),
        [child, instants, *arrivals],
        label=plan.label(),
        types=building.node(child).types,
        pattern=Pattern.MON,
    )
