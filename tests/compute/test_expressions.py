"""Nested expressions, the examples of the other tests, and the edges of the evaluator."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compute.against_oracle import array_of, check, schema_of
from compute.generate_calls import LENGTHS, ONLY, some_overload
from compute.generate_values import DECIMALS, TYPES, column_of, values
from penstock.algebra.expressions import Case, Column, Expression, Literal
from penstock.algebra.failures import Failures
from penstock.algebra.types import BIGINT, BOOLEAN, DOUBLE, INT, NULL, STRING, Schema
from penstock.catalog.functions import FUNCTIONS, can_cast, resolve_call, resolve_cast
from penstock.compute.evaluate import compile_expression, holds
from penstock.errors import InternalError, PenstockError, TypeMismatch
from unit.functions.rows import as_columns, is_constant, literal
from unit.functions.tables import TABLE

if TYPE_CHECKING:
    from compute.against_oracle import Columns
    from penstock.algebra.types import Type

SCHEMA_TYPES = (BOOLEAN, INT, INT, BIGINT, DOUBLE, STRING, *TYPES[5:7], *DECIMALS)
NAMES = [f"c{place}" for place in range(len(SCHEMA_TYPES))]
NOT_NESTED = {"repeat", "lpad", "rpad"}
"""Inside of each other they make texts of gigabytes."""
NESTED = sorted(set(FUNCTIONS) - NOT_NESTED)
X = Column("x", INT)
TENTH = resolve_call("div", (Literal(10, INT), X))


def leaves(type_: Type) -> st.SearchStrategy[Expression]:
    columns = [
        Column(name, of) for name, of in zip(NAMES, SCHEMA_TYPES, strict=True) if of == type_
    ]
    constants: st.SearchStrategy[Expression] = (st.none() | values(type_)).map(
        lambda value: Literal(value, type_)
    )
    return st.one_of(constants, *([st.sampled_from(columns)] * 3 if columns else []))


@st.composite
def expressions(draw: st.DrawFn, type_: Type, depth: int) -> Expression:
    """An expression of this type."""
    kind = draw(st.sampled_from(["leaf", "call", "call", "call", "case", "if", "coalesce", "cast"]))
    if depth == 0 or kind == "leaf":
        return draw(leaves(type_))
    below, condition = expressions(type_, depth - 1), expressions(BOOLEAN, depth - 1)
    if kind == "case":
        branches = draw(st.lists(st.tuples(condition, below), min_size=1, max_size=3))
        return Case(tuple(branches), draw(below))
    if kind == "if":
        return resolve_call("if", (draw(condition), draw(below), draw(below)))
    if kind == "coalesce":
        return resolve_call("coalesce", tuple(draw(st.lists(below, min_size=2, max_size=3))))
    if kind == "cast":
        source = draw(st.sampled_from([one for one in SCHEMA_TYPES if can_cast(one, type_)]))
        return resolve_cast(draw(expressions(source, depth - 1)), type_)
    found = draw(nested_calls(depth - 1))
    return resolve_cast(found, type_) if can_cast(found.type, type_) else draw(leaves(type_))


@st.composite
def nested_calls(draw: st.DrawFn, depth: int) -> Expression:
    """A call of a random function with random expressions."""
    name = draw(st.sampled_from(NESTED))
    types = draw(some_overload(name))
    args = tuple(
        draw(ONLY[name, place] if (name, place) in ONLY else expressions(one, depth))
        for place, one in enumerate(types)
    )
    try:
        return resolve_call(name, args)
    except PenstockError:  # a constant pattern that is none, a quoted text that is no time
        return draw(leaves(types[0]))


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_nested_expression_is_the_oracles(data: st.DataObject) -> None:
    expression = data.draw(expressions(data.draw(st.sampled_from(SCHEMA_TYPES)), 3))
    length = data.draw(LENGTHS)
    columns: Columns = {
        name: (type_, data.draw(column_of(type_, length)))
        for name, type_ in zip(NAMES, SCHEMA_TYPES, strict=True)
    }
    if expression.type != NULL:
        check(expression, columns, length, padding=data.draw(st.sampled_from([0, 2])))


@pytest.mark.parametrize("name", TABLE)
def test_examples_in_columns_and_as_constants(name: str) -> None:
    for row in TABLE[name]:
        args = tuple(map(literal, row.args))
        columns: Columns = {
            f"c{place}": (arg.type, [arg.value] * 3)
            for place, arg in enumerate(args)
            if not is_constant(name, place, arg)
        }
        check(resolve_call(name, as_columns(name, args)), columns, 3)
        with suppress(TypeMismatch):  # a constant that is no regular expression
            check(resolve_call(name, args), {}, 2)


def test_a_branch_not_taken_does_not_fail() -> None:
    values_of_x = [0, 4, None, 0, 5, 20]
    zero = resolve_call("=", (X, Literal(0, INT)))
    columns: Columns = {"x": (INT, list(values_of_x))}
    for expression in (
        Case(((zero, Literal(None, TENTH.type)),), TENTH),
        Case(((TENTH_IS_TWO, X), (zero, X)), resolve_cast(TENTH, INT)),
        resolve_call("if", (zero, Literal(7, TENTH.type), TENTH)),
        resolve_call("coalesce", (X, TENTH)),
        resolve_call("coalesce", (TENTH, TENTH, Literal(3, INT))),
        resolve_call("if", (Literal(None, BOOLEAN), TENTH, Literal(1, BIGINT))),
    ):
        check(expression, columns, 6)


TENTH_IS_TWO = resolve_call("=", (TENTH, Literal(2, BIGINT)))


def test_a_constant_that_fails_does_so_for_every_row() -> None:
    nothing = resolve_call("div", (Literal(1, INT), Literal(0, INT)))
    failures = Failures()
    found = compile_expression(resolve_call("is null", (nothing,)), Schema(()))([], 5, failures)
    assert found.to_pylist() == [True] * 5
    assert failures.by_function == {"div": 5}
    assert failures.count == 5


def test_failures_that_are_none_leave_no_trace() -> None:
    failures = Failures()
    failures.add("+", 0)
    assert not failures.by_function


def test_holds_is_false_for_null() -> None:
    columns: Columns = {"x": (INT, [1, None, 3])}
    predicate = compile_expression(resolve_call(">", (X, Literal(1, INT))), schema_of(columns))
    found = holds(predicate, [array_of([1, None, 3], INT)], 3, Failures())
    assert isinstance(found, np.ndarray)
    assert found.tolist() == [False, False, True]
    always = compile_expression(Literal(True, BOOLEAN), Schema(()))
    assert holds(always, [], 2, Failures()).tolist() == [True, True]


def test_values_behind_null_are_not_looked_at() -> None:
    """The buffers hold zeros there, which would fail."""
    x = pa.array(np.array([0, 5], np.int32), mask=np.array([True, False]))
    failures = Failures()
    columns: Columns = {"x": (INT, [])}
    assert compile_expression(TENTH, schema_of(columns))([x], 2, failures).to_pylist() == [None, 2]
    assert failures.count == 0


def test_an_unknown_expression_is_our_bug() -> None:
    with pytest.raises(InternalError, match="does not know Expression"):
        compile_expression(Expression(), Schema(()))
