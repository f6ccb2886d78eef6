"""Kernels, and how a failing part is told from NULL where Python computes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.algebra.expressions import Call, Expression, Literal, Value
from penstock.algebra.failures import Failures
from penstock.compute.datum import Datum

Kernel = Callable[[Sequence[Datum], Failures], Datum]
"""Computes a call for a block. At least one argument is an array, none a scalar NULL if strict."""

Maker = Callable[[Call], Kernel]
"""Chooses the kernel of a call by its types and constant arguments."""


class Failed(Exception):
    """This row fails: its result is NULL and counted."""


def constant(expression: Expression) -> Value:
    """The value of a literal; None for NULL and for what is no literal."""
    return expression.value if isinstance(expression, Literal) else None


def constants(call: Call, start: int = 1) -> tuple[Value, ...] | None:
    """The values of the arguments from a place on, if all are literals that are not NULL."""
    found = tuple(map(constant, call.args[start:]))
    return None if None in found else found
