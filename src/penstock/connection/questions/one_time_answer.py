"""The answer of a question: rows, and the instant that they are the answer for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING
from penstock.connection.answer_tables import Results
from penstock.results.answer_kind import unit_of

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.algebra.plan import Plan


class OneTimeAnswer(Results):
    """Rows as `Results` has them, and when they held.

    Attributes:
        plan: What was asked.
        instant: The instant, as a number; None: before all input.
        at: The same for people: a date and time, or a number.
    """

    def __init__(self, table: pa.Table, plan: Plan, instant: int) -> None:
        super().__init__(table.slice(0, 0), lambda: iter([table]))
        self.plan = plan
        self.instant = None if instant == BEGINNING else instant
        self.at = "start" if instant == BEGINNING else unit_of(plan).format(instant)
