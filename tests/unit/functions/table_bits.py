"""Results of the operators on bits."""

from __future__ import annotations

from penstock.algebra.types import BIGINT, INT
from unit.functions.rows import MAX_BIGINT, MAX_INT, MIN_BIGINT, MIN_INT, Table, big, null, row

BITS: Table = {
    "&": [
        row(6, 3, 2),
        row(6, 0, 0),
        row(-1, 5, 5),
        row(-4, -6, -8),
        row(MIN_INT, MAX_INT, 0),
        row(6, big(3), big(2)),
        row(big(MIN_BIGINT), -1, big(MIN_BIGINT)),
        row(big(MAX_BIGINT), MAX_INT, big(MAX_INT)),
        row(0, null(INT), None),
        row(null(BIGINT), 0, None),
    ],
    "|": [
        row(6, 3, 7),
        row(6, 0, 6),
        row(-8, 5, -3),
        row(MIN_INT, MAX_INT, -1),
        row(MIN_INT, big(0), big(MIN_INT)),
        row(big(2**40), 1, big(2**40 + 1)),
        row(-1, null(INT), None),
    ],
    "^": [
        row(6, 3, 5),
        row(6, 6, 0),
        row(-1, 5, -6),
        row(MIN_INT, -1, MAX_INT),
        row(big(MIN_BIGINT), -1, big(MAX_BIGINT)),
        row(1, null(BIGINT), None),
    ],
    "~": [
        row(5, -6),
        row(0, -1),
        row(MIN_INT, MAX_INT),
        row(MAX_INT, MIN_INT),
        row(big(5), big(-6)),
        row(big(MIN_BIGINT), big(MAX_BIGINT)),
        row(null(INT), None),
    ],
}
