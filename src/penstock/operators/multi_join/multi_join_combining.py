"""Combinations of rows of many inputs that a portion of new rows completes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from penstock.algebra.time import INFINITY
from penstock.operators.join.join_loops import START
from penstock.operators.multi_join.multi_join_columns import Gathered
from penstock.operators.multi_join.multi_join_groups import Grouping, Tally
from penstock.operators.multi_join.multi_join_loops import (
    BEGIN,
    BORN,
    DIED,
    FIRST,
    FIRST_TS,
    FOREVER,
    GROUP,
    LAST,
    PLACES,
    SIGN,
    UNTIL,
    extend,
    narrow,
    unfold,
)
from penstock.state.cutting import portions_of_text
from penstock.state.fingerprints import fingerprints
from penstock.state.probing import marks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.operators.multi_join.multi_join_probes import Course, Probe, Theta
    from penstock.operators.multi_join.multi_join_rows import InputRows
    from penstock.state.arrays import Flags, Ints, Words

Evaluation = Literal["eager", "lazy"]
"""Each new row looks for others by itself; or those of one key do so together."""

AT_ONCE = 1 << 16
"""Partial combinations of one kind that are there together, at most."""


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
        self._targets = [inputs[one.target].table_over(one.agreements) for one in course.probes]
        self._grouping = None
        if evaluation == "lazy":
            self._grouping = Grouping(course, inputs, self._targets, self.tallies)
        self._at_once = at_once
        self._width = PLACES + len(inputs)

    def found(self) -> Iterator[Ints]:
        """The combinations, some at a time, with BEGIN and SIGN."""
        self._rows = self._seeds()
        if not len(self._rows):
            return
        incoming = self._origin.first.incoming
        self._bounds = self._bounds_of_rows()
        self._ends = incoming.te[self._rows]
        self._spots = self._origin.spots(incoming.place[self._rows])
        self._groups = None
        if self._grouping is not None:
            self._groups = self._grouping.groups(self._rows, self._bounds)
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
            new = self._rows[part[:, GROUP]]
            part[:, BEGIN], part[:, SIGN] = incoming.ts[new], incoming.sign[new]
            yield part

    def _seeds(self) -> Ints:
        """The new rows whose keys may have rows wherever they can be asked for."""
        rows = np.arange(len(self._origin.ranks))
        count = len(rows)
        for probe, table in zip(self.course.probes, self._targets, strict=True):
            if probe.source == self.course.origin:
                marks = self._origin.table_over(probe.agreements).new_marks
                count = narrow(rows, count, marks, table.heads, table.kept.oldest)
        return rows[:count]

    def _bounds_of_rows(self) -> Ints:
        bounds = np.empty((len(self._rows), 3), np.int64)
        bounds[:, FIRST_TS] = self._origin.first.incoming.ts[self._rows]
        bounds[:, FIRST] = bounds[:, LAST] = self._origin.ranks[self._rows]
        return bounds

    def _reached(self, level: int, partials: Ints, is_unfolded: bool) -> Iterator[Ints]:
        """Go on with combinations for which so many probes have been made."""
        if is_unfolded or (self._groups is not None and level < self._groups.probes):
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
            columns = Gathered([one.columns_at(places[part]) for one, places in rows])
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
        probe, tally, table = self.course.probes[level], self.tallies[level], self._targets[level]
        words = self._words(probe, partials, is_unfolded)
        bounds = self._bounds
        if not is_unfolded and self._groups is not None:
            bounds = self._groups.bounds
        first = int(table.incoming.place[0]) if len(table.incoming.place) else INFINITY
        sought = table.buckets(marks_of(words)), words.view(np.int64), bounds
        lives = self._inputs[probe.target].lives
        among = table.kept, table.heads, table.codes, lives, first, PLACES + probe.target
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
            table = self._origin.table_over(probe.agreements)
            return table.new_words[self._rows[self._seeds_of(partials, is_unfolded)]]
        if probe.source is not None:
            table = self._inputs[probe.source].table_over(probe.agreements)
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
        """The finds of a loop over so many partial combinations, some at a time."""
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


def places_of(partials: Ints, number: int) -> Ints:
    """The places of the rows of an input."""
    return np.ascontiguousarray(partials[:, PLACES + number])
