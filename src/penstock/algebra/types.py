"""The types of the language, how they map to Arrow, and the schema of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

MAX_PRECISION = 38
"""Digits of the widest DECIMAL, as in Spark and Arrow's decimal128."""


@dataclass(frozen=True, slots=True)
class Type:
    """A column type. Two DECIMALs are equal when precision and scale are."""

    name: str
    precision: int = 0
    scale: int = 0

    def __str__(self) -> str:
        """The spelling a user writes in DDL."""
        return f"DECIMAL({self.precision}, {self.scale})" if self.is_decimal else self.name

    @property
    def is_decimal(self) -> bool:
        """DECIMAL of any precision."""
        return self.name == "DECIMAL"

    @property
    def is_integer(self) -> bool:
        """INT or BIGINT."""
        return self in (INT, BIGINT)

    @property
    def is_numeric(self) -> bool:
        """A type that arithmetic applies to."""
        return self.is_integer or self.is_decimal or self == DOUBLE


BOOLEAN = Type("BOOLEAN")
INT = Type("INT")
BIGINT = Type("BIGINT")
DOUBLE = Type("DOUBLE")
STRING = Type("STRING")
DATE = Type("DATE")
TIMESTAMP = Type("TIMESTAMP")
NULL = Type("NULL")
"""The type of a bare NULL before its surroundings give it one; no column ever has it."""
INTERVAL = Type("INTERVAL")
"""A literal length of time in an expression, in microseconds; no column ever has it."""


def decimal(precision: int, scale: int) -> Type:
    """DECIMAL(precision, scale)."""
    return Type("DECIMAL", precision, scale)


def to_arrow(type_: Type) -> pa.DataType:
    """The Arrow type that holds the values of a column."""
    import pyarrow as pa

    if type_.is_decimal:
        return pa.decimal128(type_.precision, type_.scale)
    return {
        BOOLEAN: pa.bool_(),
        INT: pa.int32(),
        BIGINT: pa.int64(),
        DOUBLE: pa.float64(),
        STRING: pa.string(),
        DATE: pa.date32(),
        TIMESTAMP: pa.timestamp("us"),
    }[type_]


@dataclass(frozen=True, slots=True)
class Field:
    """A named, typed column of a plan. The name is unique in its schema (`alias.column`)."""

    name: str
    type: Type

    @property
    def short_name(self) -> str:
        """The name without the alias in front of it."""
        return self.name.rpartition(".")[2]

    def __str__(self) -> str:
        """As in DDL."""
        return f"{self.name} {self.type}"


@dataclass(frozen=True)
class Schema:
    """The columns of a plan, in order, with unique names."""

    fields: tuple[Field, ...]

    def __post_init__(self) -> None:
        """Refuse two columns of one name."""
        if len({field.name for field in self.fields}) != len(self.fields):
            msg = f"duplicate column in schema: {', '.join(self.names)}"
            raise InternalError(msg)

    @property
    def names(self) -> tuple[str, ...]:
        """The column names in order."""
        return tuple(field.name for field in self.fields)

    @property
    def types(self) -> tuple[Type, ...]:
        """The column types in order."""
        return tuple(field.type for field in self.fields)

    def __iter__(self) -> Iterator[Field]:
        """The fields in order."""
        return iter(self.fields)

    def __len__(self) -> int:
        """The number of columns."""
        return len(self.fields)

    def __add__(self, other: Schema) -> Schema:
        """The columns of both, left first."""
        return Schema(self.fields + other.fields)

    def __str__(self) -> str:
        """As in DDL."""
        return f"({', '.join(map(str, self.fields))})"
