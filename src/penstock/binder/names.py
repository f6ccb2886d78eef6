"""Names of result columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from penstock.algebra.plan import Named

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression


def output_name(item: exp.Expr, position: int) -> str:
    """The alias, else the column's name, else the function's, else `column3`."""
    if isinstance(item, exp.Alias):
        return item.alias
    while isinstance(item, exp.Paren | exp.Cast | exp.Filter):
        item = item.this
    if isinstance(item, exp.Column):
        return item.name
    if isinstance(item, exp.Anonymous):
        return item.name.lower()
    return f"column{position}"


def unique_names(columns: list[tuple[str, Expression]]) -> tuple[Named, ...]:
    """The columns under names of their own: a repeated name gets _2, _3, ..."""
    taken: set[str] = set()
    named = []
    for name, expression in columns:
        candidate, number = name, 1
        while candidate.lower() in taken:
            number += 1
            candidate = f"{name}_{number}"
        taken.add(candidate.lower())
        named.append(Named(candidate, expression))
    return tuple(named)
