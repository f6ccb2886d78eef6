"""Windows over time: they set te and, with a slide, move ts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import INFINITY
from penstock.algebra.windows import (
    Between,
    Fixed,
    Now,
    Range,
    Since,
    Unbounded,
    WindowSpec,
)
from penstock.errors import InternalError
from penstock.operators.block import Block
from penstock.operators.declared_state.state_part import DeclaredState
from penstock.operators.operator import Inputs, Operator
from penstock.operators.waiting import Waiting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.state.arrays import Ints


class TimeWindow(Operator):
    """Gives each row of a stream the interval of its window.

    With a slide rows begin later than they came; they wait until the clock has passed that.
    """

    meets = False

    def __init__(self, spec: WindowSpec) -> None:
        self.spec = spec
        self._waiting = Waiting()
        self.state = DeclaredState(waiting=self._waiting)

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Set the intervals; rows without any vanish."""
        made = [self._windowed(block) for blocks in inputs for block in blocks]
        if self.spec.time_slide is None:
            return made
        for block in made:
            self._waiting.push(block)
        return self._waiting.take(clock)

    def _windowed(self, block: Block) -> Block:
        ts, te = intervals(self.spec, block.ts)
        return Block(block.columns, ts, te, block.sign).take(ts < te)


def intervals(spec: WindowSpec, ts: Ints) -> tuple[Ints, Ints]:
    """The interval a window gives to rows that came at `ts`; empty for rows that vanish."""
    match spec:
        case Range(length, None):
            return ts, plus(ts, length)
        case Range(length, int(slide)):
            return rounded_up(ts, slide), rounded_up(plus(ts, length), slide)
        case Fixed(length):
            # A length beyond all time has one multiple that counts: zero.
            length = min(length, INFINITY)
            return ts, _next_multiple(ts, length)
        case Now():
            return ts, plus(ts, 1)
        case Unbounded():
            return ts, np.full(len(ts), INFINITY, np.int64)
        case Since(start):
            return ts, np.where(ts >= start, INFINITY, ts)
        case Between(first, last):
            return ts, np.where((ts >= first) & (ts <= last), INFINITY, ts)
    msg = f"{spec} is not a window over time"
    raise InternalError(msg)


def plus(instants: Ints, length: int) -> Ints:
    """Instants moved by a length; they saturate to infinity."""
    length = min(length, INFINITY)
    if _is_amid(instants, length):
        return instants + length
    return np.where(instants > INFINITY - length, INFINITY, instants + length)


def rounded_up(instants: Ints, step: int) -> Ints:
    """The multiple of `step` at or after each instant; beyond all time, infinity."""
    step = min(step, INFINITY)
    if _is_amid(instants, step):
        down = instants // step * step
        return down + (down < instants) * np.int64(step)
    # Not by the negative, which the first instant of all time does not have.
    up = _multiples(instants // step + (instants % step != 0), step)
    return np.where(instants >= INFINITY, INFINITY, up)


def _next_multiple(instants: Ints, step: int) -> Ints:
    """The multiple of `step` behind each instant; beyond all time, infinity."""
    numbers = instants // step + 1
    return numbers * step if _is_amid(instants, step) else _multiples(numbers, step)


def _multiples(numbers: Ints, step: int) -> Ints:
    """Multiples of a step by their numbers; beyond all time, infinity."""
    return np.where(numbers > INFINITY // step, INFINITY, numbers * step)


def _is_amid(instants: Ints, length: int) -> bool:
    """All instants are so far from both ends of time that nothing has to saturate."""
    most = INFINITY - length
    return not len(instants) or bool(instants.max() <= most and instants.min() >= -most)
