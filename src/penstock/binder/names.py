"""Names of result columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from penstock.algebra.expressions import Column
from penstock.algebra.operators import Final, Map
from penstock.algebra.plan import Named
from penstock.cql.syntax import span_of
from penstock.errors import QueryError, count

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan
    from penstock.errors import Span


def output_name(item: exp.Expr, position: int) -> str:
    """The alias, else the column's name, else the function's, else `column3`."""
    if isinstance(item, exp.Alias):
        return without_dot(item.alias, span_of(item))
    while isinstance(item, exp.Paren | exp.Cast | exp.Filter):
        item = item.this
    if isinstance(item, exp.Column):
        return item.name
    if isinstance(item, exp.Anonymous):
        return item.name.lower()
    return f"column{position}"


def without_dot(name: str, at: Span | None) -> str:
    """The name of a column, unless it could be taken for that of a column of something else.

    Raises:
        QueryError: There is a dot in it.
    """
    if "." in name:
        msg = f'column name "{name}" has a dot in it'
        raise QueryError(msg, hint="A dot stands between a stream and its column.", at=at)
    return name


def renamed(plan: Plan, names: list[str], at: Span | None) -> Plan:
    """The plan's columns under other names: `CREATE VIEW v (a, b)`, `FROM s AS t (a, b)`.

    Raises:
        QueryError: Too many names or too few, a name twice, or a name with a dot.
    """
    if len(names) != len(plan.schema):
        msg = f"{count(len(names), 'name')} for {count(len(plan.schema), 'column')}"
        raise QueryError(msg, at=at)
    for number, name in enumerate(names):
        without_dot(name, at)
        if name.lower() in map(str.lower, names[:number]):
            msg = f'two columns are called "{name}"'
            raise QueryError(msg, at=at)
    columns = zip(names, plan.schema, strict=True)
    mapped = tuple(Named(name, Column(f.name, f.type)) for name, f in columns)
    # EMIT FINAL stays on top.
    return Final(Map(plan.child, mapped)) if isinstance(plan, Final) else Map(plan, mapped)


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
