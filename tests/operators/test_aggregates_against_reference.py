"""Every aggregate over every type and pattern against the judge, on generated event streams."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from operators.accumulating import Element, Run, call_of, emptied, run_elements
from penstock.algebra.patterns import Pattern
from penstock.algebra.time import INFINITY
from penstock.algebra.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    Type,
    decimal,
)
from penstock.catalog.functions.widening import scaled_decimal

if TYPE_CHECKING:
    from penstock.algebra.expressions import AggregateCall

PHASES = (Phase.explicit, Phase.generate, Phase.shrink)
SMALL, WIDE, NARROW = decimal(10, 2), decimal(38, 6), decimal(38, 38)
NUMBERS = (INT, BIGINT, DOUBLE, SMALL, decimal(18, 0), WIDE, NARROW, decimal(38, 0))
COMPARABLE = (*NUMBERS, STRING, DATE, TIMESTAMP, BOOLEAN)


def values(type_: Type) -> st.SearchStrategy[Any]:
    if type_.is_decimal:
        most = 10**type_.precision - 1
        whole = st.integers(-5, 5) | st.integers(-most, most) | st.sampled_from([most, -most])
        return whole.map(lambda n: scaled_decimal(n, type_.scale))
    return {
        INT: st.integers(-5, 5) | st.sampled_from([2**31 - 1, -(2**31)]),
        BIGINT: st.integers(-5, 5) | st.sampled_from([2**63 - 1, -(2**63), 2**62 + 1]),
        TIMESTAMP: st.integers(-5, 5) | st.sampled_from([2**63 - 1, -(2**63)]),
        DATE: st.integers(-5, 5) | st.sampled_from([2**31 - 1, -(2**31)]),
        DOUBLE: st.sampled_from([0.0, -0.0, 1.5, -1.5, 0.1, 1e16, -1e16])
        | st.floats()
        | st.floats(-1e6, 1e6),
        STRING: st.sampled_from(["", "a", "ab", "é", "z" * 300, "\U0001f600", "\0"]) | st.text(),
        BOOLEAN: st.booleans(),
    }[type_]


CALLS = [
    call_of("count"),
    call_of("count", INT, STRING, distinct=True),
    call_of("count", DOUBLE, WIDE, BOOLEAN, distinct=True),
    *(call_of("count", type_) for type_ in (INT, STRING)),
    *(call_of("count", type_, distinct=True) for type_ in COMPARABLE),
    *(
        call_of(function, type_, distinct=distinct)
        for function in ("sum", "avg")
        for type_ in NUMBERS
        for distinct in (False, True)
    ),
    *(
        call_of(function, DOUBLE, distinct=distinct)
        for function in ("var_samp", "var_pop", "stddev_samp", "stddev_pop")
        for distinct in (False, True)
    ),
    *(call_of("median", type_, distinct=d) for type_ in NUMBERS for d in (False, True)),
    *(call_of("quantile", type_, at=p) for type_ in NUMBERS for p in (0.25, 0.1)),
    *(call_of("quantile", INT, at=p, distinct=True) for p in (0.0, 1.0, 1 / 3, 1e-20)),
    *(
        call_of(function, BOOLEAN, distinct=distinct)
        for function in ("count_if", "bool_and", "bool_or")
        for distinct in (False, True)
    ),
]
EXTREMES = [
    call_of(function, type_, distinct=distinct)
    for function in ("min", "max")
    for type_ in (INT, BIGINT, DOUBLE, SMALL, WIDE, STRING, DATE, TIMESTAMP, BOOLEAN)
    for distinct in {False, type_ == INT}
]


@st.composite
def streams(draw: st.DrawFn, call: AggregateCall, pattern: Pattern) -> list[Element]:
    """Elements of a few groups whose intervals behave as the pattern says."""
    types = [arg.type for arg in call.args if arg.children or hasattr(arg, "name")]
    row = st.tuples(*(st.none() | values(type_) | values(type_) for type_ in types))
    elements = []
    length = draw(st.integers(1, 8))
    pool = draw(st.lists(row, min_size=1, max_size=6))
    for _ in range(draw(st.integers(0, 25))):
        start = draw(st.integers(0, 30))
        end = {
            Pattern.MON: INFINITY,
            Pattern.WKS: start + length,
            Pattern.WK: start + draw(st.integers(1, 12)),
            Pattern.STR: draw(st.sampled_from([INFINITY, start + 5, start + 9])),
        }[pattern]
        leaves = end
        if pattern is Pattern.STR:
            leaves = min(end, start + draw(st.integers(0, 12)))
        args = draw(st.sampled_from(pool) | row)
        args = (*args, *(arg.value for arg in call.args[len(types) :]))  # type: ignore[attr-defined]
        elements.append(Element(draw(st.integers(0, 3)), args, start, leaves, end))
    return elements


def check(call: AggregateCall, pattern: Pattern, data: st.DataObject) -> None:
    elements = data.draw(streams(call, pattern))
    cuts = sorted(data.draw(st.sets(st.integers(0, 45), max_size=5)))
    saves = data.draw(st.sets(st.integers(0, len(cuts))))
    run = Run(call, pattern, Random(data.draw(st.integers(0, 3))))
    run_elements(run, elements, cuts, saves, ahead=data.draw(st.booleans()))
    if pattern is not Pattern.MON:
        emptied(run.accumulator)


@pytest.mark.parametrize("call", CALLS, ids=str)
@settings(max_examples=20, deadline=None, phases=PHASES)
@given(data=st.data())
def test_aggregates(call: AggregateCall, data: st.DataObject) -> None:
    check(call, data.draw(st.sampled_from(list(Pattern))), data)


@pytest.mark.parametrize("pattern", list(Pattern))
@pytest.mark.parametrize("call", EXTREMES, ids=str)
@settings(max_examples=12, deadline=None, phases=PHASES)
@given(data=st.data())
def test_least_and_greatest(call: AggregateCall, pattern: Pattern, data: st.DataObject) -> None:
    check(call, pattern, data)
