"""All tables of function results as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unit.functions.table_bits import BITS
from unit.functions.table_logic import ARITHMETIC, CHOICES, COMPARISONS, LOGIC
from unit.functions.table_numbers import NUMBERS
from unit.functions.table_strings import STRINGS
from unit.functions.table_times import CONVERSIONS, FORMATS, MOVES, PARTS

if TYPE_CHECKING:
    from unit.functions.rows import Table

TABLE: Table = {
    **ARITHMETIC,
    **BITS,
    **COMPARISONS,
    **LOGIC,
    **CHOICES,
    **NUMBERS,
    **STRINGS,
    **PARTS,
    **MOVES,
    **CONVERSIONS,
    **FORMATS,
}
