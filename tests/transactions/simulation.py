"""A window and its readers on no clock: a trace says who acts, a scheduler what he does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.transactions.histories import Act, Operation, TransactionHistory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock.transactions.read_transactions import ReadMember, ReadTransaction
    from penstock.transactions.transaction_scheduler import TransactionScheduler


class Simulation:
    """Drives a scheduler; its history can be judged."""

    def __init__(self, kind: type[TransactionScheduler], length: int, **options: Any) -> None:
        self.operations: list[Operation] = []
        self.scheduler = kind(length, length - 1, self.operations.append, **options)
        self.due = 0
        self.committed: list[ReadMember] = []

    def move(self) -> None:
        self.due += 1
        self._catch_up()

    def read(self) -> bool:
        """One read; whether there was one."""
        self._catch_up()
        scan = self.scheduler.choose()
        if scan is None:
            return False
        self.committed += self.scheduler.finish(scan)
        self._catch_up()
        return True

    def begin(self, *transactions: ReadTransaction) -> None:
        for one in transactions:
            self.scheduler.begin(one)

    def perform(self, trace: Iterable[str]) -> None:
        """R is a read, W a movement."""
        for one in trace:
            if one == "W":
                self.move()
            else:
                self.read()

    def finish(self) -> None:
        while self.read():
            pass

    def history(self, windows: Mapping[str, int]) -> TransactionHistory:
        length = self.scheduler.length
        return TransactionHistory(length, tuple(self.operations), windows, length - 1)

    def count(self, kind: Act) -> int:
        return sum(one.act is kind for one in self.operations)

    def _catch_up(self) -> None:
        while self.due and self.scheduler.may_move():
            self.due -= 1
            self.scheduler.move()
