"""In which order a join of many inputs looks for the rows of a combination, and by what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from penstock.state.arrays import Flags

    Asks = Callable[[Sequence[pa.Array], int], Flags]

Agreements = tuple[int, ...]
"""Numbers of equality classes, ascending."""
Levels = Sequence[int]
"""For each condition, behind how many probes it is asked."""


@dataclass(frozen=True)
class Theta:
    """A condition on some of the inputs, beyond equal keys.

    Args:
        inputs: The numbers of the inputs it reads, ascending.
        asks: Is given the columns of all of these, in this order, side by side, and how many
            combinations there are; says which satisfy it. A column is gathered when it is read.
        cost: What it takes to be rid of a combination by it; of those asked at one place the
            cheapest comes first.
    """

    inputs: tuple[int, ...]
    asks: Asks
    cost: float = 1.0


@dataclass(frozen=True)
class Probe:
    """A look for the rows of one more input that fit what is there of a combination.

    Args:
        target: The input.
        agreements: Its rows are found by these; if there are none, all rows are visited.
        source: An input that is there and has all of these; None: there is none.
        sources: For each agreement, an input that is there and has it.
    """

    target: int
    agreements: Agreements
    source: int | None
    sources: tuple[int, ...]


@dataclass(frozen=True)
class Course:
    """The way of new rows of an input.

    Args:
        origin: The input.
        probes: What is looked for, in order.
        thetas: The conditions asked before the first probe, and behind each.
    """

    origin: int
    probes: tuple[Probe, ...]
    thetas: tuple[tuple[Theta, ...], ...]

    @property
    def together(self) -> int:
        """The number of probes before it matters which of the new rows of one key it is."""
        asked = (
            level
            for level, thetas in enumerate(self.thetas)
            if any(self.origin in theta.inputs for theta in thetas)
        )
        return next(asked, len(self.probes))

    @property
    def reads(self) -> set[int]:
        """The agreements of the new rows that anything is found by until then."""
        return {
            agreement
            for probe in self.probes[: self.together]
            for agreement, source in zip(probe.agreements, probe.sources, strict=True)
            if source == self.origin
        }


def course_of(
    origin: int,
    order: Sequence[int],
    agreements: Sequence[Agreements],
    thetas: Sequence[Theta],
    levels: Levels | None = None,
) -> Course:
    """The course of new rows of an input, if the others are probed in this order.

    Conditions are asked where `levels` says, but not before all of their inputs are there; or, if
    it is None, as soon as these are.
    """
    bound = [origin]
    probes = []
    for target in order:
        probes.append(_probe(target, bound, agreements))
        bound.append(target)
    asked: list[list[Theta]] = [[] for _ in bound]
    for number, theta in enumerate(thetas):
        first = max((bound.index(one) for one in theta.inputs), default=0)
        asked[first if levels is None else max(first, levels[number])].append(theta)
    in_turn = (tuple(sorted(each, key=lambda theta: theta.cost)) for each in asked)
    return Course(origin, tuple(probes), tuple(in_turn))


def tables_of(courses: Sequence[Course], inputs: int) -> list[tuple[Agreements, ...]]:
    """By which agreements the rows of each input must be found; those that tell most apart first.

    What is found by the key of another input's row must be among the keys of that one, too: so
    nothing needs to be looked up.
    """
    found: list[set[Agreements]] = [set() for _ in range(inputs)]
    for course in courses:
        for probe in course.probes:
            found[probe.target].add(probe.agreements)
            if probe.source is not None:
                found[probe.source].add(probe.agreements)
    return [tuple(sorted(one, key=lambda each: (-len(each), each))) for one in found]


def _probe(target: int, bound: Sequence[int], agreements: Sequence[Agreements]) -> Probe:
    there = {agreement for one in bound for agreement in agreements[one]}
    shared = tuple(sorted(set(agreements[target]) & there))
    whole = next((one for one in bound if set(shared) <= set(agreements[one])), None)
    sources = tuple(
        next(one for one in bound if agreement in agreements[one]) for agreement in shared
    )
    if whole is not None:
        sources = (whole,) * len(shared)
    return Probe(target, shared, whole if shared else None, sources)
