"""MIN and MAX where every element leaves at the end of its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.operators.aggregate.accumulators.accumulator import (
    BOOL,
    INT64,
    SelfExpiring,
    Values,
)
from penstock.operators.aggregate.accumulators.candidates import ExtremeCandidates
from penstock.operators.aggregate.accumulators.codes import Codes, codes_for
from penstock.operators.aggregate.accumulators.counting import known_of
from penstock.operators.aggregate.accumulators.events import owned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from penstock.algebra.expressions import AggregateCall
    from penstock.operators.aggregate.accumulators.events import GroupEvents, Int64s, Payload


class Staircase(SelfExpiring):
    """MIN or MAX, keeping only candidates that are the answer or can become it.

    Elements that come in the order of their ends cost constant time, amortised. One that ends
    before k candidates costs k steps more.
    """

    payload_types = (INT64, BOOL)

    def __init__(self, call: AggregateCall) -> None:
        super().__init__(call)
        self.codes: Codes = codes_for(call.args[0].type)
        self.candidates = ExtremeCandidates(self.codes, 1 if call.function == "max" else -1)
        self.kept = {"candidates": self.candidates}
        self.coded = self.codes.used("pool", "candidates", "code", None)

    def prepare(self, args: Sequence[pa.Array], length: int) -> Payload:
        """The code of each value, and whether it is known."""
        known = known_of(args, length)
        return self.codes.encode(args[0], known), known

    def sweep(self, events: GroupEvents, payload: Payload) -> Values:
        """The best of the candidates whose interval has not ended; leaving events are ignored."""
        codes, weights = owned(payload[0]), events.weights(payload[1])
        best, known, dropped = self.candidates.sweep(events, weights, codes)
        values = self.codes.decode(best, known)
        self.codes.release(dropped)
        return values, 0

    def drop(self, payload: Payload) -> None:
        """Let go of the values."""
        self.codes.release(payload[0][payload[1]])

    def clear(self, groups: Int64s) -> None:
        """Free the candidates of groups, all of which have ended."""
        self.codes.release(self.candidates.clear(groups))

    def new_elements(self) -> tuple[Int64s, Int64s]:
        """The candidates that the last sweep brought and left."""
        return self.candidates.added()

    def elements(self) -> tuple[Int64s, Int64s]:
        """All candidates."""
        groups, ends, _ = self.candidates.listed()
        return groups, ends

    def shrink(self) -> Mapping[int, Int64s]:
        """Give back the room of candidates and of values; no payload will come back."""
        self.candidates.shrink(self.codes.compact())
        return {}
