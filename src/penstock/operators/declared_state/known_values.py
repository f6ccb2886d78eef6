"""Values that an operator knows, and that all lanes come to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from penstock.operators.declared_state.state_part import StatePart

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from penstock.operators.division import Division
    from penstock.operators.operator import Segments

    Rule = Callable[[pa.ChunkedArray], pa.Scalar]

_KNOWN = "known"


class KnownValues(StatePart):
    """Attributes of an operator: integers, flags, or nothing known yet.

    Args:
        owner: The operator.
        rules: By the names of attributes, what they are if the lanes know different values.
    """

    def __init__(self, owner: object, **rules: Rule) -> None:
        self._owner = owner
        self._rules = rules

    def segments(self) -> Segments:
        """The values in one row; nothing known is NULL."""
        values = {name: getattr(self._owner, name) for name in self._rules}
        kinds = {
            name: pa.bool_() if isinstance(one, bool) else pa.int64()
            for name, one in values.items()
        }
        return {
            _KNOWN: pa.table({name: pa.array([one], kinds[name]) for name, one in values.items()})
        }

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Know them again."""
        (row,) = segments[_KNOWN].to_pylist()
        for name in self._rules:
            setattr(self._owner, name, row[name])

    def divided(self, parts: Sequence[Segments], division: Division) -> list[Segments]:
        """All that any lane knows, for all."""
        known = pa.concat_tables([part[_KNOWN] for part in parts if part])
        columns = {name: [rule(known[name]).as_py()] for name, rule in self._rules.items()}
        return [{_KNOWN: pa.table(columns, schema=known.schema)} for _ in range(division.lanes)]


LATEST: Rule = pc.max
EARLIEST: Rule = pc.min
