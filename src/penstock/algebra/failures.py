"""Failures of parts of expressions, which became NULL."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Failures:
    """The number of expressions that failed, by function name (casts under `cast`)."""

    by_function: Counter[str] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        """All failures."""
        return self.by_function.total()

    def add(self, function: str, how_many: int = 1) -> None:
        """Count failures of a function; none leaves no trace."""
        if how_many:
            self.by_function[function] += how_many
