"""Joins of many inputs in one operator, which keeps no partial result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from penstock.algebra.patterns import Pattern
from penstock.operators.block import Block
from penstock.operators.declared_state.state_part import DeclaredState
from penstock.operators.join.matching import Matching, Probed
from penstock.operators.multi_join.multi_join_combining import (
    AT_ONCE,
    Combining,
    Evaluation,
    places_of,
)
from penstock.operators.multi_join.multi_join_loops import BEGIN, SIGN, UNTIL, arrival_order
from penstock.operators.multi_join.multi_join_probes import Theta, course_of, tables_of
from penstock.operators.multi_join.multi_join_rows import InputRows, Sizing
from penstock.state.cutting import portions_of_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.operators.join.join_sides import JoinSide
    from penstock.operators.multi_join.multi_join_probes import Agreements, Levels
    from penstock.operators.operator import Inputs
    from penstock.state.arrays import Ints

Expiration = Literal["eager", "lazy"]
"""Rows that have ended are forgotten in every portion; or when there are many of them."""

_LEAST, _MOST = 1 << 13, 1 << 16
"""New rows that are processed together, at least and at most, if there are so many."""
_SMALL = 1 << 13
"""Fewer combinations than so many wait for others, before their columns are gathered."""

__all__ = ["Evaluation", "Expiration", "MultiJoin", "Theta"]


class MultiJoin(Matching):
    """All combinations of a row of each input that agree, and satisfy all conditions.

    A combination is valid where all its rows are. New rows look for the rows of other inputs, one
    input after the other; what they find on the way is forgotten.

    Args:
        inputs: What is joined.
        agreements: For each input, to which class of equal columns each key column belongs. An
            input has at most one of a class, and a class has at least two inputs.
        thetas: What combinations must satisfy besides.
        orders: For each input, in which order its new rows probe the others.
        levels: For each input, behind how many probes of its new rows conditions are asked; None:
            as soon as their inputs are there.
        evaluation: Whether new rows of one key look for others together.
        expiration: When rows that have ended are forgotten.
        at_once: Partial combinations that are there together, at most.
        portion: New rows that are processed together; None: as the windows suggest.
        expected: For each input, how many rows there will be at a time, about: its hash tables
            begin with room for them.
        buckets: For each input, how many buckets its hash tables have, whatever it has rows; in
            one bucket, all rows are compared. None: as many as the rows need. Benchmarks compare
            the two; no plan sets it.
    """

    def __init__(
        self,
        inputs: Sequence[JoinSide],
        agreements: Sequence[Agreements],
        thetas: Sequence[Theta],
        orders: Sequence[Sequence[int]],
        *,
        levels: Sequence[Levels] | None = None,
        evaluation: Evaluation = "lazy",
        expiration: Expiration = "lazy",
        at_once: int = AT_ONCE,
        portion: int | None = None,
        expected: Sequence[int] | None = None,
        buckets: Sequence[int] | None = None,
    ) -> None:
        self._sides = inputs
        self._agreements = agreements
        self._thetas = thetas
        self._evaluation: Evaluation = evaluation
        self._is_eager = expiration == "eager"
        self._at_once = at_once
        self._portion = portion
        self._signed = any(side.pattern is Pattern.STR for side in inputs)
        self._rank = 0
        self._tables: list[tuple[Agreements, ...]] = []
        self._sizings = [
            Sizing(expected[one] if expected else 0, buckets[one] if buckets else None)
            for one in range(len(inputs))
        ]
        self.reorder(orders, levels)

    def reorder(
        self, orders: Sequence[Sequence[int]], levels: Sequence[Levels] | None = None
    ) -> None:
        """From now on, probe in other orders, and ask at other places; between two steps."""
        courses = [
            course_of(
                origin,
                order,
                self._agreements,
                self._thetas,
                None if levels is None else levels[origin],
            )
            for origin, order in enumerate(orders)
        ]
        tables = tables_of(courses, len(self._sides))
        if tables != self._tables:
            segments = self.segments() if self._tables else {}
            self._tables = tables
            self._build()
            if segments:
                self.restore(segments)
        self._combining = [
            Combining(course, self._rows, self._evaluation, self._at_once) for course in courses
        ]

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """The combinations that begin in this step."""
        arrived = [rows.arrange(each) for rows, each in zip(self._rows, inputs, strict=True)]
        starts = np.cumsum([0, *(len(ts) for ts, _ in arrived)])
        ts = np.concatenate([ts for ts, _ in arrived])
        sign = np.concatenate([sign for _, sign in arrived])
        ranks, cuts = arrival_order(ts, sign, starts, self._portion_rows())
        ranks += self._rank
        self._rank += len(ranks)
        results: list[Block] = []
        for portion in range(len(cuts) - 1):
            for number, rows in enumerate(self._rows):
                start, stop = int(cuts[portion, number]), int(cuts[portion + 1, number])
                at = starts[number]
                rows.enter(start, stop, ranks[at + start : at + stop])
            for found in self._found():
                results += self._results(found)
            behind = self._clock_behind(portion, ts, starts, cuts, clock)
            for rows in self._rows:
                rows.expire(behind, self._is_eager)
        for rows in self._rows:
            rows.clock = clock
        return results

    @property
    def measured(self) -> list[Probed]:
        """The number of times each probe was made since orders were last set, and its finds.

        Tests look at it; what rows look for together is decided by the same counts.
        """
        return [
            Probed(one.course.origin, probe.target, probe.agreements, tally.probes, tally.matches)
            for one in self._combining
            for probe, tally in zip(one.course.probes, one.tallies, strict=True)
        ]

    @property
    def structures(self) -> tuple[str, ...]:
        """The structures that the rows of each input are kept in."""
        return tuple(rows.first.rows.structure for rows in self._rows)

    def _build(self) -> None:
        """Empty structures for the tables."""
        parts = zip(self._sides, self._agreements, self._tables, self._sizings, strict=True)
        self._rows = [InputRows(port, *part) for port, part in enumerate(parts)]
        self.state = DeclaredState(**{f"input {one.port}": one for one in self._rows})

    def _portion_rows(self) -> int:
        """Few enough that a row passes by few that came later, compared with those before it."""
        if self._portion is not None:
            return self._portion
        return min(max(self.state_rows // 4, _LEAST), _MOST)

    def _clock_behind(self, portion: int, ts: Ints, starts: Ints, cuts: Ints, clock: int) -> int:
        """The instant of the first row behind a portion."""
        if portion == len(cuts) - 2:
            return clock
        at = starts[:-1] + cuts[portion + 1]
        return int(min(ts[one] for one, stop in zip(at, starts[1:], strict=True) if one < stop))

    def _found(self) -> Iterator[Ints]:
        """The combinations that a portion completes; small parts of them together."""
        small: list[Ints] = []
        count = 0
        for found in (each for one in self._combining for each in one.found()):
            if len(found) >= _SMALL:
                yield found
                continue
            # It may lie in room for many more.
            small.append(found.copy())
            count += len(found)
            if count >= _SMALL:
                yield np.concatenate(small)
                small, count = [], 0
        if small:
            yield np.concatenate(small)

    def _results(self, found: Ints) -> Iterator[Block]:
        places = [places_of(found, number) for number in range(len(self._rows))]
        weights = [
            weight
            for rows, one in zip(self._rows, places, strict=True)
            for weight in rows.weights(one)
        ]
        for part in portions_of_text(len(found), weights):
            columns = [
                column
                for rows, one in zip(self._rows, places, strict=True)
                for column in rows.take(one[part])
            ]
            sign = found[part, SIGN].astype(np.int8) if self._signed else None
            yield Block(tuple(columns), found[part, BEGIN].copy(), found[part, UNTIL].copy(), sign)
