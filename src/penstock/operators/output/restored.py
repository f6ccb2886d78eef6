"""RESTORE: what entered a result between two slides is sent out at the second, even if it left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.operators.block import Block, arriving, concatenated, rows_by_time, stored_arrivals
from penstock.operators.operator import Inputs, Operator, Segments
from penstock.operators.set.set_counts import Counting
from penstock.operators.waiting import Waiting
from penstock.operators.window.time_windows import rounded_up

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.operators.division import Division
    from penstock.operators.set.counted import Changes, CountedRows
    from penstock.state.arrays import Ints
    from penstock.state.moving import Moved


class NextInstant(Operator):
    """Port 0 brings rows, port 1 instants: each row is sent out at the first instant from its own.

    ISTREAM RESTORE of a window that slides by rows.
    """

    def __init__(self) -> None:
        self._waiting = Waiting()

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """The rows up to the last instant; the others wait for the next one."""
        arrived, instants = map(rows_by_time, inputs)
        if arrived is not None:
            self._waiting.push(arrived)
        if instants is None:
            return ()
        due = self._waiting.take(int(instants.ts[-1]) + 1)
        if not due:
            return ()
        block = concatenated(due)
        moved = instants.ts[np.searchsorted(instants.ts, block.ts, side="left")]
        return [arriving(block.columns, moved)]

    @property
    def state_rows(self) -> int:
        """Rows that wait."""
        return len(self._waiting)

    @property
    def state_bytes(self) -> int:
        """Their bytes."""
        return self._waiting.nbytes

    def segments(self) -> Segments:
        """The rows that wait."""
        return self._waiting.segments("waiting")

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take them back."""
        self._waiting.restore(segments, "waiting")


class RestoredResult(Counting):
    """RSTREAM RESTORE: at each slide the max-union of the result and of what entered it.

    Port 0 brings the result without slides, port 1 the slides, the others the rows of the windows
    as they came: nothing is sent before the first of them. `step_length` is the slide of windows
    over time; None if the window slides by rows.
    """

    def __init__(self, counted: CountedRows, step_length: int | None, arrivals: int) -> None:
        super().__init__(counted, 2 + arrivals)
        self._slide = step_length
        self._first: int | None = None
        # What entered, by slide and slot: how many copies.
        self._entered: dict[tuple[int, int], int] = {}

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """The rows of each slide in this step."""
        result, instants, *arrivals = inputs
        sliding = rows_by_time(instants)
        slides = np.zeros(0, np.int64) if sliding is None else sliding.ts
        came = [block.ts for blocks in arrivals for block in blocks]
        if self._first is None and came:
            self._first = int(np.concatenate(came).min())
        before = self.counted.rows.live_slots()
        copies = {int(slot): int(self.counted.counts[slot, 2]) for slot in before}
        changes = self.counts([result], clock)
        self._enter(changes, slides)
        due = self._due(slides, clock)
        slots, times = self._sent(due, changes, copies)
        made = stored_arrivals(self.counted.rows, slots, times)
        self._entered = {key: n for key, n in self._entered.items() if key[0] not in due}
        self._release()
        return made

    def _enter(self, changes: Changes, slides: Ints) -> None:
        """Note what entered the result, under the slide at which it is restored."""
        entering = (changes.deltas > 0) & (changes.times > BEGINNING)
        times = changes.times[entering]
        if self._slide is not None:
            at = rounded_up(times, self._slide)
        else:
            # Beyond the last slide known, the next one is yet to come.
            at = np.append(slides, INFINITY)[np.searchsorted(slides, times, side="left")]
            waiting = {key: n for key, n in self._entered.items() if key[0] == INFINITY}
            if len(slides):
                for (_, slot), n in waiting.items():
                    del self._entered[INFINITY, slot]
                    self._add(int(slides[0]), slot, n)
        for slide, slot, n in zip(
            at.tolist(), changes.slots[entering].tolist(), changes.deltas[entering].tolist(),
            strict=True,
        ):  # fmt: skip
            self._add(slide, slot, n)

    def _add(self, slide: int, slot: int, copies: int) -> None:
        self._entered[slide, slot] = self._entered.get((slide, slot), 0) + copies

    def _due(self, slides: Ints, clock: int) -> list[int]:
        """The slides of this step; of a window over time also those that only restore rows."""
        found = set(slides.tolist())
        if self._slide is not None:
            found |= {at for at, _ in self._entered if at < clock}
        return sorted(found)

    def _sent(self, due: list[int], changes: Changes, copies: dict[int, int]) -> tuple[Ints, Ints]:
        slots: list[int] = []
        times: list[int] = []
        place = 0
        for at in due:
            while place < len(changes.times) and changes.times[place] <= at:
                slot = int(changes.slots[place])
                copies[slot] = copies.get(slot, 0) + int(changes.deltas[place])
                place += 1
            if self._first is None or at < self._first:
                continue
            entered = {slot: n for (slide, slot), n in self._entered.items() if slide == at}
            for slot in copies.keys() | entered.keys():
                count = max(copies.get(slot, 0), entered.get(slot, 0))
                slots += [slot] * count
                times += [at] * count
        return np.array(slots, np.int64), np.array(times, np.int64)

    def _release(self) -> None:
        """Rows that entered and left stay until the slide that restores them."""
        self.counted.hold(np.unique(np.array([slot for _, slot in self._entered], np.int64)))
        moved = self.counted.release()
        if moved is not None:
            self._move(moved)

    def _move(self, moved: Moved) -> None:
        self._entered = {
            (at, int(moved.numbers[slot])): n for (at, slot), n in self._entered.items()
        }

    def segments(self) -> Segments:
        """The counted rows, and what is to be restored."""
        entered = [(at, slot, n) for (at, slot), n in self._entered.items()]
        columns = np.array(entered, np.int64).reshape(-1, 3)
        names = ("slide", "slot", "copies")
        table = pa.table({name: pa.array(columns[:, n]) for n, name in enumerate(names)})
        first = pa.table({"first": pa.array([self._first], pa.int64())})
        return super().segments() | {"entered": table, "first": first}

    def divided(self, parts: Sequence[Segments], division: Division) -> list[Segments]:
        """The counted rows, with what is to be restored of each."""
        made, moves = self.counted.divided(parts, division, division.inputs[0])
        entered = moves.moved([part["entered"] for part in parts], "slot")
        first = pc.min(pa.concat_tables([part["first"] for part in parts])["first"])
        told = pa.table({"first": pa.array([first.as_py()], pa.int64())})
        return [
            segments | {"entered": one, "first": told}
            for segments, one in zip(made, entered, strict=True)
        ]

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take them back."""
        moved = self.counted.restore(segments)
        for row in segments["entered"].to_pylist():
            self._entered[row["slide"], row["slot"]] = row["copies"]
        self._move(moved)
        self._first = segments["first"]["first"][0].as_py()
        self._release()
