"""Comparing two results instant by instant, and saying readably where they part.

Results are compared by snapshots, as bags: how intervals are cut, and in which order rows of one
instant come, is nobody's promise. Floating point numbers may differ by a `Tolerance`.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from penstock.algebra.time import BEGINNING
from penstock.algebra.values import format_value
from penstock.reference.timeline import Bag, Emission, Row, Timeline, in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from penstock.algebra.expressions import Value
    from penstock.algebra.time import TimeUnit
    from penstock.algebra.types import Schema

Wanted = TypeVar("Wanted")
Found = TypeVar("Found")

SHOWN = 12
"""Rows and instants listed before a report says how many more there are."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The distance at which two floating point numbers still count as the same.

    `absolute` is for sums in which large numbers cancel: set it to 1e-9 of the largest input.

    >>> Tolerance().same(0.1 + 0.2, 0.3), Tolerance().same(1, 2)
    (True, False)
    """

    relative: float = 1e-9
    absolute: float = 0.0

    def same(self, expected: Value, actual: Value) -> bool:
        """Equality of two values of one column; NULL equals NULL, NaN equals NaN."""
        if not (isinstance(expected, float) and isinstance(actual, float)):
            return expected == actual
        if math.isnan(expected) or math.isnan(actual):
            return math.isnan(expected) and math.isnan(actual)
        return math.isclose(expected, actual, rel_tol=self.relative, abs_tol=self.absolute)

    def same_rows(self, expected: Row, actual: Row) -> bool:
        """Equality of two rows, column by column."""
        return len(expected) == len(actual) and all(map(self.same, expected, actual))


DEFAULT_TOLERANCE = Tolerance()


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Rows (as text) that are missing at an instant, and rows too many."""

    at: int
    missing: Sequence[str]
    unexpected: Sequence[str]


def compare_timelines(
    expected: Timeline,
    actual: Timeline,
    schema: Schema,
    unit: TimeUnit,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
) -> str | None:
    """The first place where two results have different snapshots, as text; None if nowhere.

    >>> from penstock.algebra.time import TimeUnit
    >>> from penstock.algebra.types import INT, Field
    >>> from penstock.algebra.types import Schema
    >>> nothing, ten = Counter(), Counter({(10,): 1})
    >>> print(compare_timelines(
    ...     Timeline([BEGINNING, 1, 11], [nothing, ten, nothing]),
    ...     Timeline([BEGINNING, 1, 12], [nothing, ten, nothing]),
    ...     Schema((Field("a", INT),)), TimeUnit.TICK))
    the first difference is at 11:
      unexpected  10
    """
    differences = []
    for at in sorted({*expected.starts, *actual.starts}):
        missing, unexpected = _apart(expected.at(at), actual.at(at), tolerance)
        if missing or unexpected:
            differences.append(
                Mismatch(at, _shown(missing, schema), _shown(unexpected, schema)),
            )
    return report(differences, unit)


def compare_emissions(
    expected: Sequence[Emission],
    actual: Sequence[Emission],
    schema: Schema,
    unit: TimeUnit,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
    *,
    ordered: bool = False,
) -> str | None:
    """The first place where two streams of rows part, as text; None if nowhere.

    Rows of one instant are compared as bags; with `ordered`, one after the other.
    """
    wanted, found = by_instant(expected), by_instant(actual)
    differences = []
    for at in sorted({*wanted, *found}):
        left, right = wanted[at], found[at]
        missing, unexpected = _apart(Counter(left), Counter(right), tolerance)
        if missing or unexpected:
            differences.append(
                Mismatch(at, _shown(missing, schema), _shown(unexpected, schema)),
            )
        elif ordered:
            same = list(map(tolerance.same_rows, left, right))
            wrong = out_of_order(at, _shown(left, schema), _shown(right, schema), same)
            differences += [wrong] if wrong else []
    return report(differences, unit)


def out_of_order(
    at: int, expected: Sequence[str], actual: Sequence[str], same: Sequence[bool]
) -> Mismatch | None:
    """The places at which the right rows come in a wrong order; None if there are none.

    >>> out_of_order(5, ["a", "b"], ["b", "a"], [False, False]).missing
    ['a, as row 1', 'b, as row 2']
    """
    wrong = [index for index, right in enumerate(same) if not right]
    if not wrong:
        return None
    return Mismatch(
        at,
        [f"{expected[index]}, as row {index + 1}" for index in wrong],
        [f"{actual[index]}, as row {index + 1}" for index in wrong],
    )


