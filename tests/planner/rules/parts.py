"""What random queries are put together from: windows, conditions, expressions, rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.reference.inputs import Inputs, RelationChange, RelationHistory
from penstock_fuzz.draw import Draw

if TYPE_CHECKING:
    from penstock.reference.timeline import Row

COLUMNS = {
    "a": "ts BIGINT, k INT, v INT, w DOUBLE",
    "b": "ts BIGINT, k INT, x INT, y DOUBLE",
    "c": "ts BIGINT, k INT, z INT",
}
DECLARED = ";".join(
    [
        *(
            f"CREATE STREAM {name} ({columns}, WATERMARK FOR ts AS ts)"
            for name, columns in COLUMNS.items()
        ),
        "CREATE RELATION r (k INT, name INT)",
        "CREATE NONRETROACTIVE RELATION n (k INT, name INT)",
    ]
)
NUMBERS = (0, 1, 1, 2, 2, 3, None)
FLOATS = (0.0, -0.0, 1.0, 1.0, 2.0, float("nan"), None)


@dataclass(frozen=True)
class Parts:
    """What the texts of queries are filled with."""

    draw: Draw

    def window(self) -> str:
        """Any window."""
        draw = self.draw
        size, step = draw.count(1, 6), draw.count(1, 3)
        return draw.pick(
            f"[RANGE {size}]",
            f"[RANGE {size}]",
            f"[RANGE {size} SLIDE {step}]",
            f"[ROWS {size}]",
            f"[PARTITION BY k ROWS {step}]",
            f"[FIXED {size}]",
            "[NOW]",
            "[UNBOUNDED]",
            f"[SINCE {size}]",
            f"[BETWEEN {step} AND {size + step}]",
        )

    def of(self, name: str) -> str:
        """A stream, or now and then what one sends, under a window."""
        if self.draw.chance(15):
            rows = f"SELECT * FROM {name} {self.window()} WHERE k >= 0"
            return f"{self.draw.pick('ISTREAM', 'DSTREAM')}({rows}) {self.window()} AS {name}"
        return f"{name} {self.window()} AS {name}"

    def internal(self, name: str) -> str:
        """A stream under a window that bounds memory only."""
        return f"{name} [RANGE {self.draw.count(1, 6)} INTERNAL] AS {name}"

    def counted(self) -> str:
        """A stream, or a view that only grows, ordered by value at each instant, and counted."""
        count = self.draw.count(1, 2)
        if self.draw.chance(50):
            rows = f"SELECT k, v FROM a [RANGE {self.draw.count(1, 4)}]"
            return f"{self.draw.pick('ISTREAM', 'DSTREAM')}({rows}) [ROWS {count}] AS a"
        rows = "SELECT a.k, a.v FROM a [UNBOUNDED] a JOIN b [UNBOUNDED] b ON a.w = b.y"
        return f"({rows}) [ROWS {count}] AS a"

    @property
    def a(self) -> str:
        """The stream a under a window; and so on."""
        return self.of("a")

    @property
    def b(self) -> str:
        return self.of("b")

    @property
    def c(self) -> str:
        return self.of("c")

    def on(self, *columns: str) -> str:
        """A condition on columns."""
        draw = self.draw
        if draw.chance(20):
            return f"({self.on(*columns)} {draw.pick('AND', 'OR', 'OR')} {self.on(*columns)})"
        one, other = draw.pick(*columns), draw.pick(*columns)
        compared, number = draw.pick("<", ">=", "<=", ">=", "<>", "="), draw.count(0, 2)
        return draw.pick(
            f"{one} {compared} {number}",
            f"{number} {compared} {one}",
            f"{one} {compared} {other}",
            f"{one} + {other} > {number}",
            f"NOT ({one} {compared} {number})",
            f"{one} IS {draw.pick('NULL', 'NOT NULL', 'NOT NULL')}",
            f"6 / {one} > {number}",
            f"COALESCE({one}, {number}) > 1",
        )

    def compared(self, column: str) -> str:
        """A column and a constant, compared."""
        number = self.draw.pick("0", "1", "CAST(0 AS DOUBLE)", "CAST('NaN' AS DOUBLE)")
        return f" {self.draw.pick('=', '<', '>=', '<>')} ".join(
            self.draw.shuffled([column, number])
        )

    def between(self, *pairs: str) -> str:
        """A join condition: an equality, and at times something else of both sides."""
        equal = self.draw.pick(*pairs)
        left, _, right = equal.partition(" = ")
        return equal + (f" AND {self.on(left, right)}" if self.draw.chance(30) else "")

    def value(self, *columns: str) -> str:
        """An expression over columns."""
        one, other = self.draw.pick(*columns), self.draw.pick(*columns)
        return self.draw.pick(one, one, f"{one} + {other}", f"{one} * 2", f"6 / {one}")

    def aggregate(self, *columns: str) -> str:
        """An aggregate of a column."""
        function = self.draw.pick("SUM", "MIN", "MAX", "COUNT", "COUNT(DISTINCT", "AVG")
        column = self.draw.pick(*columns)
        return f"{function} {column})" if "(" in function else f"{function}({column})"

    def failing(self, column: str) -> str:
        """A condition that fails where a column is 0."""
        return f"6 / {column} >= {self.draw.count(0, 3)}"

    def sent(self, text: str) -> str:
        """The query, at times as a stream: RSTREAM also looks at when windows change."""
        how = self.draw.pick("", "", "ISTREAM", "DSTREAM", "RSTREAM", "RSTREAM")
        return f"{how}({text})" if how else text


def random_inputs(rule: str, number: int) -> Inputs:
    """Few rows with few values, NULLs and NaNs among them, for all that plans read."""
    draw = Draw(f"{rule} {number} rows")
    streams = {name: _rows(draw, columns) for name, columns in COLUMNS.items()}
    return Inputs(streams, {"r": _history(draw), "n": _history(draw)})


def _rows(draw: Draw, columns: str) -> list[Row]:
    times = sorted(draw.count(-2, 9) for _ in range(draw.count(6, 14)))
    kinds = [FLOATS if "DOUBLE" in one else NUMBERS for one in columns.split(",")[1:]]
    return [(at, *(draw.pick(*kind) for kind in kinds)) for at in times]


def _history(draw: Draw) -> RelationHistory:
    rows: list[Row] = [(draw.pick(*NUMBERS), draw.pick(*NUMBERS)) for _ in range(5)]
    changes = [RelationChange(draw.count(0, 3), "+", row) for row in rows[3:]]
    return RelationHistory(rows[:3], [*changes, RelationChange(draw.count(4, 8), "-", rows[0])])
