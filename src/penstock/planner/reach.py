"""Reach: the rows of streams that the answer of a query at an instant is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.emptiness import snapshot_inputs
from penstock.algebra.plan import different_nodes
from penstock.algebra.time import BEGINNING, TimeUnit
from penstock.algebra.windows import Between, Rows, Since, WindowSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.algebra.plan import Plan


@dataclass(frozen=True)
class StreamNeed:
    """A part of a query that reads a stream.

    Attributes:
        stream: The name of the stream.
        start: Rows are needed from this instant on; BEGINNING: all that ever came.
        what: The window, as it is written; empty for a stream without one.
        moves: Whether `start` moves on with the instant.
        rows: Instead, so many rows up to `end` are enough.
        end: The instant up to which these are counted.
    """

    stream: str
    start: int
    what: str
    moves: bool = True
    rows: int | None = None
    end: int = BEGINNING


def needs(plan: Plan, instant: int) -> list[StreamNeed]:
    """The parts of a query that read streams, for its answer at an instant."""
    if isinstance(plan, st.RelationToStream):
        return [*_sending(plan, instant), *_first_slides(plan, instant)]
    return [*_content(plan, instant, is_top=True), *_first_slides(plan, instant)]


def lists_slides(plan: Plan) -> bool:
    """A query, or one that makes its input, sends its result at slides, also where no row comes.

    The first of them follows the first row, and the last one comes before the last end.
    """
    return any(_slide_listed(node) is not None for node in different_nodes(plan))


def _slide_listed(node: Plan) -> int | None:
    lists = isinstance(node, st.RStream) or (
        isinstance(node, st.Internal) and node.appends == "slides"
    )
    window = st.slide_sent(node) if lists else None  # type: ignore[arg-type]  # one of the two
    return None if window is None else window.time_slide


def _first_slides(plan: Plan, instant: int) -> Iterator[StreamNeed]:
    """A row before the slides that matter: they are listed from the first row on."""
    for node in different_nodes(plan):
        slide = _slide_listed(node)
        if slide is not None:
            end = _before(instant, slide)
            for one in different_nodes(node):
                if isinstance(one, st.Stream):
                    yield StreamNeed(one.name, BEGINNING, "RSTREAM with SLIDE", False, 1, end)


def longest_windows(plan: Plan) -> dict[str, int]:
    """For how long, at most, a query needs the rows of each stream.

    Windows of which that is not known do not count: those of rows, and those without an end.
    """
    found: dict[str, int] = {}
    for one in needs(plan, 0):
        if one.what and one.moves and one.start > BEGINNING:
            found[one.stream] = max(found.get(one.stream, 0), 1 - one.start)
    return found


def _content(plan: Plan, first: int, *, is_top: bool = False) -> Iterator[StreamNeed]:
    """The needs of a relation whose snapshots have to be right from an instant on."""
    match plan:
        case st.Window():
            yield from _window(plan, first)
        case st.Stream():
            # What it holds is what is retained, so nothing before that is missing.
            yield StreamNeed(plan.name, first, "", moves=not is_top)
        case st.RelationToStream() | st.Internal():
            yield from _everything(plan)
        case st.Relation() | st.Exchanged():
            pass
        case _:
            for child in snapshot_inputs(plan):
                yield from _content(child, first, is_top=is_top)


def _window(window: st.Window, first: int) -> Iterator[StreamNeed]:
    spec, unit = window.spec, window.unit or TimeUnit.TICK
    written = f"[{spec.describe(unit)}]"
    if isinstance(spec, Rows) and not spec.partition_by and not spec.slide:
        stream = _plain(window.child)
        if stream is not None:
            yield StreamNeed(stream.name, BEGINNING, written, False, spec.count, first)
            return
    start, moves = _start(spec, first)
    yield from _arriving(window.child, start, written, moves=moves)


def _start(spec: WindowSpec, first: int) -> tuple[int, bool]:
    """From which instant on rows are in a window, and whether that moves with the instant."""
    if spec.span is not None:
        return max(first - spec.span + 1, BEGINNING), True
    return (spec.start if isinstance(spec, Since | Between) else BEGINNING), False


def _plain(plan: Plan) -> st.Stream | None:
    """A declared stream, if a plan is no more than that under a name."""
    while isinstance(plan, op.Alias):
        plan = plan.child
    return plan if isinstance(plan, st.Stream) else None


def _arriving(plan: Plan, start: int, written: str, *, moves: bool) -> Iterator[StreamNeed]:
    """The needs of what a window is over: the rows that arrive from an instant on."""
    match plan:
        case st.Stream():
            yield StreamNeed(plan.name, start, written, moves)
        case st.RelationToStream():
            yield from _sending(plan, start)
        case st.Internal():
            yield from _everything(plan)
        case op.OnArrival():
            yield from _arriving(plan.reading.left, start, written, moves=moves)
            yield from _content(plan.reading.right, start)
        case op.Filter() | op.Map() | op.Alias() | op.Group():
            yield from _arriving(plan.child, start, written, moves=moves)
        case st.Window() if plan.spec.never_ends:
            yield from _arriving(plan.child, start, written, moves=moves)
        case _:
            yield from _content(plan, _before(start, 1))


def _sending(plan: st.RelationToStream, start: int) -> Iterator[StreamNeed]:
    """The needs of what is sent from an instant on: the snapshot before has to be right, too."""
    slides = [
        node.spec.time_slide
        for node in different_nodes(plan)
        if isinstance(node, st.Window) and node.spec.time_slide
    ]
    yield from _content(plan.child, _before(start, max(slides, default=1)))


def _everything(plan: Plan) -> Iterator[StreamNeed]:
    """All rows that ever came: what is sent or appended, and stays."""
    what = "INTERNAL" if isinstance(plan, st.Internal) else type(plan).__name__.upper()
    for node in different_nodes(plan):
        if isinstance(node, st.Stream):
            yield StreamNeed(node.name, BEGINNING, what, moves=False)


def _before(instant: int, steps: int) -> int:
    return max(instant - steps, BEGINNING)
