"""CASE, IF and COALESCE: a part is computed for those rows only that need it.

What cannot fail may as well be computed for all rows, which is cheaper than picking some.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.compute.datum import Datum, Truths, broadcast, truths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.failures import Failures
    from penstock.compute.input_columns import InputColumns, Node, Places


@dataclass(frozen=True, slots=True)
class CompiledPart:
    """A compiled part of an expression, and whether it can fail."""

    node: Node
    can_fail: bool


def cases(branches: Sequence[tuple[CompiledPart, CompiledPart]], default: CompiledPart) -> Node:
    """The value behind the first condition that is TRUE, else the default."""
    parts = [part for branch in branches for part in branch] + [default]
    # The first condition is computed for all rows in any case.
    if not any(part.can_fail for part in parts[1:]):
        return _cases_at_once([(when.node, then.node) for when, then in branches], default.node)

    def node(rows: InputColumns, failures: Failures) -> Datum:
        pieces = _Pieces(rows)
        for condition, result in branches:
            if not len(pieces.left):
                break
            some = pieces.rows_left()
            true = truths(broadcast(condition.node(some, failures), some.length))
            pieces.assign(true, result.node, failures)
        pieces.assign(np.ones(len(pieces.left), np.bool_), default.node, failures)
        return pieces.joined()

    return node


def _cases_at_once(branches: Sequence[tuple[Node, Node]], default: Node) -> Node:
    def node(rows: InputColumns, failures: Failures) -> Datum:
        conditions = [broadcast(when(rows, failures), rows.length) for when, _ in branches]
        results = [then(rows, failures) for _, then in branches]
        if len(branches) == 1:
            is_true = pc.fill_null(conditions[0], False)
            return pc.if_else(is_true, results[0], default(rows, failures))
        chosen = pa.StructArray.from_arrays(conditions, [str(i) for i in range(len(conditions))])
        return pc.case_when(chosen, *results, default(rows, failures))

    return node


def coalesced(parts: Sequence[CompiledPart]) -> Node:
    """The first value that is not NULL."""
    if not any(part.can_fail for part in parts[1:]):
        return lambda rows, failures: pc.coalesce(*(part.node(rows, failures) for part in parts))

    def node(rows: InputColumns, failures: Failures) -> Datum:
        pieces = _Pieces(rows)
        for part in parts[:-1]:
            some = pieces.rows_left()
            found = broadcast(part.node(some, failures), some.length)
            if not found.null_count:
                pieces.add(pieces.left, found)
                pieces.left = pieces.left[:0]
                break
            known = truths(pc.is_valid(found))
            pieces.add(pieces.left[known], found.filter(pa.array(known)))
            pieces.left = pieces.left[~known]
        pieces.assign(np.ones(len(pieces.left), np.bool_), parts[-1].node, failures)
        return pieces.joined()

    return node


class _Pieces:
    """Results of some rows each, to be put in the order of the rows."""

    def __init__(self, rows: InputColumns) -> None:
        self._rows = rows
        self.left: Places = np.arange(rows.length)
        self._places: list[Places] = []
        self._values: list[pa.Array] = []

    def rows_left(self) -> InputColumns:
        """The rows without a result so far."""
        return self._at(self.left)

    def assign(self, chosen: Truths, node: Node, failures: Failures) -> None:
        """Compute the result of the chosen ones of the rows left."""
        places = self.left[chosen]
        some = self._at(places)
        if len(places) or not self._rows.length:
            self.add(places, broadcast(node(some, failures), len(places)))
        self.left = self.left[~chosen]

    def add(self, places: Places, values: pa.Array) -> None:
        """Results of the rows at these places."""
        self._places.append(places)
        self._values.append(values)

    def joined(self) -> pa.Array:
        """All results; every row has one."""
        if len(self._values) == 1:
            return self._values[0]
        places = np.concatenate(self._places)
        order = np.empty(len(places), np.intp)
        order[places] = np.arange(len(places))
        return pa.concat_arrays(self._values).take(pa.array(order))

    def _at(self, places: Places) -> InputColumns:
        return self._rows if len(places) == self._rows.length else self._rows.at(places)
