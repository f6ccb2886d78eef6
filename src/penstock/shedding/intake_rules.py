"""Rules of intake: from which size of queues on fewer rows are taken in, or some are left out."""

from __future__ import annotations

from dataclasses import dataclass

RANDOM, SEMANTIC = "random", "semantic"
KINDS = (RANDOM, SEMANTIC)
"""The ways to choose rows that are left out: by chance, or by how useful they are."""


@dataclass(frozen=True)
class IntakeRules:
    """The rules of intake.

    Args:
        queue_limit: Bytes that may wait in all lanes before fewer rows are taken in; None: any.
        shedding: `random` or `semantic`; None: no rows are left out.
        bound: Bytes that may wait in all lanes before rows are left out; None: any.
        keeps_rows: Whether rows that are left out are kept aside.
    """

    queue_limit: int | None = None
    shedding: str | None = None
    bound: int | None = None
    keeps_rows: bool = False

    @property
    def holds_back(self) -> bool:
        """Rows wait where they come from while too much waits in lanes; else they would be shed."""
        return self.queue_limit is not None and not self.sheds

    @property
    def sheds(self) -> bool:
        """Rows are left out when too much waits."""
        return self.shedding is not None and self.bound is not None
