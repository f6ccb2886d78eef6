"""RESTORE: what entered a result between two slides is sent out at the second, even if it left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.operators.block import Block, arriving, concatenated, rows_by_time, stored_arrivals
from penstock.operators.declared_state.known_values import EARLIEST, KnownValues
from penstock.operators.declared_state.slot_entries import SlotEntries
from penstock.operators.declared_state.state_part import DeclaredState
from penstock.operators.operator import Inputs, Operator, Segments
from penstock.operators.saved_tables import arrays_of
from penstock.operators.set.set_counts import CountingOperator
from penstock.operators.waiting import Waiting
from penstock.operators.window.time_windows import rounded_up

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.operators.division import Moves
    from penstock.operators.set.counted import CopyChanges, CountedRows
    from penstock.state.arrays import Ints
    from penstock.state.moving import Moved


class NextInstant(Operator):
    """Port 0 brings rows, port 1 instants: each row is sent out at the first instant from its own.

    ISTREAM RESTORE of a window that slides by rows.
    """

    def __init__(self) -> None:
        self._waiting = Waiting()
        self.state = DeclaredState(waiting=self._waiting)

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


class RestoredResult(CountingOperator):
    """RSTREAM RESTORE: at each slide the max-union of the result and of what entered it.

    Port 0 brings the result without slides, port 1 the slides, the others the rows of the windows
    as they came: nothing is sent before the first of them. `step_length` is the slide of windows
    over time; None if the window slides by rows.
    """

    def __init__(self, counted: CountedRows, step_length: int | None) -> None:
        super().__init__(counted)
        self._slide = step_length
        self._first: int | None = None
        self._entered = counted.rows.beside(_Entered())
        self.state.parts["first"] = KnownValues(self, _first=EARLIEST)

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
        self._entered.forget(due)
        self._release()
        return made

    def _enter(self, changes: CopyChanges, slides: Ints) -> None:
        """Note what entered the result, under the slide at which it is restored."""
        entering = (changes.deltas > 0) & (changes.times > BEGINNING)
        times = changes.times[entering]
        if self._slide is not None:
            at = rounded_up(times, self._slide)
        else:
            # Beyond the last slide known, the next one is yet to come.
            at = np.append(slides, INFINITY)[np.searchsorted(slides, times, side="left")]
            if len(slides):
                self._entered.send(INFINITY, int(slides[0]))
        self._entered.add(at, changes.slots[entering], changes.deltas[entering])

    def _due(self, slides: Ints, clock: int) -> list[int]:
        """The slides of this step; of a window over time also those that only restore rows."""
        found = set(slides.tolist())
        if self._slide is not None:
            found |= {at for at, _ in self._entered.copies if at < clock}
        return sorted(found)

    def _sent(
        self, due: list[int], changes: CopyChanges, copies: dict[int, int]
    ) -> tuple[Ints, Ints]:
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
            entered = self._entered.at(at)
            for slot in copies.keys() | entered.keys():
                count = max(copies.get(slot, 0), entered.get(slot, 0))
                slots += [slot] * count
                times += [at] * count
        return np.array(slots, np.int64), np.array(times, np.int64)

    def _release(self) -> None:
        """Rows that entered and left stay until the slide that restores them."""
        self.counted.hold(self._entered.slots())
        self.counted.release()

    def restored(self) -> None:
        """Hold the rows that are to be restored."""
        self._release()


class _Entered(SlotEntries):
    """The copies of rows that entered the result, by the slide that restores them and by slot."""

    def __init__(self) -> None:
        self.copies: dict[tuple[int, int], int] = {}

    def add(self, slides: Ints, slots: Ints, copies: Ints) -> None:
        """More copies of rows are to be restored."""
        for *key, count in zip(slides.tolist(), slots.tolist(), copies.tolist(), strict=True):
            slide, slot = key
            self.copies[slide, slot] = self.copies.get((slide, slot), 0) + count

    def send(self, slide: int, other: int) -> None:
        """Move rows that were to be restored at a slide to another one."""
        moved = [(slot, count) for (at, slot), count in self.copies.items() if at == slide]
        self.forget([slide])
        self.add(*np.array([(other, *one) for one in moved], np.int64).reshape(-1, 3).T)

    def forget(self, slides: Sequence[int]) -> None:
        """These slides are over."""
        gone = set(slides)
        self.copies = {key: count for key, count in self.copies.items() if key[0] not in gone}

    def at(self, slide: int) -> dict[int, int]:
        """The copies to be restored at a slide, by slot."""
        return {slot: count for (at, slot), count in self.copies.items() if at == slide}

    def slots(self) -> Ints:
        """The slots of all rows to be restored, ascending."""
        return np.unique(np.array([slot for _, slot in self.copies], np.int64))

    def segments(self, numbers: Ints) -> Segments:
        """One row for each slide and slot."""
        entered = [(at, slot, count) for (at, slot), count in self.copies.items()]
        slides, slots, copies = np.array(entered, np.int64).reshape(-1, 3).T
        return {"entered": pa.table({"slide": slides, "slot": numbers[slots], "copies": copies})}

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take them back."""
        self.add(*(one.to_numpy() for one in arrays_of(segments["entered"])))

    def divided(self, parts: Sequence[Segments], moves: Moves) -> list[Segments]:
        """Each where its row is."""
        moved = moves.moved([part["entered"] for part in parts], "slot")
        return [{"entered": one} for one in moved]

    def move(self, moved: Moved) -> None:
        """Name other slots."""
        self.copies = {
            (at, int(moved.numbers[slot])): count for (at, slot), count in self.copies.items()
        }
