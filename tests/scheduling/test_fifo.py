"""FIFO, and how schedulers are told of what waits."""

from __future__ import annotations

from penstock.scheduling.fifo import Fifo
from penstock.scheduling.scheduler import Head


def test_a_block_is_completed_before_the_next_one() -> None:
    fifo = Fifo()
    fifo.replan([], 3)
    assert fifo.choose(0) is None
    fifo.waits(0, Head(0, 1))
    assert fifo.choose(0) == 0
    fifo.waits(0, Head(1, 2))
    fifo.waits(1, Head(0, 1))
    assert fifo.choose(1) == 1
    fifo.waits(1, None)
    fifo.waits(2, Head(0, 1))
    assert fifo.choose(2) == 2
    fifo.waits(2, None)
    assert fifo.choose(3) == 0


def test_while_a_block_is_blocked_the_next_one_runs() -> None:
    fifo = Fifo()
    fifo.replan([], 2)
    fifo.waits(0, Head(1, 2))
    fifo.waits(1, Head(0, 1))
    fifo.waits(1, None)
    assert fifo.choose(1) == 0
    fifo.waits(1, Head(0, 1))
    assert fifo.choose(1) == 1


def test_of_parts_of_one_block_the_one_that_got_furthest_runs() -> None:
    fifo = Fifo()
    fifo.replan([], 2)
    fifo.waits(0, Head(0, 1))
    fifo.waits(1, Head(0, 1))
    assert fifo.choose(1) == 1


def test_what_waits_is_known_after_a_change_of_plans() -> None:
    fifo = Fifo()
    fifo.replan([], 3)
    fifo.waits(1, Head(0, 1))
    fifo.waits(2, Head(0, 0))
    fifo.replan([], 2)
    assert fifo.choose(0) == 1
