"""Sketches count different values, about, whatever their order, copies and lanes."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from penstock.state.lane_hash import hashes_of
from penstock.state.sketches import Sketch, values_among


def sketch_of(values: pa.Array) -> Sketch:
    made = Sketch()
    made.add(hashes_of([values], len(values)))
    return made


def numbers(count: int, start: int = 0) -> pa.Array:
    return pa.array(np.arange(start, start + count))


@pytest.mark.parametrize("count", [1, 2, 30, 500, 1300, 2000, 10_000, 300_000])
def test_counts_are_near_the_truth(count: int) -> None:
    # Four times the standard error of 512 registers, on several inputs.
    for start in range(0, 10**9, 10**8):
        assert sketch_of(numbers(count, start)).different == pytest.approx(count, rel=0.19)


def test_errors_are_as_small_on_average_as_they_should_be() -> None:
    # Each value twice: there are never more values than rows.
    inputs = [numbers(20_000, 50_000 * n) for n in range(60)]
    found = [sketch_of(pa.concat_arrays([one, one])).different for one in inputs]
    errors = np.array(found) / 20_000 - 1
    assert abs(errors.mean()) < 0.02
    assert errors.std() < 0.065


@pytest.mark.parametrize(
    "values",
    [
        pa.array([f"text {n}" for n in range(3000)]),
        pa.array(np.arange(3000) / 7),
        pa.array(np.arange(3000, dtype=np.int32)),
        pa.array(range(3000), pa.timestamp("us")),
    ],
    ids=["texts", "doubles", "ints", "timestamps"],
)
def test_values_of_all_types_are_counted(values: pa.Array) -> None:
    assert sketch_of(values).different == pytest.approx(3000, rel=0.15)


def test_copies_and_order_change_nothing_but_the_rows() -> None:
    once = sketch_of(numbers(900))
    again = sketch_of(pa.concat_arrays([numbers(900)[::-1], numbers(900), numbers(900)]))
    assert again.to_json()["registers"] == once.to_json()["registers"]
    assert (once.rows, again.rows) == (900, 2700)


def test_sketches_of_lanes_together_are_that_of_all_rows() -> None:
    whole = sketch_of(numbers(5000))
    merged = Sketch()
    for start in range(0, 5000, 1000):
        share = sketch_of(numbers(1500, start)) if start < 4000 else sketch_of(numbers(1000, start))
        merged.merge(share)
    assert merged.different == whole.different


def test_a_sketch_travels_as_text() -> None:
    made = sketch_of(numbers(5000))
    text = json.dumps(made.to_json())
    assert len(text) < 500
    assert Sketch.from_json(json.loads(text)).to_json() == made.to_json()


def test_nothing_has_no_values() -> None:
    assert Sketch().different == 0


@pytest.mark.parametrize(("values", "looked_at"), [(50, 1000), (1000, 1000), (5000, 2000)])
def test_values_are_inferred_from_some_of_the_rows(values: int, looked_at: int) -> None:
    found = values * (1 - np.exp(-looked_at / values))
    assert values_among(found, looked_at, 10**6) == pytest.approx(values, rel=0.01)


def test_there_are_at_most_as_many_values_as_rows() -> None:
    assert values_among(1000, 1000, 4000) == 4000
    assert values_among(980, 1000, 1000) == 1000
