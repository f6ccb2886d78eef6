"""Types as written to types of the algebra."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from penstock.algebra.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    MAX_PRECISION,
    STRING,
    TIMESTAMP,
    Type,
    decimal,
)
from penstock.errors import NotSupported, Span

if TYPE_CHECKING:
    from collections.abc import Mapping

DType = exp.DType

PLAIN: Mapping[exp.DType, Type] = {
    DType.BOOLEAN: BOOLEAN,
    DType.TINYINT: INT,
    DType.SMALLINT: INT,
    DType.INT: INT,
    DType.BIGINT: BIGINT,
    DType.FLOAT: DOUBLE,
    DType.DOUBLE: DOUBLE,
    DType.CHAR: STRING,
    DType.VARCHAR: STRING,
    DType.TEXT: STRING,
    DType.DATE: DATE,
    DType.TIMESTAMP: TIMESTAMP,
    DType.TIMESTAMPNTZ: TIMESTAMP,
}
DEFAULT_DECIMAL = decimal(10, 0)
"""DECIMAL without parameters, as in Spark."""


def type_of(node: exp.DataType, at: Span | None) -> Type:
    """The type a DDL or CAST names.

    Raises:
        NotSupported: A type of other systems.
    """
    if node.this == DType.DECIMAL:
        return _decimal(node, at)
    plain = node.this in PLAIN and not node.args.get("nested")
    if plain and not node.expressions:
        return PLAIN[node.this]
    if plain:
        msg = f"the length of {node.sql(dialect='spark')} would not be checked"
        raise NotSupported(msg, hint=f"Write {PLAIN[node.this]}.", at=at)
    msg = f"type {node.sql(dialect='spark')} is not supported"
    hint = "Types: BOOLEAN, INT, BIGINT, DOUBLE, DECIMAL(p, s), STRING, DATE, TIMESTAMP."
    raise NotSupported(msg, hint=hint, at=at)


_DIGITS = frozenset(map(str, range(MAX_PRECISION + 1)))


def _decimal(node: exp.DataType, at: Span | None) -> Type:
    written = [param.this for param in node.expressions]
    parameters = [one.name for one in written]
    if not parameters:
        return DEFAULT_DECIMAL
    literal = all(isinstance(one, exp.Literal) for one in written)
    if literal and all(text in _DIGITS for text in parameters) and len(parameters) <= 2:
        precision, scale = (int(parameters[0]), int(parameters[1]) if parameters[1:] else 0)
        if 1 <= precision <= MAX_PRECISION and 0 <= scale <= precision:
            return decimal(precision, scale)
    msg = f"DECIMAL({', '.join(parameters)}) does not exist"
    hint = f"DECIMAL(p, s) takes 1 <= p <= {MAX_PRECISION} and 0 <= s <= p."
    raise NotSupported(msg, hint=hint, at=at)
