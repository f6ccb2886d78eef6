"""Every scalar function against its table of results, and against NULL."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from penstock.algebra.expressions import Call, Literal, Value
from penstock.algebra.failures import Failures
from penstock.catalog.functions import FUNCTIONS, resolve_call
from penstock.reference.expressions import evaluate
from penstock.reference.functions import MEANING, STRICT
from unit.functions.rows import CONSTANT, FAILS, Row, as_columns, compute, literal
from unit.functions.tables import TABLE

if TYPE_CHECKING:
    from penstock.algebra.types import Type

ROWS = [(name, row) for name, rows in TABLE.items() for row in rows]
# A constant pattern that is none is refused before it is computed.
OF_LITERALS = [(name, row) for name, row in ROWS if "(" not in row.args]


def shown(case: object) -> str:
    if isinstance(case, Row):
        return f"({', '.join(map(repr, map(str, map(literal, case.args))))})"
    return str(case)


def same(left: Value, right: Value) -> bool:
    """Equal, doubles up to the last digits, where libraries of functions may differ."""
    if isinstance(left, float) and isinstance(right, float):
        both_nan = math.isnan(left) and math.isnan(right)
        return both_nan or math.isclose(left, right, rel_tol=1e-14, abs_tol=1e-15)
    return left == right and type(left) is type(right)


def check(value: Value, type_: Type, failures: Failures, expected: Literal) -> None:
    if expected is FAILS:
        assert (value, failures.count) == (None, 1)
        return
    assert same(value, expected.value), f"{value!r} is not {expected.value!r}"
    assert failures.count == 0
    assert expected.value is None or type_.name == expected.type.name


@pytest.mark.parametrize(("name", "row"), ROWS, ids=shown)
def test_of_columns(name: str, row: Row) -> None:
    call, value, failures = compute(name, [literal(arg) for arg in row.args])
    check(value, call.type, failures, literal(row.expected))


@pytest.mark.parametrize(("name", "row"), OF_LITERALS, ids=shown)
def test_of_literals(name: str, row: Row) -> None:
    call = resolve_call(name, tuple(literal(arg) for arg in row.args))
    failures = Failures()
    check(evaluate(call, {}, failures), call.type, failures, literal(row.expected))


@pytest.mark.parametrize("name", sorted(STRICT))
def test_null_for_any_null(name: str) -> None:
    args = [literal(arg) for arg in TABLE[name][0].args]
    for index, arg in enumerate(args):
        if (name, index) in CONSTANT:
            continue
        with_null = [*args[:index], Literal(None, arg.type), *args[index + 1 :]]
        _, value, failures = compute(name, with_null)
        assert (value, failures.count) == (None, 0)


def test_every_function_has_a_table() -> None:
    assert set(TABLE) == set(FUNCTIONS)


def test_every_call_has_a_meaning() -> None:
    for name, row in ROWS:
        call = resolve_call(name, as_columns(name, [literal(arg) for arg in row.args]))
        assert not isinstance(call, Call) or call.function in MEANING


def test_every_meaning_is_callable_by_name() -> None:
    assert set(MEANING) <= set(FUNCTIONS)


def test_summaries_are_sentences() -> None:
    for function in FUNCTIONS.values():
        assert function.summary.endswith("."), function.name
        assert "\n" not in function.summary
        assert len(function.summary) < 100


def test_no_name_is_taken_twice() -> None:
    names = [name for f in FUNCTIONS.values() for name in (f.name, *f.aliases)]
    assert len(names) == len(set(names))
