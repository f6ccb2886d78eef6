"""CAST as a user writes it."""

from __future__ import annotations

from penstock.algebra.expressions import Cast, Expression
from penstock.algebra.types import DATE, NULL, Type
from penstock.catalog.functions.kinds import a
from penstock.catalog.functions.widening import can_cast, coerce
from penstock.errors import TypeMismatch


def resolve_cast(expression: Expression, to: Type) -> Expression:
    """CAST(expression AS to); a value that does not fit becomes NULL when it is computed."""
    if not can_cast(expression.type, to):
        msg = f"cannot cast {a(expression.type)} to {a(to)}"
        raise TypeMismatch(msg, hint=_hint(expression, to))
    if expression.type in (to, NULL):
        return coerce(expression, to)
    return Cast(expression, to)


def _hint(expression: Expression, to: Type) -> str | None:
    if expression.type == DATE and to.is_numeric:
        return f"Write DATEDIFF({expression}, DATE '1970-01-01') for the number of its day."
    if to == DATE and expression.type.is_integer:
        return f"Write DATE_ADD(DATE '1970-01-01', {expression})."
    return None
