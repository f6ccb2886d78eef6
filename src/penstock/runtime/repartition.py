"""The state of lanes divided anew, so that another number of lanes can go on from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.failures import Failures
from penstock.algebra.patterns import Pattern
from penstock.compute.evaluate import compile_expression
from penstock.errors import InternalError
from penstock.operators.division import Division, Spread
from penstock.operators.window.merged_numbers import Numbers
from penstock.planner.partition.row_placement import row_placements
from penstock.runtime.marks import have_marks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from penstock.operators.operator import Segments
    from penstock.planner.partition.partitioning import Partitioning
    from penstock.planner.partition.row_placement import RowPlacement
    from penstock.planner.physical.graph import Graph, Node

_STATE = "state/"
_CLOCKS = "clocks"


def repartitioned(
    graph: Graph,
    partitioning: Partitioning,
    segments: Sequence[Mapping[str, pa.Table]],
    lanes: int,
) -> list[dict[str, pa.Table]]:
    """The segments of `lanes` lanes that know together what the lanes of `segments` do.

    Lanes restored from them go on as if there had always been as many. All lanes that the state
    is from have come equally far.

    Args:
        graph: What all lanes run.
        partitioning: How its sources are routed; with more than one lane they are.
        segments: The state of each lane there was.
        lanes: How many lanes there are to be.

    Raises:
        CannotDivide: An operator has rows that do not say by which key they are divided.
    """
    if lanes == len(segments):
        return [dict(one) for one in segments]
    places = row_placements(graph, partitioning)
    parts = [_by_station(one, graph.identities) for one in segments]
    numbers = Numbers()
    if any(place.numbers for place in places):
        for number in range(len(graph.nodes)):
            _divided(graph, places, number, [one[number] for one in parts], lanes, numbers)
    numbers.assign()
    made: list[dict[str, pa.Table]] = [{} for _ in range(lanes)]
    for number, identity in enumerate(graph.identities):
        stations = [one[number] for one in parts]
        divided = _divided(graph, places, number, stations, lanes, numbers)
        for own, station in zip(made, divided, strict=True):
            own |= {f"{identity}/{name}": table for name, table in station.items()}
    return made


def _by_station(segments: Mapping[str, pa.Table], identities: Sequence[str]) -> list[Segments]:
    parts: dict[str, Segments] = {one: {} for one in identities}
    for name, table in segments.items():
        identity, own = name.split("/", 1)
        parts[identity][own] = table
    return list(parts.values())


def _divided(
    graph: Graph,
    places: Sequence[RowPlacement],
    number: int,
    parts: Sequence[Segments],
    lanes: int,
    numbers: Numbers,
) -> list[Segments]:
    """The state of a station in each lane there is to be."""
    node = graph.nodes[number]
    _require_level(node, parts)
    if places[number].is_whole:
        return [dict(parts[0]) for _ in range(lanes)]
    results = _spread(node, places[number])
    inputs = [_spread(graph.nodes[one], places[one]) for one in node.inputs] or [results]
    operator = node.make(Failures())
    division = Division(node.label, inputs, results, lanes, numbers, meets=operator.meets)
    queues = {f"queue{port}": spread for port, spread in enumerate(inputs)}
    made = division.rows(parts, queues)
    own = [
        {
            name.removeprefix(_STATE): table
            for name, table in part.items()
            if name.startswith(_STATE)
        }
        for part in parts
    ]
    for segments, state in zip(made, operator.divided(own, division), strict=True):
        segments[_CLOCKS] = parts[0][_CLOCKS]
        segments |= {_STATE + name: table for name, table in state.items()}
    return made


def _require_level(node: Node, parts: Sequence[Segments]) -> None:
    if have_marks(parts) or any(part[_CLOCKS] != parts[0][_CLOCKS] for part in parts):
        clocks = ", ".join(str(part[_CLOCKS]["clock"][0].as_py()) for part in parts)
        msg = f"lanes have come to different instants at {node.label}: {clocks}"
        raise InternalError(msg, hint="Let all lanes come as far as the foremost before.")


def _spread(node: Node, place: RowPlacement) -> Spread:
    is_strict = node.pattern is Pattern.STR
    # Of a product other lanes would have withdrawn, or never had, other rows than these have.
    keys = None if is_strict and place.unproven else place.keys
    return Spread(
        len(node.types),
        None if keys is None else [compile_expression(key, node.schema) for key in keys],
        place.is_whole,
        is_strict,
        () if is_strict and place.unproven else place.numbers,
    )
