"""State divided anew: what n lanes remember of an operator becomes what m lanes do.

Rows go where their keys hash to. What names rows by slot moves with them, and gets their new
slots. What every lane has alike, every new lane gets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.failures import Failures
from penstock.errors import InternalError, PenstockError
from penstock.operators.saved_tables import arrays_of
from penstock.state.fingerprints import fingerprints
from penstock.state.keys import KeyIndex
from penstock.state.lane_hash import lanes_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.compute.evaluate import Evaluator
    from penstock.operators.operator import Segments
    from penstock.operators.window.merged_numbers import Numbers
    from penstock.state.arrays import Ints


class CannotDivide(PenstockError):
    """State does not say which lane it belongs to, if there are others than before."""


@dataclass(frozen=True)
class Spread:
    """The spread of the rows of an input, or of the results, over the lanes.

    Args:
        width: How many columns they have; none: all lanes may know all of them.
        keys: Their lane is the hash of these; None: their columns do not say.
        is_whole: Whether every lane has all of them.
        is_strict: Whether rows are withdrawn: where the rows are that they withdraw.
        numbers: Columns with numbers that tell elements apart, which each lane gives on its own.
    """

    width: int
    keys: Sequence[Evaluator] | None
    is_whole: bool = False
    is_strict: bool = False
    numbers: tuple[int, ...] = ()


class Shares:
    """Tables of the old lanes, and to which new lane each of their rows goes."""

    def __init__(self, tables: Sequence[pa.Table], targets: Sequence[Ints], lanes: int) -> None:
        self.tables = tables
        self.targets = targets
        self.lanes = lanes

    def of(self, lane: int) -> pa.Table:
        """The rows of a new lane, those of the first old lane first."""
        pairs = zip(self.tables, self.targets, strict=True)
        return pa.concat_tables([table.filter(pa.array(goes == lane)) for table, goes in pairs])


class Moves:
    """Rows in slots on their way: which lane each slot of an old lane goes to, and as which.

    Args:
        shares: The rows, each with its slot in the column `_slot`, or else in the order of slots.
        slots: For each new lane, the new slots of its rows; None: 0, 1, ...
    """

    def __init__(self, shares: Shares, slots: Sequence[Ints] | None = None) -> None:
        self.lanes = shares.lanes
        self._targets: list[Ints] = []
        self._slots: list[Ints] = []
        given = np.zeros(self.lanes, np.int64)
        for table, goes in zip(shares.tables, shares.targets, strict=True):
            placed = "_slot" in table.column_names
            old = table["_slot"].to_numpy() if placed else np.arange(len(table))
            room = int(old.max(initial=-1)) + 1
            target, slot = np.full(room, -1, np.int64), np.zeros(room, np.int64)
            target[old] = goes
            for lane in range(self.lanes):
                mine = old[goes == lane]
                new = np.arange(given[lane], given[lane] + len(mine))
                slot[mine] = new if slots is None else slots[lane][new]
                given[lane] += len(mine)
            self._targets.append(target)
            self._slots.append(slot)

    def _known(self, number: int, slots: Ints) -> Ints:
        """The slots of an old lane that have a row."""
        targets = np.append(self._targets[number], -1)
        return np.flatnonzero(targets[np.minimum(slots, len(targets) - 1)] >= 0)

    def moved(
        self, tables: Sequence[pa.Table], column: str, change: str | None = None
    ) -> list[pa.Table]:
        """For each new lane, the rows of tables whose slots go there, under their new slots.

        Slots without a row are left out; there nothing may change, if the tables are of `change`.
        """
        changed, targets = [], []
        for number, whole in enumerate(tables):
            kept = self._known(number, whole[column].to_numpy())
            if change is not None and np.delete(whole[change].to_numpy(), kept).any():
                msg = "an element will end that is not there"
                raise InternalError(msg)
            table = whole.take(pa.array(kept))
            slots = table[column].to_numpy()
            targets.append(self._targets[number][slots])
            changed.append(with_column(table, column, self._slots[number][slots]))
        shares = Shares(changed, targets, self.lanes)
        return [shares.of(lane) for lane in range(self.lanes)]


class Division:
    """The division of the state of one operator.

    Args:
        label: The operator, for people.
        inputs: Where the rows of its inputs are.
        results: Where its results are.
        lanes: How many lanes there are to be.
        numbers: What becomes of numbers that tell elements apart.
        meets: Whether rows of its inputs meet others there, so that they must be where these are.
    """

    def __init__(
        self,
        label: str,
        inputs: Sequence[Spread],
        results: Spread,
        lanes: int,
        numbers: Numbers,
        *,
        meets: bool,
    ) -> None:
        self.label = label
        self.inputs = inputs
        self.results = results
        self.lanes = lanes
        self.numbers = numbers
        # What every lane has all of, rows find in any.
        self._meets = meets and not any(spread.is_whole for spread in inputs)

    def spread(self, port: int | None) -> Spread:
        """The place of the rows of an input; None: the results."""
        return self.results if port is None else self.inputs[port]

    def rows(
        self, parts: Sequence[Segments], spreads: Mapping[str, Spread], *, by_key: bool = False
    ) -> list[Segments]:
        """Divide tables that begin with the columns of an input, or of the results.

        Args:
            parts: The state of each old lane.
            spreads: What the rows of each table are.
            by_key: Whether only keys can say where they go.

        Raises:
            CannotDivide: It is not known where rows go.
        """
        made: list[Segments] = [{} for _ in range(self.lanes)]
        for name, spread in spreads.items():
            tables = [part[name] for part in parts if name in part]
            if not tables:
                continue
            if spread.is_whole:
                divided = [tables[0]] * self.lanes
            elif not spread.width:
                divided = [_different(pa.concat_tables(tables))] * self.lanes
            else:
                places = [number for number, part in enumerate(parts) if name in part]
                shares = self.shares(tables, spread, places, by_key=by_key)
                divided = [shares.of(lane) for lane in range(self.lanes)]
            for segments, table in zip(made, divided, strict=True):
                segments[name] = table
        return made

    def shares(
        self,
        tables: Sequence[pa.Table],
        spread: Spread,
        places: Sequence[int] | None = None,
        *,
        by_key: bool = False,
    ) -> Shares:
        """The shares of the rows of tables, of the old lanes in these places.

        Raises:
            CannotDivide: It is not known.
        """
        places = range(len(tables)) if places is None else places
        targets, changed = [], []
        for place, table in zip(places, signed_alike(tables), strict=True):
            goes = self._targets(table, spread, place, by_key=by_key)
            self.numbers.note(place, table, spread.numbers, None if spread.keys is None else goes)
            targets.append(goes)
            changed.append(self.numbers.renumbered(place, table, spread.numbers))
        return Shares(changed, targets, self.lanes)

    def _targets(self, table: pa.Table, spread: Spread, place: int, *, by_key: bool) -> Ints:
        length = len(table)
        columns = arrays_of(table.select(range(spread.width)))
        if spread.keys is not None:
            keys = [key(columns, length, Failures()) for key in spread.keys]
            return lanes_of(keys, length, self.lanes)
        if spread.numbers and not by_key:
            return self.numbers.lanes(place, table, spread.numbers, self.lanes)
        if length and (by_key or self._meets or spread.is_strict):
            raise self.refused()
        return lanes_of(columns, length, self.lanes)

    def refused(self) -> CannotDivide:
        """Nobody knows where what this operator remembers goes."""
        msg = f"the state of {self.label} does not say by which key its rows are divided"
        hint = "Go on with as many lanes as before, or start the query anew."
        return CannotDivide(msg, hint=hint)


def with_column(table: pa.Table, name: str, values: Ints | pa.Array) -> pa.Table:
    """A table with other values in a column."""
    return table.set_column(table.column_names.index(name), name, pa.array(values))


def signed_alike(tables: Sequence[pa.Table]) -> list[pa.Table]:
    """Tables of rows, of which all have a sign if any has."""
    if not any("_sign" in table.column_names for table in tables):
        return list(tables)
    return [
        table
        if "_sign" in table.column_names
        else table.append_column("_sign", pa.array(np.ones(len(table), np.int8)))
        for table in tables
    ]


def _different(instants: pa.Table) -> pa.Table:
    """Each instant once, in order."""
    _, first = np.unique(instants["_ts"].to_numpy(), return_index=True)
    return instants.take(pa.array(first))


def netted(ends: pa.Table, change: str) -> pa.Table:
    """Ends to come, without those that make up for each other.

    An element that was withdrawn and its withdrawal end together, maybe in a slot that was given
    to another row since; so a slot without a row has no ends after this.

    Args:
        ends: Alike in all other columns are those that change the same.
        change: The column with the change of each, 1 or -1; where it is 0, nothing is made up for.
    """
    others = [name for name in ends.column_names if name != change]
    words = fingerprints(arrays_of(ends.select(others)), len(ends))
    kinds, first = KeyIndex().find_or_add(words)
    changes = ends[change].to_numpy()
    sums = np.zeros(len(first), np.int64)
    np.add.at(sums, kinds, changes)
    left = np.repeat(first, np.abs(sums))
    signs = np.repeat(np.sign(sums), np.abs(sums)).astype(changes.dtype)
    netted_ends = with_column(ends.take(pa.array(left)), change, signs)
    return pa.concat_tables([netted_ends, ends.filter(pa.array(changes == 0))])
