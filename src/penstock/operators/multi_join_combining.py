"""Combinations of rows of many inputs that a portion of new rows completes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from penstock.algebra.time import INFINITY
from penstock.operators.join_loops import START
from penstock.operators.multi_join_loops import (
    BORN,
    DIED,
    FIRST,
    FIRST_TS,
    FOREVER,
    GROUP,
    LAST,
    PLACES,
    UNTIL,
    extend,
    narrow,
    unfold,
)
from penstock.state.cutting import portions_of_text
from penstock.state.fingerprints import fingerprints
from penstock.state.probing import marks_of
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.operators.multi_join_probes import Course, Probe, Theta
    from penstock.operators.multi_join_rows import InputRows
    from penstock.state.arrays import Flags, Ints, Words

Evaluation = Literal["eager", "lazy"]
"""Each new row looks for others by itself; or those of one key do so together."""

_MANY, _PAUSE = 256, 15
"""If more rows than so many have hardly a key in common, the next so many portions have not."""
AT_ONCE = 1 << 16
"""Partial combinations of one kind that are there together, at most."""


@dataclass(frozen=True)
class Groups:
    """New rows that look for others together. Those of group g stand in `members[starts[g]:]`.

    They are numbered as they stand among those that may find anything.
    """

    members: Ints
    starts: Ints
    bounds: Ints


@dataclass
class Tally:
    """How often a probe was made, and how many rows it found."""

    probes: int = 0
    matches: int = 0


class Combining:
    """Completes the combinations of new rows of one input, probing the others in order.

    Args:
        course: What to probe, and what to ask.
        inputs: The rows of all inputs, those of the portion included.
        evaluation: Whether new rows of one key look for others together.
        at_once: How many partial combinations are there together, at most.
    """

    def __init__(
        self,
        course: Course,
        inputs: Sequence[InputRows],
        evaluation: Evaluation,
        at_once: int,
    ) -> None:
        self.course = course
        self.tallies = [Tally() for _ in course.probes]
        self._inputs = inputs
        self._origin = inputs[course.origin]
        self._grouped_by = _grouping(course, self._origin) if evaluation == "lazy" else None
        self._pause = 0
        self._at_once = at_once
        self._width = PLACES + len(inputs)

    def found(self, horizon: int) -> Iterator[Ints]:
        """The combinations, some at a time; GROUP is the new row. Those end after the horizon."""
        self._rows = self._seeds(horizon)
        if not len(self._rows):
            return
        incoming = self._origin.first.incoming
        self._bounds = self._bounds_of_rows(horizon)
        self._ends = incoming.te[self._rows]
        self._spots = self._origin.spots(incoming.place[self._rows])
        self._groups = self._grouped()
        if self._groups is None:
            partials = self._room(len(self._rows))
            partials[:, UNTIL] = self._ends
            partials[:, PLACES + self.course.origin] = self._spots
        else:
            partials = self._room(len(self._groups.starts) - 1)
            partials[:, UNTIL] = INFINITY
        partials[:, GROUP] = np.arange(len(partials))
        partials[:, BORN], partials[:, DIED] = -1, FOREVER
        for part in self._reached(0, partials, self._groups is None):
            part[:, GROUP] = self._rows[part[:, GROUP]]
            yield part

    def _seeds(self, horizon: int) -> Ints:
        """The new rows whose keys may have rows wherever they can be asked for."""
        rows = np.flatnonzero(self._origin.first.incoming.te > horizon)
        count = len(rows)
        for probe in self.course.probes:
            if probe.source == self.course.origin:
                table = self._inputs[probe.target].table(probe.agreements)
                marks = self._origin.table(probe.agreements).new_marks
                count = narrow(rows, count, marks, table.heads, table.kept.oldest)
        return rows[:count]

    def _bounds_of_rows(self, horizon: int) -> Ints:
        ts = self._origin.first.incoming.ts[self._rows]
        ranks = self._origin.ranks[self._rows]
        return np.stack([np.maximum(ts, horizon), ranks, ranks], axis=1)

    def _grouped(self) -> Groups | None:
        """The new rows by key; None if hardly any have one in common."""
        if self._grouped_by is None or self._pause:
            self._pause = max(self._pause - 1, 0)
            return None
        rows = self._rows
        members, starts = np.arange(len(rows)), np.zeros(1, np.int64)
        if self._grouped_by:
            tables = [self._origin.tables[one] for one in self._grouped_by]
            members = order_of(*(table.new_marks[rows] for table in tables))
            words = np.concatenate([table.new_words[rows[members]] for table in tables], axis=1)
            # Keys with one hash may stand between each other; that only makes more groups.
            changes = (words[1:] != words[:-1]).any(axis=1)
            starts = np.append(starts, np.flatnonzero(changes) + 1)
        if 4 * len(starts) > 3 * len(rows):
            self._pause = _PAUSE if len(rows) > _MANY else 0
            return None
        bounds = np.empty((len(starts), 3), np.int64)
        least = np.minimum.reduceat(self._bounds[members], starts, axis=0)
        bounds[:, FIRST_TS], bounds[:, FIRST] = least[:, FIRST_TS], least[:, FIRST]
        bounds[:, LAST] = np.maximum.reduceat(self._bounds[members, LAST], starts)
        return Groups(members, np.append(starts, len(rows)), bounds)

    def _reached(self, level: int, partials: Ints, is_unfolded: bool) -> Iterator[Ints]:
        """Go on with combinations for which so many probes have been made."""
        needs_rows = level == len(self.course.probes) or any(
            self.course.origin in theta.inputs for theta in self.course.thetas[level]
        )
        if is_unfolded or not needs_rows:
            yield from self._asked(level, partials, is_unfolded)
            return
        for part in self._unfolded(partials):
            yield from self._asked(level, part, True)

    def _asked(self, level: int, partials: Ints, is_unfolded: bool) -> Iterator[Ints]:
        for theta in self.course.thetas[level]:
            partials = partials[self._holds(theta, partials)]
        if not len(partials):
            return
        if level == len(self.course.probes):
            yield partials
            return
        for part in self._extended(level, partials, is_unfolded):
            yield from self._reached(level + 1, part, is_unfolded)

    def _holds(self, theta: Theta, partials: Ints) -> Flags:
        rows = [(self._inputs[one], places_of(partials, one)) for one in theta.inputs]
        weights = [weight for one, places in rows for weight in one.weights(places)]
        flags = []
        for part in portions_of_text(len(partials), weights):
            columns = [column for one, places in rows for column in one.take(places[part])]
            flags.append(theta.asks(columns, len(partials[part])))
        return np.concatenate(flags)

    def _unfolded(self, partials: Ints) -> Iterator[Ints]:
        groups = self._groups
        assert groups is not None
        arrays = groups.members, groups.starts, self._bounds, self._ends, self._spots
        column = PLACES + self.course.origin
        yield from self._filled(
            len(partials), lambda cursor, room: unfold(partials, *arrays, column, cursor, room)
        )

    def _extended(self, level: int, partials: Ints, is_unfolded: bool) -> Iterator[Ints]:
        probe, tally = self.course.probes[level], self.tallies[level]
        target = self._inputs[probe.target]
        table = target.table(probe.agreements)
        words = self._words(probe, partials, is_unfolded)
        bounds = self._bounds
        if not is_unfolded and self._groups is not None:
            bounds = self._groups.bounds
        first = int(table.incoming.place[0]) if len(table.incoming.place) else INFINITY
        sought = table.buckets(marks_of(words)), words.view(np.int64), bounds
        among = table.kept, table.heads, table.codes, target.lives, first, PLACES + probe.target
        arrays = *sought, *among
        tally.probes += len(partials)
        for part in self._filled(
            len(partials), lambda cursor, room: extend(partials, *arrays, cursor, room)
        ):
            tally.matches += len(part)
            yield part

    def _words(self, probe: Probe, partials: Ints, is_unfolded: bool) -> Words:
        """The words of the keys that the rows looked for have."""
        if probe.source == self.course.origin:
            table = self._origin.table(probe.agreements)
            return table.new_words[self._rows[self._seeds_of(partials, is_unfolded)]]
        if probe.source is not None:
            table = self._inputs[probe.source].table(probe.agreements)
            return table.words_at(places_of(partials, probe.source))
        columns = []
        for agreement, source in zip(probe.agreements, probe.sources, strict=True):
            places = places_of(partials, source)
            if source == self.course.origin:
                places = self._spots[self._seeds_of(partials, is_unfolded)]
            columns.append(self._inputs[source].key_column(places, agreement))
        return fingerprints(columns, len(partials))

    def _seeds_of(self, partials: Ints, is_unfolded: bool) -> Ints:
        """A new row that each is for, by its number among those that may find anything."""
        groups = partials[:, GROUP]
        if is_unfolded or self._groups is None:
            return groups
        return self._groups.members[self._groups.starts[groups]]

    def _filled(self, rows: int, fill: Callable[[Ints, Ints], int]) -> Iterator[Ints]:
        """What a loop over so many partial combinations finds, some at a time."""
        cursor = np.array([0, START], np.int64)
        # A match or two is usual; if there are more, there may be many more.
        size = min(self._at_once, 2 * rows + 64)
        while int(cursor[0]) < rows:
            room = self._room(size)
            count = fill(cursor, room)
            if count:
                yield room[:count]
            size = self._at_once

    def _room(self, rows: int) -> Ints:
        return np.empty((rows, self._width), np.int64)


def _grouping(course: Course, origin: InputRows) -> list[int] | None:
    """The tables whose keys tell new rows apart as far as it matters; None: there are none."""
    for number, table in reversed(list(enumerate(origin.tables))):
        if course.reads <= set(table.agreements):
            return [number] if course.reads else []
    covered = {one for table in origin.tables for one in table.agreements}
    return list(range(len(origin.tables))) if course.reads <= covered else None


def places_of(partials: Ints, number: int) -> Ints:
    """Where the rows of an input are."""
    return np.ascontiguousarray(partials[:, PLACES + number])
