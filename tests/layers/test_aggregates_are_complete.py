"""Every aggregate of the language has its facts, a meaning and an accumulator."""

from __future__ import annotations

import pytest

from penstock.algebra.aggregates import AGGREGATE_FACTS, facts_of
from penstock.catalog.functions.aggregate_types import AGGREGATES
from penstock.errors import InternalError
from penstock.operators.aggregate.accumulators.choice import ACCUMULATORS
from penstock.reference.aggregate_values import MEANING

NAMES = {one.name for one in AGGREGATES}


@pytest.mark.parametrize("known", [AGGREGATE_FACTS, ACCUMULATORS, MEANING])
def test_all_aggregates_are_known_everywhere(known: dict[str, object]) -> None:
    assert set(known) == NAMES


def test_what_puts_partial_forms_together_is_an_aggregate() -> None:
    totals = {one.total for one in AGGREGATE_FACTS.values() if one.partials is not None}
    assert totals <= NAMES


def test_an_unknown_aggregate_is_an_error_and_not_some_other_one() -> None:
    with pytest.raises(InternalError, match="nothing is known of the aggregate 'mode'"):
        facts_of("mode")
