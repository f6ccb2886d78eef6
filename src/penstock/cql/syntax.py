"""Syntax: statements, windows, and the query nodes SQL does not have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from sqlglot import exp

from penstock.errors import Span

if TYPE_CHECKING:
    from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Name:
    """A word the user wrote, and where."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Length:
    """A length of time: parts such as (5, MINUTE); the unit is None for a plain number."""

    parts: tuple[tuple[Decimal, str | None], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Moment:
    """An instant: a number, or the text of a date and time."""

    value: int | str
    span: Span


@dataclass(frozen=True, slots=True)
class WindowSyntax:
    """A window as written: `kind` is its first word.

    `slide` is also the step of HOP. `time` is the column that a function of other systems names.
    """

    kind: str
    span: Span
    length: Length | None = None
    slide: Length | None = None
    moments: tuple[Moment, ...] = ()
    partition_by: tuple[Name, ...] = ()
    internal: bool = False
    offset: Length | None = None
    time: Name | None = None


class WindowClause(exp.Expression):
    """A window behind a stream, view or subquery, or behind OUTPUT."""

    arg_types: ClassVar = {"syntax": True}

    @property
    def syntax(self) -> WindowSyntax:
        """The window as written."""
        syntax: WindowSyntax = self.args["syntax"]
        return syntax


class Emit(exp.Subquery):
    """`ISTREAM (query)` and its kin; `emit` names the operator."""

    arg_types: ClassVar = {**exp.Subquery.arg_types, "emit": True, "restore": False}


class EmitProjection(exp.Expression):
    """`SELECT ISTREAM(a, b)`: the select list, and what the query sends out."""

    arg_types: ClassVar = {"expressions": True, "emit": True, "restore": False, "distinct": False}


class UnionMax(exp.SetOperation):
    """`a UNION MAX b`: each row as often as in the branch that has it more often."""

    arg_types: ClassVar = exp.SetOperation.arg_types


class StrictExcept(exp.SetOperation):
    """`a EXCEPT STRICT b`: the rows of a, with all their copies, that b does not have."""

    arg_types: ClassVar = exp.SetOperation.arg_types


class IntervalsClause(exp.Expression):
    """`COALESCE INTERVALS` and `SPLIT INTERVALS 10` behind a query."""

    arg_types: ClassVar = {"length": False}

    @property
    def length(self) -> Length | None:
        """The length of the pieces, None to coalesce."""
        length: Length | None = self.args["length"]
        return length


class FinalClause(exp.Expression):
    """`EMIT FINAL` behind a query, with its place in the text."""

    arg_types: ClassVar = {}


class ChangesClause(exp.Expression):
    """`EMIT CHANGES` behind a query, with its place in the text."""

    arg_types: ClassVar = {}


class DateLiteral(exp.Expression):
    """`DATE '2024-01-31'` and `TIMESTAMP '...'`, which are constants and not casts."""

    arg_types: ClassVar = {"this": True, "to": True}


EMITTERS = ("ISTREAM", "DSTREAM", "RSTREAM")


def enclosing_hint(word: str) -> str:
    """The way ISTREAM and its kin are written."""
    return f"Write SELECT {word}(a, b) FROM ..., or {word}(SELECT ...)."


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a script and the part of the text it covers."""

    span: Span


@dataclass(frozen=True, slots=True)
class ColumnSyntax:
    """A declared column."""

    name: Name
    type: exp.DataType
    type_span: Span
    not_null: bool = False


@dataclass(frozen=True, slots=True)
class Watermark:
    """WATERMARK FOR column AS column - slack."""

    column: Name
    slack: Length | None


@dataclass(frozen=True, slots=True)
class RateSyntax:
    """RATE count PER length: how many rows of a stream are expected."""

    count: Decimal
    per: Length
    span: Span


@dataclass(frozen=True, slots=True)
class RetainSyntax:
    """RETAIN length, size: how long a stream keeps its rows, and how many bytes at the most.

    `is_all`: RETAIN UNBOUNDED. With neither length nor size it is RETAIN NONE.
    """

    span: Span
    length: Length | None = None
    most_bytes: int | None = None
    is_all: bool = False


@dataclass(frozen=True, slots=True)
class CreateSource(Statement):
    """CREATE STREAM and CREATE [NONRETROACTIVE] RELATION."""

    kind: str
    name: Name
    columns: tuple[ColumnSyntax, ...]
    watermark: Watermark | None
    format: str | None
    options: dict[str, Name] = field(default_factory=dict)
    retroactive: bool = True
    rate: RateSyntax | None = None
    if_not_exists: bool = False
    replace: bool = False
    retain: RetainSyntax | None = None


@dataclass(frozen=True, slots=True)
class StartSyntax:
    """START NOW, or START AT an instant: which retained rows a new query sees."""

    span: Span
    at: Moment | None = None


@dataclass(frozen=True, slots=True)
class CreateQuery(Statement):
    """CREATE VIEW and CREATE QUERY."""

    kind: str
    name: Name
    query: exp.Expr
    text: str
    columns: tuple[Name, ...] = ()
    if_not_exists: bool = False
    replace: bool = False
    start: StartSyntax | None = None


@dataclass(frozen=True, slots=True)
class CreateSink(Statement):
    """CREATE SINK name FROM query USING format OPTIONS (...)."""

    name: Name
    query: Name
    format: str
    options: dict[str, Name] = field(default_factory=dict)
    if_not_exists: bool = False
    replace: bool = False


@dataclass(frozen=True, slots=True)
class Drop(Statement):
    """DROP kind [IF EXISTS] name."""

    kind: str
    name: Name
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class Show(Statement):
    """SHOW STREAMS and its kin."""

    what: str


@dataclass(frozen=True, slots=True)
class Describe(Statement):
    """DESCRIBE name."""

    name: Name


@dataclass(frozen=True, slots=True)
class Explain(Statement):
    """EXPLAIN query, or EXPLAIN name of a view or query."""

    query: exp.Expr | None
    name: Name | None = None


@dataclass(frozen=True, slots=True)
class Replan(Statement):
    """REPLAN name of a query that runs."""

    name: Name


@dataclass(frozen=True, slots=True)
class SetOption(Statement):
    """SET key = value."""

    key: Name
    value: Name


@dataclass(frozen=True, slots=True)
class Select(Statement):
    """A query on its own; with AS OF, a question about one instant."""

    query: exp.Expr
    as_of: Moment | None = None


class Parsed(exp.Expression):
    """Carries a finished statement through sqlglot's loop over statements."""

    arg_types: ClassVar = {"statement": True}

    @property
    def statement(self) -> Statement:
        """The statement."""
        statement: Statement = self.args["statement"]
        return statement


def span_of(node: exp.Expr) -> Span | None:
    """The place of a node in the text: from the first to the last word known to belong to it."""
    placed: list[dict[str, Any]] = [one.meta for one in node.walk() if "start" in one.meta]
    if not placed:
        return None
    return Span(min(m["start"] for m in placed), max(m["end"] for m in placed) + 1)
