"""The kinds of values that generated queries compute with, and values of each.

A kind is a type, and for DOUBLE also what a computation may do with it. Engines add numbers in
any order, so a sum may differ in its last digits: such a number can be shown but not compared,
grouped or told apart, where the smallest difference would become a large one.

- `DOUBLE`: multiples of a quarter near zero, whose sums are exact in any order.
- `WILD`: any number, also the correctly rounded quotient of exact ones; exact as it stands.
- `FLOAT`: a number computed from WILD ones, right to the tolerance only.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.algebra.expressions import Value

TYPE_OF = {
    "INT": "INT",
    "BIGINT": "BIGINT",
    "DOUBLE": "DOUBLE",
    "WILD": "DOUBLE",
    "DECIMAL": "DECIMAL(12, 2)",
    "STRING": "STRING",
    "BOOLEAN": "BOOLEAN",
    "DATE": "DATE",
    "TIMESTAMP": "TIMESTAMP",
}
"""How a column of each kind is declared."""
EXACT = tuple(TYPE_OF)
"""The kinds whose values every engine computes to the last digit."""
FLOAT = "FLOAT"

VALUES: dict[str, tuple[Value, ...]] = {
    "INT": (0, 1, 2, 3, -1, 7),
    "BIGINT": (0, 1, 2, 3, -1, 10_000_000_000),
    "DOUBLE": (0.0, 0.5, 1.25, -2.0, 3.0),
    "WILD": (0.1, 0.2, 3.3, -7.7, 1 / 3, 0.0),
    "DECIMAL": (Decimal("0.00"), Decimal("1.50"), Decimal("-2.25"), Decimal("3.10")),
    "STRING": ("", "a", "b", "ab", "B", "é", "a b", "10", "a%"),
    "BOOLEAN": (True, False),
    "DATE": (0, 11_016, 19_753, -1),
    "TIMESTAMP": (0, 1_706_702_400_000_000, 951_782_400_500_000, -1),
}
"""Few values of each kind, so that equal ones are common."""

EDGES: dict[str, tuple[Value, ...]] = {
    "INT": (2**31 - 1, -(2**31)),
    "BIGINT": (2**63 - 1, -(2**63), 2**53 + 1),
    "DOUBLE": (math.nan,),
    "WILD": (1e16, -1e16, 1e-300, math.nan, math.inf, -math.inf, 1e100),
    "DECIMAL": (Decimal("9999999999.99"), Decimal("-9999999999.99")),
    "STRING": ("NULL", "x" * 300, "'", "|", "日本", "\n"),
    "BOOLEAN": (),
    "DATE": (2_932_896, -719_162),
    "TIMESTAMP": (253_402_300_799_999_999, -62_135_596_800_000_000),
}
"""Values at the ends of each type, which a few inputs have."""

CONSTANTS = {
    "INT": ("0", "1", "2", "3", "-1"),
    "BIGINT": ("CAST(1 AS BIGINT)", "CAST(2 AS BIGINT)", "CAST(0 AS BIGINT)", "10000000000"),
    "DOUBLE": ("0.5e0", "1.25e0", "-2e0", "0e0"),
    "WILD": ("0.1e0", "3.3e0", "1e-3"),
    FLOAT: ("0.7e0",),
    "DECIMAL": ("1.50", "0.01", "-2.25"),
    "STRING": ("'a'", "'b'", "''", "'ab'", "'10'"),
    "BOOLEAN": ("TRUE", "FALSE"),
    "DATE": ("DATE '2024-01-31'", "DATE '2000-02-29'"),
    "TIMESTAMP": ("TIMESTAMP '2024-01-31 12:00:00'", "TIMESTAMP '1970-01-01 00:00:00'"),
}
"""Constants of each kind as CQL, the simplest first."""
