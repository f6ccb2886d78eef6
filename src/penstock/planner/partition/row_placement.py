"""Row placement: by which of their own columns the rows of each node find their lane.

Sources are routed by the hash of their keys. What becomes of the keys on the way through the graph
is followed here, from inputs to what reads them: a key is carried as long as it can be computed
from the columns of a row, or from columns that equal those it was made of.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.algebra.expressions import Call, Case, Cast, Column, Literal, columns_of, walk
from penstock.algebra.positions import positional
from penstock.algebra.types import BOOLEAN
from penstock.planner.partition.partition_keys import classes_of, same_as, substituted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.expressions import Expression
    from penstock.operators.spec import Columns, Lineage
    from penstock.planner.partition.partition_keys import Classes
    from penstock.planner.partition.partitioning import Partitioning
    from penstock.planner.physical.graph import Graph, Node


Pair = tuple["Expression", "Expression"]
NEVER: Pair = (Literal(False, BOOLEAN), Literal(True, BOOLEAN))
"""Is not proven by anything."""


@dataclass(frozen=True)
class RowPlacement:
    """The lanes that the rows of a node are on.

    Args:
        is_whole: Whether every lane has all of them.
        keys: Expressions over positions; their hash is a row's lane. None: the row does not say.
        equal: Expressions that have the same value in every row, class by class.
        unproven: Pairs that are equal in rows that matter. Of a product, the lanes have other
            rows as well, if they are other lanes; a filter above drops those.
        nulls: Columns that are NULL in every row.
        numbers: Columns with numbers that tell elements apart, which each lane gives on its own.
    """

    is_whole: bool
    keys: tuple[Expression, ...] | None = None
    equal: Classes = ()
    unproven: tuple[Pair, ...] = ()
    nulls: frozenset[Expression] = frozenset()
    numbers: tuple[int, ...] = ()


def row_placements(graph: Graph, partitioning: Partitioning) -> list[RowPlacement]:
    """The placement of the rows of each node of a graph, if its sources are routed like that.

    >>> from penstock.builder import stream
    >>> from penstock.planner.physical.lowering import operator_graph
    >>> from penstock.planner.partition.partitioning import partitioning_of
    >>> cars = stream("cars", "at BIGINT, lane INT, speed DOUBLE", time="at").range(10)
    >>> plan = cars.aggregate(by=["lane"], top="MAX(speed)").plan
    >>> places = row_placements(operator_graph({"top": plan}), partitioning_of(plan))
    >>> [[str(key) for key in place.keys] for place in places]
    [['1'], ['1'], ['0']]
    """
    places: list[RowPlacement] = []
    sources = {
        number: plan for plan, number in (*graph.clocked.values(), *graph.relations.values())
    }
    for number, node in enumerate(graph.nodes):
        if number in sources:
            plan = sources[number]
            keys = partitioning.routes[plan.name].keys
            own = None if keys is None else tuple(positional(key, plan.schema) for key in keys)
            places.append(RowPlacement(is_whole=keys is None, keys=own))
        else:
            places.append(_place(node, [places[one] for one in node.inputs]))
    return places


def _place(node: Node, inputs: Sequence[RowPlacement]) -> RowPlacement:
    if all(place.is_whole for place in inputs):
        return RowPlacement(is_whole=True)
    ports = list(zip(inputs, node.lineage.columns, strict=True))
    routed = [(place, columns) for place, columns in ports if not place.is_whole]
    if node.lineage.otherwise:
        made = _by_any_lineage(node, inputs)
    elif node.lineage.of_each or len(routed) == 1:
        made = _side_by_side(node.lineage, inputs)
    else:
        made = _either(routed)
    numbers = {
        number
        for place, columns in routed
        for number, column in enumerate(columns)
        if isinstance(column, Column) and int(column.name) in place.numbers
    }
    if node.is_numbering:
        numbers.add(len(node.types) - 1)
    return replace(made, numbers=tuple(sorted(numbers)))


def _by_any_lineage(node: Node, inputs: Sequence[RowPlacement]) -> RowPlacement:
    """A row is made in one of several ways: its keys have to be right whichever it is."""
    columns = tuple(Column(str(number), type_) for number, type_ in enumerate(node.types))
    ways = (node.lineage, *node.lineage.otherwise)
    return _either([(_side_by_side(way, inputs), columns) for way in ways])


def _side_by_side(lineage: Lineage, inputs: Sequence[RowPlacement]) -> RowPlacement:
    """A row is made of a row of each input, and these met because they are in one lane."""
    ports = list(zip(inputs, lineage.columns, strict=True))
    groups: list[tuple[Expression, ...]] = list(lineage.equal)
    found: list[tuple[Expression, ...]] = []
    unproven: list[Pair] = []
    for place, columns in ports:
        known = _known(place, columns)
        groups += [_all_raised(group, known) for group in place.equal]
        for pair in place.unproven:
            above = _all_raised(pair, known)
            unproven.append((above[0], above[1]) if len(above) == 2 else NEVER)
        if place.keys is not None:
            keys = _all_raised(place.keys, known)
            found += [keys] if len(keys) == len(place.keys) else []
    equal = tuple(group for group in classes_of((), groups) if len(group) > 1)
    for others in found[1:]:
        unproven += zip(found[0], others, strict=True)
    nulls = [
        Column(str(number), column.type)
        for place, columns in ports
        for number, column in enumerate(columns)
        if column is not None and (column in place.nulls or _is_null(column))
    ]
    return RowPlacement(
        is_whole=False,
        keys=found[0] if found else None,
        equal=equal,
        unproven=tuple(pair for pair in unproven if pair[1] not in same_as(pair[0], equal)),
        nulls=frozenset(nulls),
    )


def _is_null(column: Expression) -> bool:
    return isinstance(column, Literal) and column.value is None


def _either(ports: Sequence[tuple[RowPlacement, Columns]]) -> RowPlacement:
    """A row is a row of one of the inputs: its keys have to be right whichever it is."""
    nowhere = RowPlacement(is_whole=False, unproven=_unproven_of_one(ports))
    passed = [place for place, columns in ports if columns and None not in columns]
    keys = [place.keys for place in passed if place.keys]
    if len(keys) < len(ports) or len({len(one) for one in keys}) > 1:
        return nowhere
    places = [place for place, _ in ports]
    found = [_common(together, places) for together in zip(*keys, strict=True)]
    if not all(found):
        return nowhere
    return replace(
        nowhere,
        keys=tuple(several[0] for several in found),
        equal=classes_of((), (tuple(several) for several in found if len(several) > 1)),
    )


def _unproven_of_one(ports: Sequence[tuple[RowPlacement, Columns]]) -> tuple[Pair, ...]:
    return (NEVER,) if any(place.unproven for place, _ in ports) else ()


def _common(keys: Sequence[Expression], places: Sequence[RowPlacement]) -> list[Expression]:
    """Expressions that equal the key of each input in the rows that come from there."""
    several = [same_as(key, place.equal) for key, place in zip(keys, places, strict=True)]
    options = list(dict.fromkeys(itertools.chain.from_iterable(several)))
    # An outer join: where one side is padded with NULLs, the other has the key.
    padded = [
        Call("coalesce", (one, other), one.type)
        for one, other in itertools.permutations(options, 2)
        if one.type == other.type
    ]
    return [
        option
        for option in (*options, *padded)
        if all(
            _is_among(option, alike, place) for alike, place in zip(several, places, strict=True)
        )
    ]


def _is_among(option: Expression, alike: Sequence[Expression], place: RowPlacement) -> bool:
    if option in alike or not isinstance(option, Call) or option.function != "coalesce":
        return option in alike
    known = [arg for arg in option.args if arg not in place.nulls]
    return bool(known) and all(arg in alike for arg in known)


def _all_raised(
    expressions: Sequence[Expression], known: Mapping[Expression, Expression]
) -> tuple[Expression, ...]:
    """Those of the expressions that the results have."""
    above = (_raised(one, known) for one in expressions)
    return tuple(one for one in above if one is not None)


def _known(place: RowPlacement, columns: Columns) -> dict[Expression, Expression]:
    """Expressions over an input that are among the columns of the results."""
    known: dict[Expression, Expression] = {}
    equal: dict[Expression, Expression] = {}
    for number, column in enumerate(columns):
        if column is not None and columns_of(column):
            # As keys are written: without what a NULL makes superfluous.
            plain = substituted(column, _itself(column))
            for same in same_as(plain, place.equal):
                equal.setdefault(same, Column(str(number), column.type))
            known.setdefault(plain, Column(str(number), column.type))
    return equal | known


def _itself(expression: Expression) -> dict[str, Expression]:
    return {one.name: one for one in walk(expression) if isinstance(one, Column)}


def _raised(expression: Expression, known: Mapping[Expression, Expression]) -> Expression | None:
    """An expression over an input as one over the results; None if they do not have it."""
    if expression in known:
        return known[expression]
    if isinstance(expression, Literal):
        return expression
    parts = [_raised(part, known) for part in expression.children]
    above = [part for part in parts if part is not None]
    if not parts or len(above) < len(parts):
        return None
    match expression:
        case Cast():
            return replace(expression, arg=above[0])
        case Call():
            return replace(expression, args=tuple(above))
        case Case():
            branches = zip(above[:-1:2], above[1:-1:2], strict=True)
            return Case(tuple(branches), above[-1])
    return None
