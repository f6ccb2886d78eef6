"""The row store against a dictionary of rows, and fingerprints against equality of rows."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.state.fingerprints import any_null, fingerprints
from penstock.state.lane_hash import lanes_of
from penstock.state.row_store import RowStore

Row = tuple[Any, ...]

VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int64(): st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63)]),
    pa.int32(): st.sampled_from([0, 1, -1, 2**31 - 1]),
    pa.float64(): st.sampled_from([0.0, -0.0, 1.5, math.nan, math.inf, -math.inf]),
    pa.bool_(): st.booleans(),
    pa.string(): st.sampled_from(["", "a", "b", "ä€", "\0", "12345678", "123456789", "x" * 3000]),
    pa.date32(): st.dates(),
    pa.timestamp("us"): st.datetimes(),
    pa.decimal128(38, 2): st.sampled_from([Decimal("0.00"), Decimal("-1.25"), Decimal(10**30)]),
}


@st.composite
def tables(draw: st.DrawFn, most: int = 20) -> tuple[list[pa.DataType], list[Row]]:
    """Some columns, and rows with NULLs."""
    types = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=3))
    row = st.tuples(*(st.none() | VALUES[one] for one in types))
    return types, draw(st.lists(row, max_size=most))


def arrays(types: list[pa.DataType], rows: list[Row]) -> list[pa.Array]:
    """The columns, cut out of longer ones so that offsets matter."""
    padded = [*rows[:1], *rows, *rows[:1]]
    return [
        pa.array([row[place] for row in padded], one).slice(1 if rows else 0, len(rows))
        for place, one in enumerate(types)
    ]


def same(row: Row) -> Row:
    """Equal for rows that are not distinct: NaN like NaN, -0.0 like 0.0."""
    return tuple("NaN" if isinstance(one, float) and math.isnan(one) else one for one in row)


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_a_store_gives_back_what_was_put(data: st.DataObject) -> None:
    types, rows = data.draw(tables(most=40))
    store, known = RowStore(types), dict[int, Row]()
    while rows:
        count = data.draw(st.integers(1, len(rows)))
        part, rows = rows[:count], rows[count:]
        slots = data.draw(st.lists(st.integers(0, 60), min_size=count, max_size=count, unique=True))
        store.put(np.array(slots, np.int64), arrays(types, part))
        known |= dict(zip(slots, part, strict=True))
        gone = data.draw(st.lists(st.sampled_from(sorted(known)), unique=True))
        store.forget(np.array(gone, np.int64))
        known = {slot: row for slot, row in known.items() if slot not in gone}
        check(store, known, types, data)
        if data.draw(st.sampled_from([False, False, True])):
            kept = data.draw(st.permutations(sorted(known)))
            store.move(np.array(kept, np.int64))
            known = {place: known[slot] for place, slot in enumerate(kept)}
            check(store, known, types, data)


def check(
    store: RowStore, known: dict[int, Row], types: list[pa.DataType], data: st.DataObject
) -> None:
    wanted = data.draw(st.lists(st.sampled_from(sorted(known)), max_size=10)) if known else []
    columns = store.take(np.array(wanted, np.int64))
    assert [column.type for column in columns] == types
    for column in columns:
        column.validate(full=True)
    found = list(zip(*(column.to_pylist() for column in columns), strict=True))
    assert [same(row) for row in found] == [same(known[slot]) for slot in wanted]


def test_texts_that_were_forgotten_leave_the_heap() -> None:
    store, sizes = RowStore([pa.string()]), []
    slots = np.arange(100)
    for number in range(200):
        store.put(slots, [pa.array([f"{number:0100}"] * 100)])
        store.forget(slots)
        sizes.append(store.nbytes)
    assert max(sizes[100:]) <= max(sizes[:100])


@given(tables())
@settings(deadline=None, max_examples=300)
def test_fingerprints_tell_rows_apart(table: tuple[list[pa.DataType], list[Row]]) -> None:
    types, rows = table
    columns = arrays(types, rows)
    found = [tuple(one) for one in fingerprints(columns, len(rows)).tolist()]
    lanes = lanes_of(columns, len(rows), 2**62).tolist()
    for one in range(len(rows)):
        for other in range(one):
            is_same = same(rows[one]) == same(rows[other])
            assert (found[one] == found[other]) == is_same
            # Routing only has to keep the same rows together: (NULL, 1) goes where (1, NULL) goes.
            assert lanes[one] == lanes[other] or not is_same
    nulls = any_null(columns, len(rows))
    wanted = [any(value is None for value in row) for row in rows]
    assert (nulls.tolist() if nulls is not None else [False] * len(rows)) == wanted


@given(tables())
@settings(deadline=None, max_examples=50)
def test_fingerprints_do_not_depend_on_the_block(
    table: tuple[list[pa.DataType], list[Row]],
) -> None:
    types, rows = table
    whole = fingerprints(arrays(types, rows), len(rows)).tolist()
    alone = [fingerprints(arrays(types, [row]), 1).tolist()[0] for row in rows]
    assert whole == alone


def test_rows_without_columns_are_all_alike() -> None:
    assert len({tuple(one) for one in fingerprints([], 3).tolist()}) == 1


def test_neighbouring_texts_do_not_flow_into_each_other() -> None:
    first, second = (
        fingerprints([pa.array([one]), pa.array([other])], 1).tolist()
        for one, other in (("ab", "c"), ("a", "bc"))
    )
    assert first != second


@pytest.mark.parametrize("lanes", [2, 7])
def test_lanes_get_about_equal_shares(lanes: int) -> None:
    found = lanes_of([pa.array(range(10_000))], 10_000, lanes)
    shares = np.bincount(found, minlength=lanes)
    assert shares.min() > 0.9 * 10_000 / lanes
