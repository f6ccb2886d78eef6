"""Logical plans as text: how a query travels that was built in Python, and is kept."""

from __future__ import annotations

import json
from dataclasses import is_dataclass
from enum import Enum
from typing import TYPE_CHECKING

from penstock.algebra import expressions, operators, plan, streams, time, types, windows
from penstock.errors import DataError
from penstock.planner.physical.codec import Codec

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan

_MODULES = (expressions, operators, plan, streams, time, types, windows)
"""What logical plans are made of."""


def _classes() -> list[type]:
    found = [one for module in _MODULES for one in vars(module).values() if isinstance(one, type)]
    return [one for one in found if is_dataclass(one) or issubclass(one, Enum)]


CODEC = Codec(_classes())


def encoded_plan(plan: Plan) -> str:
    """A plan as text."""
    return json.dumps(CODEC.encoded(plan), separators=(",", ":"))


def decoded_plan(text: str) -> Plan:
    """The plan that was written down.

    Raises:
        DataError: It is none.
    """
    try:
        found = CODEC.decoded(json.loads(text))
    except (ValueError, KeyError, TypeError) as fault:
        msg = f"the text behind PLAN is no plan: {fault}"
        raise DataError(msg, hint="db.query(...) writes it, for queries built in Python.") from None
    if not isinstance(found, plan.Plan):
        msg = "the text behind PLAN is no plan"
        raise DataError(msg, hint="db.query(...) writes it, for queries built in Python.")
    return found
