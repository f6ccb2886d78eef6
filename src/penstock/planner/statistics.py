"""What is known, or assumed, of the rows that come: how many, and how different."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.algebra.types import BOOLEAN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.algebra.time import TimeUnit
    from penstock.algebra.types import Type

ROWS_PER_SECOND = 1000.0
"""How fast a stream is thought to be of which nothing is known."""
ROWS_PER_TICK = 1.0
"""The same where time has no unit."""
RELATION_ROWS = 1000.0
"""How many rows a relation is thought to have; they change seldom."""
DIFFERENT_VALUES = 1000.0
"""How many values a column is thought to have."""
SECONDS_OF_FOREVER = 3600.0
"""After how long the state of what never ends is looked at."""
TICKS_OF_FOREVER = 100_000.0


@dataclass(frozen=True)
class Statistics:
    """Rates and distinct counts, by source; what is not there is assumed.

    Args:
        rates: Rows of a stream in a step of its time.
        values: How many values a column has, by source and column.
    """

    rates: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def to_json(self) -> str:
        """As text; the same for the same statistics."""
        values = [[*key, one] for key, one in sorted(self.values.items())]
        return json.dumps({"rates": dict(sorted(self.rates.items())), "values": values})

    @staticmethod
    def from_json(text: str) -> Statistics:
        """What was written as text; nothing is known if that is empty."""
        if not text:
            return Statistics()
        made = json.loads(text)
        values = {(source, column): one for source, column, one in made["values"]}
        return Statistics(made["rates"], values)

    def rate(self, stream: str, unit: TimeUnit) -> float:
        """Rows of a stream in a step of time."""
        if stream in self.rates:
            return self.rates[stream]
        return ROWS_PER_TICK if unit.micros is None else ROWS_PER_SECOND * unit.micros / 1e6

    def different(self, source: str, column: str, of: Type) -> float:
        """How many values a column of a source has."""
        assumed = 2.0 if of == BOOLEAN else DIFFERENT_VALUES
        return self.values.get((source, column), assumed)


def forever(unit: TimeUnit | None) -> float:
    """Steps of time after which what never ends is looked at."""
    if unit is None or unit.micros is None:
        return TICKS_OF_FOREVER
    return SECONDS_OF_FOREVER * 1e6 / unit.micros
