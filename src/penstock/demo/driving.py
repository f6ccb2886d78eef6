"""Driving the demonstration: traffic goes in at a steady pace, results come out on a board."""

from __future__ import annotations

import threading
import time
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from penstock.demo.board import Board
from penstock.demo.highway import DELIVERED, START
from penstock.demo.scenario import QUERIES, script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.connection.connection import Connection
    from penstock.connection.following import Subscription
    from penstock.demo.highway import HighwayTraffic

STEP = DELIVERED / 80
"""At least so much of the traffic goes in together: micro-batches have their price."""
LOOK = 0.2
"""Seconds between two looks at the board."""


class Demonstration:
    """The queries of the scenario on a connection, and what they have said.

    Attributes:
        board: What the queries have said.
        began: When the traffic began, by `time.monotonic`.
    """

    def __init__(self, db: Connection) -> None:
        self.board = Board()
        self.began = time.monotonic()
        self._db = db
        db.execute(script())
        self._subscriptions: list[Subscription] = [
            db[name].on_change(self.board.takers[name]) for name in QUERIES
        ]

    @property
    def rows(self) -> int:
        """The number of rows that have been taken in."""
        return int(self._db.engine.progress()["streams"]["vehicles"]["rows"])

    @property
    def is_over(self) -> bool:
        """The queries have said everything."""
        return self._db.is_finished

    @property
    def clock(self) -> datetime | None:
        """Up to when it is known which stations are congested."""
        clock = self._db.engine.progress()["queries"]["congested"]["clock"]
        epoch = datetime(1970, 1, 1, tzinfo=START.tzinfo)
        return None if clock is None else epoch + timedelta(microseconds=clock)

    def drive(self, traffic: HighwayTraffic, look: Callable[[], None], seconds: float) -> None:
        """Feed all traffic in, and wait until the queries have said everything.

        Args:
            traffic: The traffic.
            look: Called often; it shows the board.
            seconds: How long it takes to feed the traffic in, once the first of it is. Where the
                pipeline is slower, more goes in together.
        """

        def watch() -> None:
            self._check()
            look()

        fed = 0.0
        for until in self._moments(seconds, watch):
            brought = self._db.insert("vehicles", traffic.delivered_in(fed, until))
            self._wait_for(self.rows + brought, watch)
            fed = until
        # Not in this thread: Ctrl-C in the middle of a call to Java is answered by pages of Java.
        for _ in _in_background(self._finish):
            watch()
        look()

    def _moments(self, seconds: float, watch: Callable[[], None]) -> Iterator[float]:
        """Up to when traffic has been delivered, each time that more is asked for."""
        # The first batch starts processes and compiles loops: time is counted from its end on.
        yield (until := STEP)
        self.began = time.monotonic()
        while until < DELIVERED:
            _wait_until(self.began + seconds * until / DELIVERED, watch)
            passed = (time.monotonic() - self.began) / seconds if seconds else 1.0
            until = min(max(passed * DELIVERED, until + STEP), DELIVERED)
            yield until

    def _wait_for(self, rows: int, watch: Callable[[], None]) -> None:
        """Wait until so many rows have been taken in."""
        while self.rows < rows:
            watch()
            time.sleep(LOOK / 10)

    def _finish(self) -> None:
        self._db.finish()
        for one in self._subscriptions:
            one.wait()

    def _check(self) -> None:
        """Raise what ended a subscription."""
        for one in self._subscriptions:
            if one.error is not None:
                raise one.error


def _wait_until(moment: float, look: Callable[[], None]) -> None:
    """Look again and again until a moment of `time.monotonic`."""
    while (left := moment - time.monotonic()) > 0:
        look()
        time.sleep(min(left, LOOK))


def _in_background(action: Callable[[], None]) -> Iterator[None]:
    """Do something in a thread of its own; yields now and then until it is done."""
    failure: list[BaseException] = []

    def work() -> None:
        try:
            action()
        except BaseException as error:  # Raised below, where somebody waits for it.
            failure.append(error)

    thread = threading.Thread(target=work, name="penstock demo", daemon=True)
    thread.start()
    while thread.is_alive():
        yield
        thread.join(LOOK)
    if failure:
        raise failure[0]