def by_instant(emissions: Iterable[Emission]) -> defaultdict[int, list[Row]]:
    """The rows sent out at each instant, in order."""
    rows: defaultdict[int, list[Row]] = defaultdict(list)
    for emission in emissions:
        rows[emission.at].append(emission.row)
    return rows


def report(differences: Sequence[Mismatch], unit: TimeUnit) -> str | None:
    """The first difference in full, and at which other instants there are more.

    >>> from penstock.algebra.time import TimeUnit
    >>> found = [Mismatch(5, ["1 | a"], ["1 | b"]), Mismatch(9, [], ["2 | a"])]
    >>> print(report(found, TimeUnit.TICK))
    the first difference is at 5:
      missing     1 | a
      unexpected  1 | b
    1 more instant differs: 9
    """
    if not differences:
        return None
    first, *others = differences
    lines = [f"the first difference is {_moment(first.at, unit)}:"]
    lines += [f"  missing     {row}" for row in first.missing[:SHOWN]]
    lines += _more(first.missing)
    lines += [f"  unexpected  {row}" for row in first.unexpected[:SHOWN]]
    lines += _more(first.unexpected)
    if others:
        single = len(others) == 1
        count = "1 more instant differs" if single else f"{len(others)} more instants differ"
        instants = [unit.format(other.at) for other in others[:SHOWN]]
        tail = ", ..." if len(others) > SHOWN else ""
        lines.append(f"{count}: {', '.join(instants)}{tail}")
    return "\n".join(lines)


def unmatched(
    expected: Sequence[Wanted],
    actual: Sequence[Found],
    accepts: Callable[[Wanted, Found], bool],
) -> tuple[list[Wanted], list[Found]]:
    """The rest of two bags when as many members as possible are paired.

    Needed where "the same" is not an equality: 1.4 may pass for both `1~` and `1.4~`, and the
    pairing that leaves nothing over is the one that counts.

    >>> unmatched(["a*", "ab"], ["ab", "ac", "b"], lambda p, s: s.startswith(p.rstrip("*")))
    ([], ['b'])
    """
    pairing = _Pairing(
        [
            [index for index, found in enumerate(actual) if accepts(wanted, found)]
            for wanted in expected
        ]
    )
    missing = [one for index, one in enumerate(expected) if not pairing.place(index)]
    taken = pairing.owner
    return missing, [one for index, one in enumerate(actual) if index not in taken]


class _Pairing:
    """A largest pairing, grown one member at a time by moving earlier ones (Kuhn's algorithm)."""

    def __init__(self, choices: list[list[int]]) -> None:
        self.choices = choices
        self.owner: dict[int, int] = {}

    def place(self, member: int) -> bool:
        return self._place(member, set())

    def _place(self, member: int, tried: set[int]) -> bool:
        # A free partner first: bags of equal rows would otherwise move each other in a long chain.
        for choice in self.choices[member]:
            if choice not in self.owner:
                self.owner[choice] = member
                return True
        for choice in self.choices[member]:
            if choice not in tried:
                tried.add(choice)
                if self._place(self.owner[choice], tried):
                    self.owner[choice] = member
                    return True
        return False


def _apart(expected: Bag, actual: Bag, tolerance: Tolerance) -> tuple[list[Row], list[Row]]:
    """The rows missing and the rows too many; exact equality is settled first, it is cheap."""
    missing, unexpected = in_order(expected - actual), in_order(actual - expected)
    if not (missing and unexpected):
        return missing, unexpected
    return unmatched(missing, unexpected, tolerance.same_rows)


def _shown(rows: Sequence[Row], schema: Schema) -> list[str]:
    return [" | ".join(map(format_value, row, schema.types)) for row in rows]


def _moment(at: int, unit: TimeUnit) -> str:
    return "before all input" if at == BEGINNING else f"at {unit.format(at)}"


def _more(rows: Sequence[str]) -> list[str]:
    return [f"  ... and {len(rows) - SHOWN} more such rows"] if len(rows) > SHOWN else []
