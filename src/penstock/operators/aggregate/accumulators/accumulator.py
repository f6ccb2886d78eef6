"""The interface of an incremental aggregate to the aggregation operator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from penstock.algebra.types import to_arrow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from penstock.algebra.expressions import AggregateCall
    from penstock.operators.aggregate.accumulators.events import GroupEvents, Payload
    from penstock.operators.aggregate.accumulators.pool import Pool
    from penstock.state.moving import Moved

Values = tuple["pa.Array", int]
"""The values at the points, and how many of them are NULL because they failed."""
Segments = dict[str, "pa.Table"]
"""State as Arrow, by the name of the structure."""

INT64 = np.dtype(np.int64)
FLOAT64 = np.dtype(np.float64)
BOOL = np.dtype(np.bool_)


class GroupState(Protocol):
    """State of groups: a table whose column `group` says of whom each row is."""

    def move(self, moved: Moved) -> None:
        """Groups have been given other slots; those that have none any more have no rows."""

    def table(self) -> pa.Table:
        """All of it."""

    def restore(self, table: pa.Table) -> None:
        """Take back a table."""

    @property
    def in_use(self) -> int:
        """The number of groups, counters or candidates that are kept."""

    @property
    def nbytes(self) -> int:
        """Memory allocated."""


@dataclass(frozen=True)
class CodeUse:
    """The codes of a pool that are in the state of an accumulator.

    Args:
        texts: The pool.
        pool: As which what codes stand for is saved.
        table: The table whose rows hold codes, in a column; as often as `count` says.
        column: That column.
        count: A column with numbers of elements; None: one for each row.
        payload: The place of the codes in the payload of elements that will leave, if it is kept.
    """

    texts: Pool
    pool: str
    table: str
    column: str
    count: str | None
    payload: int


class Accumulator(ABC):
    """One aggregate call over many groups, kept up to date as elements come and go.

    The operator calls `prepare` for arriving rows and keeps the payload with each live element.
    Every prepared row must then either enter once and (where `needs_departures`) leave once in
    `sweep`, or be given back with `drop`. Both events may come in one sweep.

    Attributes:
        needs_departures: Whether leaving events must be fed. If not, they are ignored, and the
            payload may be forgotten once the element has entered.
        payload_types: The types of the payload's arrays.
        kept: All it keeps of groups, by name; what the first has says how much that is.
        coded: The codes of texts among that.
    """

    needs_departures = True
    payload_types: tuple[np.dtype[Any], ...] = ()
    kept: Mapping[str, GroupState]
    coded: Sequence[CodeUse] = ()

    def __init__(self, call: AggregateCall) -> None:
        self.call = call
        self.type = to_arrow(call.of)

    @abstractmethod
    def prepare(self, args: Sequence[pa.Array], length: int) -> Payload:
        """The payload of arriving rows, from the columns of the call's arguments."""

    @abstractmethod
    def sweep(self, events: GroupEvents, payload: Payload) -> Values:
        """Take in all events; the payload is aligned with them."""

    def drop(self, payload: Payload) -> None:  # noqa: B027  most payloads own nothing
        """Forget prepared rows (or entered ones that will not be seen leaving)."""

    def clear(self, groups: npt.NDArray[np.int64]) -> None:  # noqa: B027
        """Free the slots of groups without rows.

        Sums and counts are exact, so they are zero by then; there is nothing to do.
        """

    def move(self, moved: Moved) -> None:
        """Groups have been given other slots; those that have none any more have no rows."""
        for one in self.kept.values():
            one.move(moved)

    def shrink(self) -> Mapping[int, npt.NDArray[np.int64]]:
        """Give back room that has been empty for a while, between two sweeps.

        Returns:
            Of the columns of payloads that hold codes which are others now, by number, the new
            code of each old one. Payloads that will come back have to have the new ones.
        """
        return {}

    def segments(self) -> Segments:
        """The complete state."""
        pools = {one.pool: one.texts.table() for one in self.coded}
        return {name: one.table() for name, one in self.kept.items()} | pools

    def restore(self, segments: Segments) -> None:
        """Take back what `segments` of another accumulator for the same call gave."""
        # Where codes compare as texts do, the order of what is kept needs these.
        for pool in self.coded:
            pool.texts.restore(segments[pool.pool])
        for name, one in self.kept.items():
            one.restore(segments[name])

    @property
    def state_rows(self) -> int:
        """The number of groups, counters or candidates that are kept."""
        return next(iter(self.kept.values())).in_use

    @property
    def state_bytes(self) -> int:
        """Memory allocated for them, and for what their codes stand for."""
        pools = sum(one.texts.nbytes for one in self.coded)
        return sum(one.nbytes for one in self.kept.values()) + pools


class SelfExpiring(Accumulator):
    """Drops elements by itself when their interval has ended, at the next value wanted.

    It keeps only elements that may still be the answer, and says when these end: the value of a
    group changes at no other instant without an element entering.
    """

    needs_departures = False

    @abstractmethod
    def new_elements(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Groups and ends of the elements that the last sweep brought and that are still kept."""

    @abstractmethod
    def elements(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Groups and ends of all elements kept."""
