"""Statistics of the rows that come, known or assumed: how many, and how different."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from penstock.algebra.types import BOOLEAN
from penstock.operators.flow import DIFFERENT_VALUES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.algebra.time import TimeUnit
    from penstock.algebra.types import Type

ASSUMED = "assumed"
"""The origin of rates that nobody has stated or measured."""
ROWS_PER_SECOND = 1000.0
"""The speed of a stream of which nothing is known."""
ROWS_PER_TICK = 1.0
"""The same where time has no unit."""
RELATION_ROWS = 1000.0
"""The number of rows a relation is thought to have; they change seldom."""
ENDLESS_SECONDS = 3600.0
"""After how long the state of what never ends is looked at."""
ENDLESS_TICKS = 100_000.0


@dataclass(frozen=True)
class ExpectedRate:
    """The rate of a stream of which nothing was measured: its declaration, or its files, say it."""

    rate: float
    origin: Literal["stated", "first rows"]


def stated_rates(rates: Mapping[str, float]) -> Statistics:
    """Statistics of streams whose declarations state rates, in rows in a step of time."""
    return Statistics(expected={name: ExpectedRate(one, "stated") for name, one in rates.items()})


@dataclass(frozen=True)
class Statistics:
    """Rates, distinct counts and selectivities; what is not there is assumed.

    Args:
        rates: Rows of a stream in a step of its time.
        values: How many values a column has, by source and column.
        selectivities: The share of rows that a predicate lets pass, by the predicate as it is
            written over columns of sources (`tracing`); of pairs, if it is asked
            of rows of several. Of [NOT] EXISTS, the share of left rows that are in the result.
        even: How many equally frequent values would be the same in two rows as often as those of
            a column are, by source and column: the more some values prevail, the fewer.
        outputs: Of an aggregate or DISTINCT, how many rows it sends and how many it withdraws for
            each row that comes, by what it is made of (`origins`). The same of a
            semi-join or an anti-join for each left row, by its [NOT] EXISTS.
        expected: Rates of streams that were not measured, but are not assumed either.
    """

    rates: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[tuple[str, str], float] = field(default_factory=dict)
    selectivities: Mapping[str, float] = field(default_factory=dict)
    even: Mapping[tuple[str, str], float] = field(default_factory=dict)
    outputs: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    expected: Mapping[str, ExpectedRate] = field(default_factory=dict)

    @property
    def has_names(self) -> bool:
        """Something is known of operators, by their names."""
        return bool(self.selectivities or self.outputs)

    def __bool__(self) -> bool:
        """Something is known."""
        known = (self.rates, self.values, self.selectivities, self.outputs, self.expected)
        return any(known)

    def to_json(self) -> dict[str, Any]:
        """As it is written down: in order, and rounded, so that what hardly differs is the same."""
        expected = {name: [one.rate, one.origin] for name, one in sorted(self.expected.items())}
        return {
            "even": _by_source(self.even),
            "expected": expected,
            "outputs": {
                key: [rounded(sent), rounded(withdrawn)]
                for key, (sent, withdrawn) in sorted(self.outputs.items())
            },
            "rates": {name: rounded(one) for name, one in sorted(self.rates.items())},
            "selectivities": {key: rounded(one) for key, one in sorted(self.selectivities.items())},
            "values": _by_source(self.values),
        }

    @staticmethod
    def from_json(written: Mapping[str, Any]) -> Statistics:
        """As it was written down."""
        values, even = (_by_column(written.get(one, {})) for one in ("values", "even"))
        selectivities = dict(written.get("selectivities", {}))
        outputs = {key: (one[0], one[1]) for key, one in written.get("outputs", {}).items()}
        expected = {key: ExpectedRate(*one) for key, one in written.get("expected", {}).items()}
        rates = dict(written.get("rates", {}))
        return Statistics(rates, values, selectivities, even, outputs, expected)

    def rate(self, stream: str, unit: TimeUnit) -> float:
        """Rows of a stream in a step of time."""
        if stream in self.rates:
            return self.rates[stream]
        if stream in self.expected:
            return self.expected[stream].rate
        return ROWS_PER_TICK if unit.micros is None else ROWS_PER_SECOND * unit.micros / 1e6

    def rate_origin(self, stream: str) -> str:
        """The origin of what is said of the rate of a stream: a word for people."""
        if stream in self.rates:
            return "measured"
        return self.expected[stream].origin if stream in self.expected else ASSUMED

    def expecting(self, expected: Mapping[str, ExpectedRate]) -> Statistics:
        """The same, with what is expected of streams that were not measured."""
        return replace(self, expected={**self.expected, **expected})

    def different(self, source: str, column: str, of: Type) -> float:
        """The number of values of a column of a source."""
        assumed = 2.0 if of == BOOLEAN else DIFFERENT_VALUES
        return self.values.get((source, column), assumed)


def _by_source(counts: Mapping[tuple[str, str], float]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for (source, column), count in sorted(counts.items()):
        found.setdefault(source, {})[column] = rounded(count)
    return found


def _by_column(counts: Mapping[str, Mapping[str, float]]) -> dict[tuple[str, str], float]:
    return {
        (source, column): float(count)
        for source, columns in counts.items()
        for column, count in columns.items()
    }


def rounded(number: float) -> float:
    """A number with three digits.

    >>> rounded(1234.5), rounded(0.00098765)
    (1230.0, 0.000988)
    """
    return float(f"{number:.3g}")


def endless_name(unit: TimeUnit | None) -> str:
    """The length of `endless_span`, for people."""
    return f"{ENDLESS_TICKS:,.0f} ticks" if unit is None or unit.micros is None else "an hour"


def endless_span(unit: TimeUnit | None) -> float:
    """Steps of time after which what never ends is looked at."""
    if unit is None or unit.micros is None:
        return ENDLESS_TICKS
    return ENDLESS_SECONDS * 1e6 / unit.micros
