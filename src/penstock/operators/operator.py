"""The contract of block operators: blocks in, blocks out, state that can be saved and restored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.operators.declared_state.state_part import DeclaredState

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from penstock.operators.block import Block
    from penstock.operators.division import Division

Inputs = Sequence[Sequence["Block"]]
"""The rows of a step: for each input blocks, none of them empty, in the order they came."""
Segments = dict[str, "pa.Table"]
"""The state of an operator as Arrow tables, by name."""


@dataclass
class Metrics:
    """The work of an operator so far."""

    rows_in: int = 0
    rows_out: int = 0
    withdrawn: int = 0
    seconds: float = 0.0


class Operator:
    """Turns blocks into blocks and owns its state.

    Time goes in steps. The step to c1 behind that to c0 brings every input row with c0 <= ts < c1,
    and no other; the first also what has been there from the beginning. Of one instant, negative
    rows withdraw only elements that began before it. The results follow the same rules on the way
    out, so operators compose.

    Attributes:
        meets: Whether what comes of a row depends on others that come into the same lane.
        state: All that it remembers between two steps.
    """

    meets = True
    state = DeclaredState()

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """All rows of a step: return its results, which are those before the clock."""
        raise NotImplementedError

    def frontier(self, clock: int) -> int:
        """Results before this instant are complete after the step to the clock."""
        return clock

    def restored(self) -> None:
        """Make what follows from restored state and is not saved."""

    def shrink(self) -> None:
        """Give back room that has been empty for a while; asked for behind each step."""
        self.state.shrink()

    def segments(self) -> Segments:
        """The state, between two steps."""
        return self.state.segments()

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Go on from saved state; the operator is new and has done no step."""
        self.state.restore(segments)
        self.restored()

    def divided(self, parts: Sequence[Segments], division: Division) -> list[Segments]:
        """The state of some lanes, from that of others; the operator is new.

        All of them have come equally far. Between them they know what one lane would know.

        Raises:
            CannotDivide: The state does not say how.
        """
        return self.state.divided(parts, division)

    @property
    def structures(self) -> tuple[str, ...]:
        """The structures that keep a join's rows now, or ends that may be cancelled."""
        return ()

    @property
    def state_rows(self) -> int:
        """The number of rows it remembers."""
        return self.state.rows

    @property
    def state_bytes(self) -> int:
        """The bytes of memory they take."""
        return self.state.nbytes


def stepped(operator: Operator, inputs: Inputs, clock: int) -> list[Block]:
    """Do a step of an operator, and what belongs behind it; the results that have rows."""
    made = [block for block in operator.step(inputs, clock) if len(block)]
    operator.shrink()
    return made
