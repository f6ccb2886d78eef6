"""What every block operator is: blocks in, blocks out, state that can be saved and restored."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from penstock.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from penstock.operators.block import Block
    from penstock.operators.division import Division
    from penstock.operators.join.pair_condition import PairCondition
    from penstock.operators.multi_join.multi_join import Measured

Segments = dict[str, "pa.Table"]
"""The state of an operator as Arrow tables, by name."""


@dataclass
class Metrics:
    """What an operator has done so far."""

    rows_in: int = 0
    rows_out: int = 0
    withdrawn: int = 0
    seconds: float = 0.0


class Operator:
    """Turns blocks into blocks and owns its state.

    Time goes in steps. Between `advance(c0)` and `advance(c1)` every input row with
    c0 <= ts < c1, and no other, comes through `process`; before the first `advance` also what
    has been there from the beginning. Of one instant, negative rows withdraw only elements that
    began before it. The results follow the same rules on the way out, so operators compose.

    Attributes:
        meets: Whether what comes of a row depends on others that come into the same lane.
        condition: What it asks of pairs of rows beyond equal keys; None: nothing.
        conditions: What it asks of some rows of several inputs each, by their names in statistics.
        reordered: How often a join of many inputs has changed the order in which it probes them.
    """

    meets = True
    condition: PairCondition | None = None
    conditions: Mapping[str, PairCondition] = MappingProxyType({})
    reordered = 0

    def process(self, port: int, block: Block) -> Sequence[Block]:
        """Take rows of an input; return results that do not depend on anything yet to come."""
        raise NotImplementedError

    def advance(self, clock: int) -> Sequence[Block]:
        """All rows before the clock have come: return the remaining results before it."""
        del clock
        return ()

    def shrink(self) -> None:
        """Give back room that has been empty for a while; an operator does so behind its steps."""

    def frontier(self, clock: int) -> int:
        """Results before this instant are complete, once `advance(clock)` has been called."""
        return clock

    def segments(self) -> Segments:
        """The state, between two steps."""
        return {}

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Go on from saved state; the operator is new and has processed nothing."""
        if segments:
            msg = f"{type(self).__name__} keeps no state, but was given {', '.join(segments)}"
            raise InternalError(msg)

    def divided(self, parts: Sequence[Segments], division: Division) -> list[Segments]:
        """The state of some lanes, from that of others; the operator is new.

        All of them have come equally far. Between them they know what one lane would know.

        Raises:
            CannotDivide: The state does not say how.
        """
        if any(parts):
            raise division.refused()
        return [{} for _ in range(division.lanes)]

    @property
    def measured(self) -> Sequence[Measured]:
        """The probes of a join of many inputs, for the rows of each input in order."""
        return ()

    @property
    def structures(self) -> tuple[str, ...]:
        """Where a join keeps the rows of each input now; where ends wait that may be cancelled."""
        return ()

    @property
    def state_rows(self) -> int:
        """How many rows it remembers."""
        return 0

    @property
    def state_bytes(self) -> int:
        """How many bytes of memory they take."""
        return 0
