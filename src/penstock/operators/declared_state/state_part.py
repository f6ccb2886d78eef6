"""Parts of state, and the state that an operator declares as some of them.

An operator says what it remembers: rows that wait, rows in slots with columns and queues beside
them, the sides of a join, values that all lanes know. How that is saved and restored, divided
among another number of lanes, made smaller and measured follows from the parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from penstock.operators.division import Division
    from penstock.operators.operator import Segments

_ROWS = "rows"


class StatePart:
    """A part of what an operator remembers; by itself it is nothing."""

    def segments(self) -> Segments:
        """The part as tables by name, between two steps; none if it is empty."""
        return {}

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take back the tables of a part of the same kind; this one is new."""
        del segments

    def divided(self, parts: Sequence[Segments], division: Division) -> list[Segments]:
        """The tables of some lanes, from those of others, of which some may have none.

        Raises:
            CannotDivide: It is not known where rows go.
        """
        del parts
        return [{} for _ in range(division.lanes)]

    def shrink(self) -> None:
        """Give back room that has been empty for a while."""

    def __len__(self) -> int:
        """The number of rows."""
        return 0

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return 0


class RowsPart(StatePart):
    """A part that is saved as one table, whose rows go where those of an input do.

    Attributes:
        port: That input; None: where the results go.
        by_key: Whether only keys can say where they go.
    """

    port: int | None = 0
    by_key = False

    def table(self) -> pa.Table | None:
        """The rows, those of the input first among the columns; None if there are none."""
        raise NotImplementedError

    def take_back(self, table: pa.Table) -> None:
        """Have the rows of a table; there are none yet."""
        raise NotImplementedError

    def segments(self) -> Segments:
        """The rows."""
        table = self.table()
        return {} if table is None else {_ROWS: table}

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take back the rows."""
        self.take_back(segments[_ROWS])

    def divided(self, parts: Sequence[Segments], division: Division) -> list[Segments]:
        """Each row on its own."""
        return division.rows(parts, {_ROWS: division.spread(self.port)}, by_key=self.by_key)


class DeclaredState:
    """All that an operator remembers, part by part.

    >>> DeclaredState().segments()
    {}
    """

    def __init__(self, **parts: StatePart) -> None:
        self.parts = parts

    def segments(self) -> Segments:
        """The tables of all parts, behind the name of the part."""
        return {
            f"{name}/{table}": one
            for name, part in self.parts.items()
            for table, one in part.segments().items()
        }

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take back the tables of all parts.

        Raises:
            InternalError: There is no such part.
        """
        unknown = [name for name in segments if name.split("/", 1)[0] not in self.parts]
        if unknown:
            msg = f"an operator was given state that it does not keep: {', '.join(unknown)}"
            raise InternalError(msg)
        for name, part in self.parts.items():
            own = _of_part(segments, name)
            if own:
                part.restore(own)

    def divided(self, parts: Sequence[Segments], division: Division) -> list[Segments]:
        """The tables of some lanes, from those of others."""
        made: list[Segments] = [{} for _ in range(division.lanes)]
        for name, part in self.parts.items():
            own = [_of_part(one, name) for one in parts]
            if any(own):
                for segments, tables in zip(made, part.divided(own, division), strict=True):
                    segments |= {f"{name}/{table}": one for table, one in tables.items()}
        return made

    def shrink(self) -> None:
        """Give back room that has been empty for a while."""
        for part in self.parts.values():
            part.shrink()

    @property
    def rows(self) -> int:
        """The number of rows of all parts."""
        return sum(map(len, self.parts.values()))

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return sum(part.nbytes for part in self.parts.values())


def _of_part(segments: Mapping[str, pa.Table], name: str) -> Segments:
    start = f"{name}/"
    return {key.removeprefix(start): one for key, one in segments.items() if key.startswith(start)}
