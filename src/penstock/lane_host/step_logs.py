"""Step logs: the steps that lanes took in a batch with a budget, so that they can be repeated.

A step log stands before the log of the batch among those that make the state of a lane.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.runtime.allotment import Allotment, Step
from penstock.store.bundles import Bundle, write_bundle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.store.layout import Home

KIND = "steps"


def is_step_log(name: str) -> bool:
    """A file among logs that is one of steps."""
    return name.endswith(f".{KIND}")


def steps_table(steps: Sequence[Step], identities: Sequence[str]) -> pa.Table:
    """The steps of a lane, by the identities of operators: other graphs have other numbers."""
    places = pa.array([one.station for one in steps], pa.int32())
    operators = pa.DictionaryArray.from_arrays(places, pa.array(identities, pa.string()))
    instants = pa.array([one.instant for one in steps], pa.int64())
    return pa.table({"operator": operators, "instant": instants})


def write_step_log(
    home: Home, record: int, task: int, lanes: Mapping[str, pa.Table], arrival: float
) -> str:
    """Write the steps of the lanes of a task down; the file."""
    segment = home.new_segment(record, task, KIND)
    write_bundle(home.segments / segment, lanes, {"arrival": arrival}, durable=True)
    return segment


def read_step_log(home: Home, name: str, lane: str, identities: Sequence[str]) -> Allotment:
    """The steps of a lane, for a graph that may be a part of the one that took them.

    Raises:
        DataError: The file is missing or damaged.
    """
    bundle = Bundle(home.segments / name)
    table = bundle.table(lane)
    numbers = {identity: number for number, identity in enumerate(identities)}
    pairs = zip(table["operator"].to_pylist(), table["instant"].to_pylist(), strict=True)
    steps = (Step(numbers[one], instant) for one, instant in pairs if one in numbers)
    return Allotment(steps=tuple(steps), arrival=bundle.about["arrival"])
