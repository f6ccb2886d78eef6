"""All cases of the contract, and the operators that must have one."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

import penstock.operators
from operators.contract import (
    aggregate_cases,
    join_cases,
    output_cases,
    set_cases,
    window_cases,
)
from operators.contract.inputs import Draws, Size
from penstock.operators.join.matching import Matching
from penstock.operators.operator import Operator
from penstock.operators.set.set_counts import CountingOperator

if TYPE_CHECKING:
    from operators.contract.trial import Case, Trial

CASES = [
    *window_cases.CASES,
    *set_cases.CASES,
    *join_cases.CASES,
    *aggregate_cases.CASES,
    *output_cases.CASES,
]
BASES: set[type[Operator]] = {CountingOperator, Matching}
"""Classes that others are made of, and that no plan runs."""


def kinds() -> set[type[Operator]]:
    """All classes of operators that plans run."""
    for module in pkgutil.walk_packages(penstock.operators.__path__, "penstock.operators."):
        importlib.import_module(module.name)
    found: set[type[Operator]] = set()
    left: list[type[Operator]] = [Operator]
    while left:
        made = left.pop().__subclasses__()
        left += made
        found.update(one for one in made if one.__module__.startswith("penstock.operators."))
    return {one for one in found - BASES if not one.__name__.startswith("_")}


def drawn(case: Case, seed: int, size: Size) -> tuple[Draws, Trial]:
    """A trial of a case: the same for a seed, whatever classes and cases are called."""
    random = Draws(f"trial {seed}", size)
    return random, case.draw(random)
