"""The join of many inputs: that what it can do in several ways is in fact done in these ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from operators.join_model import Element, block_of, sent, step_of
from operators.multi_join_model import plain_orders
from operators.multi_join_steps import by_first, common, passing, run, steps_of
from penstock.algebra.patterns import Pattern
from penstock.operators.join.join_sides import JoinSide
from penstock.operators.multi_join.multi_join import MultiJoin, Theta
from penstock.operators.multi_join.multi_join_rows import InputRows, Sizing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.block import Block


def both(steps: Sequence[Sequence[Block]], length: int) -> tuple[MultiJoin, MultiJoin]:
    """The join of the steps by eager evaluation, and by lazy; they find the same."""
    eager, lazy = (common(len(steps[0]), evaluation=one) for one in ("eager", "lazy"))
    found = run(eager, steps, length)
    assert run(lazy, steps, length) == found
    assert found
    return eager, lazy


def counted(join: MultiJoin, what: str) -> int:
    return sum(getattr(one, what) for one in join.measured if one.origin == 0)


def test_new_rows_of_one_key_probe_once() -> None:
    # Two inputs have two keys, the last one a hundred: what is found before it comes to little.
    steps = [
        [passing(at, at + 20, keys, port) for port, keys in enumerate((2, 2, 100))]
        for at in range(0, 600, 20)
    ]
    eager, lazy = both(steps, 20)
    assert counted(lazy, "probes") < counted(eager, "probes") / 3


def test_rows_look_by_themselves_if_windows_pass_between_them() -> None:
    eager, lazy = both(steps_of(4, 4, 1000, 50), 1000)
    # Together, they would find what was there before the one and behind the other.
    assert counted(lazy, "matches") <= 1.1 * counted(eager, "matches")


def test_rows_look_by_themselves_where_most_is_found_at_last() -> None:
    eager, lazy = both(steps_of(3, 15, 10, 8), 10)
    (last,) = [one for one in lazy.measured if (one.origin, one.target) == (0, 2)]
    (alone,) = [one for one in eager.measured if (one.origin, one.target) == (0, 2)]
    assert last.matches > 0.9 * alone.matches
    assert counted(lazy, "probes") <= counted(eager, "probes")


def rows_behind_each_step(expiration: str) -> list[int]:
    """How many rows three windows of 100 have, once they are full, if steps have two instants."""
    join, rows = common(3, expiration=expiration), []
    for start in range(0, 400, 2):
        step_of(join, start + 2, *(passing(start, start + 2, 50, port) for port in range(3)))
        rows.append(join.state_rows)
    return rows[100:]


def test_eager_expiration_forgets_in_every_step_and_lazy_by_twentieths_of_a_window() -> None:
    assert {*rows_behind_each_step("eager")} == {3 * 99}
    assert {*rows_behind_each_step("lazy")} == {3 * 99, 3 * 101, 3 * 103}


def test_tables_begin_with_room_for_what_is_expected() -> None:
    heads = common(3, expected=[10_000, 0, 300]).state_bytes - common(3).state_bytes
    assert heads == 8 * (20_000 + 600 - 2 * 64)


def test_tables_have_as_many_buckets_as_rows_need_or_as_is_said() -> None:
    def buckets(sizing: Sizing) -> int:
        rows = InputRows(0, by_first(), (0,), [(0,)], sizing)
        ts, _ = rows.arrange([passing(0, 500, 10**9, 0)])
        rows.enter(0, len(ts), np.arange(len(ts)))
        rows.expire(1, True)
        return len(rows.first.heads)

    assert buckets(Sizing(buckets=7)) == 7
    assert buckets(Sizing(expected=5000)) == 10_000
    assert 500 <= buckets(Sizing()) <= 2000
    small, large = (common(3, buckets=[one] * 3).state_bytes for one in (1, 1001))
    assert large - small == 8 * 3000


def test_conditions_and_keys_gather_what_they_read(monkeypatch: pytest.MonkeyPatch) -> None:
    gathered: list[tuple[int, int]] = []
    whole = InputRows.columns_at

    def columns_at(rows: InputRows, places: Any) -> Any:
        width, gather = whole(rows, places)

        def noting(number: int) -> pa.Array:
            gathered.append((width, number))
            return gather(number)

        return width, noting

    monkeypatch.setattr(InputRows, "columns_at", columns_at)

    def asks(columns: Sequence[pa.Array], length: int) -> Any:
        assert len(columns) == 9
        return np.not_equal(columns[2].to_numpy(), columns[7].to_numpy())

    def side(width: int, keys: int) -> JoinSide:
        return JoinSide(
            [pa.int64()] * width, lambda block: block.columns[:keys], (False,) * keys, Pattern.WKS
        )

    # A row of the last is looked for by keys of both others.
    sides, agreements = [side(4, 1), side(5, 1), side(3, 2)], [(0,), (1,), (0, 1)]
    join = MultiJoin(sides, agreements, [Theta((0, 1), asks)], plain_orders(3))
    blocks = []
    for port, keys in enumerate((1, 1, 2)):
        types = sides[port].types
        row = (*(1 for _ in range(keys)), *(10 * port + one for one in range(keys, len(types))))
        blocks.append(block_of([Element(row, port, 50)], types, False))
    assert len(sent(join, 10, *blocks)) == 1
    assert {*gathered} == {(4, 0), (4, 2), (5, 0), (5, 3)}


def test_the_tables_of_an_input_give_a_row_one_place() -> None:
    types = [pa.int64()] * 2
    side = JoinSide(types, lambda block: block.columns, (False,) * 2, Pattern.STR)
    rows = InputRows(0, side, (0, 1), [(0, 1), (0,), (1,)], Sizing())
    rng = np.random.default_rng(3)
    live: list[Element] = []

    def enter(elements: Sequence[Element]) -> None:
        ts, _ = rows.arrange([block_of(elements, types, True)])
        rows.enter(0, len(ts), np.arange(len(ts)))

    for step in range(30):
        gone = [one for one in live if rng.random() < 0.6]
        new = [Element((int(rng.integers(9)), 100 * step + one), step, 999) for one in range(40)]
        live = [*(one for one in live if one not in gone), *new]
        enter([*(Element(one.row, step, one.te, -1) for one in gone), *new])
        rows.expire(step, False)
        first, *others = (np.sort(table.rows.live()) for table in rows.tables)
        assert len(first) == len(live)
        assert all(np.array_equal(first, other) for other in others)
    # A table that has kept something else gives other places from then on.
    astray = rows.tables[1]
    astray.rows.accept(passing(30, 31, 9, 0), np.zeros(1, np.int64))
    with pytest.raises(AssertionError, match="two places"):
        enter([Element((1, 1), 31, 999)])
