"""A view of the store: what a question can read, as it is at one moment, pinned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from penstock.algebra.time import BEGINNING

if TYPE_CHECKING:
    from collections.abc import Collection

    import pyarrow as pa

    from penstock.algebra.time import TimeUnit
    from penstock.catalog.retain_rules import RetainRule
    from penstock.operators.block import Block
    from penstock.store.sub_windows.sub_window import SubWindow


@dataclass(frozen=True)
class RetainedStream:
    """A stream as a question finds it.

    Attributes:
        name: Its name.
        unit: The meaning of one step of its time.
        rule: How long rows are kept.
        is_declared: Whether RETAIN of the stream says so, or SET retain; else its queries do.
        since: All rows from this instant on are there; BEGINNING: none is missing.
        watermark: No row before it will come.
        latest: The instant of the latest row; BEGINNING if there was none.
        sub_windows: The rows, oldest first.
    """

    name: str
    unit: TimeUnit
    rule: RetainRule
    is_declared: bool
    since: int
    watermark: int
    latest: int
    sub_windows: tuple[SubWindow, ...]

    @property
    def is_whole(self) -> bool:
        """No row is missing that ever came."""
        return self.since == BEGINNING


class StoreView(Protocol):
    """The part of the store that a question can read; it stays until it is released.

    `is_over`: the input has come to its end, so that every instant is final.
    """

    @property
    def is_over(self) -> bool:
        """The input has come to its end."""

    def stream(self, name: str) -> RetainedStream:
        """A stream of the catalog."""

    def relation(self, name: str, streams: Collection[str]) -> tuple[Block, int]:
        """The changes of a relation for a question over some streams; since when it is known."""

    def clock(self, query: str) -> int:
        """The results of a running query for instants before this are final."""

    def result(self, query: str, instant: int) -> tuple[pa.Array, ...]:
        """The rows of a running query that hold at an instant, which is final.

        Raises:
            QueryError: What held then is not kept any more.
        """

    def newer(self) -> StoreView:
        """The view of now, to be released as well; this itself if nothing has changed."""

    def release(self) -> None:
        """Let go of it: files that nobody else needs may be removed."""
