"""The functions a query may call: names, signatures, typing. What they compute is elsewhere."""

from penstock.catalog.functions.casts import resolve_cast
from penstock.catalog.functions.kinds import Arity, Function
from penstock.catalog.functions.registry import (
    AGGREGATES,
    FUNCTIONS,
    THEMES,
    function_names,
    is_aggregate,
    is_scalar,
    resolve_aggregate,
    resolve_call,
)
from penstock.catalog.functions.widening import can_cast, coerce, common_type, common_type_of

__all__ = [
    "AGGREGATES",
    "FUNCTIONS",
    "THEMES",
    "Arity",
    "Function",
    "can_cast",
    "coerce",
    "common_type",
    "common_type_of",
    "function_names",
    "is_aggregate",
    "is_scalar",
    "resolve_aggregate",
    "resolve_call",
    "resolve_cast",
]
