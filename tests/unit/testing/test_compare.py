from __future__ import annotations

from collections import Counter
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as some

from penstock.algebra.time import BEGINNING, TimeUnit
from penstock.algebra.types import DOUBLE, STRING, Field, Schema
from penstock.reference.compare import (
    Tolerance,
    compare_emissions,
    compare_timelines,
    unmatched,
)
from penstock.reference.timeline import Bag, Emission, Row, Timeline

SCHEMA = Schema((Field("name", STRING), Field("price", DOUBLE)))
TEA: Row = ("tea", 2.5)
MILK: Row = ("milk", 1.0)


def timeline(*steps: tuple[int, list[Row]]) -> Timeline:
    bags: list[Bag] = [Counter(rows) for _, rows in steps]
    return Timeline([at for at, _ in steps], bags)


def test_results_cut_differently_are_the_same_result() -> None:
    whole = timeline((BEGINNING, []), (1, [TEA]), (9, []))
    cut = timeline((BEGINNING, []), (1, [TEA]), (5, [TEA]), (9, []))
    assert compare_timelines(whole, cut, SCHEMA, TimeUnit.TICK) is None


def test_the_first_difference_is_shown_and_the_others_counted() -> None:
    expected = timeline((BEGINNING, []), (1, [TEA]), (5, [TEA, TEA]), (7, []), (9, [MILK]))
    actual = timeline((BEGINNING, []), (1, [TEA]), (5, [TEA, MILK]), (7, [TEA]), (8, []))
    text = compare_timelines(expected, actual, SCHEMA, TimeUnit.TICK)
    assert text == (
        "the first difference is at 5:\n"
        "  missing     tea | 2.5\n"
        "  unexpected  milk | 1.0\n"
        "2 more instants differ: 7, 9"
    )


def test_a_difference_in_the_initial_content() -> None:
    text = compare_timelines(
        timeline((BEGINNING, [TEA])), timeline((BEGINNING, [])), SCHEMA, TimeUnit.TICK
    )
    assert text == "the first difference is before all input:\n  missing     tea | 2.5"


def test_long_differences_are_cut_short() -> None:
    rows: list[Row] = [(f"n{i:02}", 0.0) for i in range(15)]
    later = [(at, [TEA]) for at in range(20, 40, 1)]
    expected = timeline((BEGINNING, []), (5, rows), *later)
    actual = timeline((BEGINNING, []), *[(at, [MILK] * (at % 2)) for at, _ in later])
    text = compare_timelines(expected, actual, SCHEMA, TimeUnit.SECONDS) or ""
    lines = text.split("\n")
    assert lines[12] == "  missing     n11 | 0.0"
    assert lines[13] == "  ... and 3 more such rows"
    assert lines[14].startswith("20 more instants differ: 20, 21,")
    assert lines[14].endswith("31, ...")


def test_instants_are_shown_in_the_unit_of_the_query() -> None:
    text = compare_timelines(
        timeline((BEGINNING, []), (0, [TEA])),
        timeline((BEGINNING, [])),
        SCHEMA,
        TimeUnit.TIMESTAMP,
    )
    assert text == ("the first difference is at 1970-01-01 00:00:00:\n  missing     tea | 2.5")


def test_floats_may_differ_by_the_tolerance() -> None:
    exact = timeline((BEGINNING, [("tea", 0.3), ("tea", 1e-17)]))
    noisy = timeline((BEGINNING, [("tea", 0.1 + 0.2), ("tea", 0.0)]))
    assert compare_timelines(exact, noisy, SCHEMA, TimeUnit.TICK) is not None
    generous = Tolerance(absolute=1e-12)
    assert compare_timelines(exact, noisy, SCHEMA, TimeUnit.TICK, generous) is None


def test_rows_sent_out_at_one_instant_have_no_order_unless_they_do() -> None:
    one = [Emission(1, TEA), Emission(1, MILK)]
    other = [Emission(1, MILK), Emission(1, TEA)]
    assert compare_emissions(one, other, SCHEMA, TimeUnit.TICK) is None
    text = compare_emissions(one, other, SCHEMA, TimeUnit.TICK, ordered=True)
    assert text == (
        "the first difference is at 1:\n"
        "  missing     tea | 2.5, as row 1\n"
        "  missing     milk | 1.0, as row 2\n"
        "  unexpected  milk | 1.0, as row 1\n"
        "  unexpected  tea | 2.5, as row 2"
    )
    assert compare_emissions(one, one, SCHEMA, TimeUnit.TICK, ordered=True) is None


def test_a_row_sent_out_at_another_instant_is_missing_and_unexpected() -> None:
    text = compare_emissions([Emission(1, TEA)], [Emission(2, TEA)], SCHEMA, TimeUnit.TICK)
    assert text == (
        "the first difference is at 1:\n  missing     tea | 2.5\n1 more instant differs: 2"
    )


def test_thousands_of_equal_rows_are_paired() -> None:
    assert unmatched([1] * 1500, [1] * 1501, int.__eq__) == ([], [1])


@given(some.lists(some.integers(0, 4), max_size=5), some.lists(some.integers(0, 4), max_size=5))
def test_pairing_leaves_as_little_over_as_any_pairing_could(
    left: list[int], right: list[int]
) -> None:
    def near(a: int, b: int) -> bool:
        return abs(a - b) <= 1

    padded = [*right, *[99] * len(left)]
    best = max(sum(map(near, left, order)) for order in permutations(padded, len(left)))
    missing, over = unmatched(left, right, near)
    assert len(left) - len(missing) == len(right) - len(over) == best
