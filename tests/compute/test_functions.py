"""Every function of the registry and every cast, computed for blocks as the oracle does by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compute.against_oracle import check
from compute.generate_calls import LENGTHS, calls
from compute.generate_values import TYPES, column_of
from penstock.algebra.expressions import Column
from penstock.catalog.functions import FUNCTIONS, can_cast, resolve_cast
from penstock.compute.table import BRANCHING, NEVER_FAILS, NON_STRICT, STRICT
from penstock.reference.functions import MEANING
from penstock.reference.functions import NON_STRICT as ORACLE_NON_STRICT

if TYPE_CHECKING:
    from penstock.algebra.types import Type

QUICK = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
PADDINGS = st.sampled_from([0, 0, 1, 3])
CASTS = [(source, to) for source in TYPES for to in TYPES if source != to and can_cast(source, to)]


def test_no_function_is_missing() -> None:
    assert {*STRICT, *NON_STRICT, *BRANCHING} == set(MEANING)
    assert {*NON_STRICT, *BRANCHING} == set(ORACLE_NON_STRICT)
    assert set(MEANING) >= NEVER_FAILS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_is_the_oracles(name: str) -> None:
    @QUICK
    @given(calls(name), PADDINGS)
    def compare(call, padding) -> None:  # type: ignore[no-untyped-def]  # as `calls` draws them
        check(*call, padding=padding)

    compare()


@pytest.mark.parametrize(("source", "to"), CASTS, ids=str)
def test_cast_is_the_oracles(source: Type, to: Type) -> None:
    @QUICK
    @given(LENGTHS.flatmap(lambda length: column_of(source, length)), PADDINGS)
    def compare(values, padding) -> None:  # type: ignore[no-untyped-def]  # as `column_of` draws
        cast = resolve_cast(Column("c", source), to)
        check(cast, {"c": (source, values)}, len(values), padding=padding)

    compare()
