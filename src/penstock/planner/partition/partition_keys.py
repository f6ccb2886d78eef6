"""Expressions as partition keys: what determines what, and what a condition makes equal.

All functions of the language are deterministic and see canonical values (NaN one value, -0.0 as
0.0), so rows that agree on some expressions agree on everything computed from them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.algebra.expressions import (
    Call,
    Case,
    Cast,
    Column,
    Expression,
    Literal,
    columns_of,
)
from penstock.errors import InternalError
from penstock.planner.partition import partition_reasons as reasons

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from penstock.algebra.types import Schema

Classes = tuple[tuple[Expression, ...], ...]
"""Expressions that have the same value in every row that matters, class by class."""


@dataclass(frozen=True)
class Need:
    """The place that the rows of a plan need: together if they agree on `keys`.

    The lane of a row must be a function of the keys; if `exact`, the hash of the one key there is.
    """

    keys: tuple[Expression, ...]
    why: str
    exact: bool = False


def determined(expression: Expression, by: Collection[Expression]) -> bool:
    """An expression that rows agree on whenever they agree on some others."""
    if expression in by or isinstance(expression, Literal):
        return True
    parts = expression.children
    return bool(parts) and all(determined(part, by) for part in parts)


def over(expression: Expression, schema: Schema) -> bool:
    """An expression that reads columns, and only of this schema."""
    read = columns_of(expression)
    return bool(read) and read <= set(schema.names)


def columns(schema: Schema) -> tuple[Column, ...]:
    """All columns of a schema, as expressions."""
    return tuple(Column(field.name, field.type) for field in schema)


def substituted(expression: Expression, by: Mapping[str, Expression]) -> Expression:
    """The expression with another one in the place of each column."""
    match expression:
        case Column(name):
            return by[name]
        case Literal():
            return expression
        case Cast(arg):
            return replace(expression, arg=substituted(arg, by))
        case Call(_, args):
            return _simplified(replace(expression, args=tuple(substituted(x, by) for x in args)))
        case Case(branches, default):
            changed = tuple((substituted(x, by), substituted(y, by)) for x, y in branches)
            return Case(changed, substituted(default, by))
    msg = f"the planner does not know {type(expression).__name__}"
    raise InternalError(msg)


def _simplified(call: Call) -> Expression:
    """COALESCE without its NULLs: the column of USING, where an outer join has padded a side."""
    if call.function != "coalesce":
        return call
    known = tuple(arg for arg in call.args if not (isinstance(arg, Literal) and arg.value is None))
    if len(known) == 1 and known[0].type == call.type:
        return known[0]
    return replace(call, args=known or call.args)


def renaming(above: Schema, below: Schema) -> dict[str, Expression]:
    """Each column above as the column at the same place below."""
    return dict(zip(above.names, columns(below), strict=True))


def classes_of(known: Classes, pairs: Iterable[tuple[Expression, ...]]) -> Classes:
    """The classes of equal expressions, given earlier classes and more equal pairs."""
    found: list[dict[Expression, None]] = []
    for group in (*known, *pairs):
        joined = dict.fromkeys(group)
        apart = []
        for one in found:
            if one.keys() & joined.keys():
                joined = one | joined
            else:
                apart.append(one)
        found = [*apart, joined]
    return tuple(tuple(one) for one in found)


def restricted(known: Classes, schema: Schema) -> Classes:
    """The part of the classes that is about the columns of a schema."""
    inside = (tuple(one for one in group if over(one, schema)) for group in known)
    return tuple(group for group in inside if len(group) > 1)


def same_as(expression: Expression, known: Classes) -> tuple[Expression, ...]:
    """The expression and all that equal it; COALESCE of equal values is each of them."""
    if isinstance(expression, Call) and expression.function == "coalesce":
        group = same_as(expression.args[0], known)
        if all(arg in group for arg in expression.args):
            return (expression, *group)
    group = next((group for group in known if expression in group), ())
    return tuple(dict.fromkeys((expression, *group)))


def satisfied(need: Need | None, key: Expression, known: Classes) -> bool:
    """Rows that lie by a key lie as they must."""
    if need is None:
        return True
    if need.exact:
        return key in same_as(need.keys[0], known)
    return any(determined(one, need.keys) for one in same_as(key, known))


def both(need: Need | None, keys: Sequence[Expression], why: str) -> Need:
    """The need of an operator that must have the rows of some keys together, and one above it.

    Raises:
        NoKey: No key serves the two.
    """
    if need is None:
        return Need(tuple(keys), why)
    if need.exact:
        if determined(need.keys[0], keys):
            return need
        raise reasons.apart(need.why, why)
    common = [key for key in need.keys if determined(key, keys)]
    common += [key for key in keys if determined(key, need.keys) and key not in common]
    if not common:
        raise reasons.apart(need.why, why)
    return replace(need, keys=tuple(common))


def within(need: Need | None, schema: Schema, known: Classes) -> Need | None:
    """A need put in terms of one side of a join, with the help of what the join makes equal.

    Raises:
        NoKey: The need is about the other side.
    """
    if need is None:
        return None
    keys = [one for key in need.keys for one in same_as(key, known)]
    if not need.exact:
        keys += [one for group in known for one in group if satisfied(need, one, known)]
    inside = tuple(one for one in dict.fromkeys(keys) if over(one, schema))
    if not inside:
        raise reasons.no_column(need.why)
    return replace(need, keys=inside[:1] if need.exact else inside)


def below(need: Need | None, meaning: Mapping[str, Expression]) -> Need | None:
    """A need put in terms of an operator's input, given what its columns are computed from.

    Raises:
        NoKey: Its keys are constants there, or not computed from the input row by row.
    """
    if need is None:
        return None
    known = [key for key in need.keys if columns_of(key) <= meaning.keys()]
    found = [substituted(key, meaning) for key in known]
    keys = tuple(key for key in dict.fromkeys(found) if columns_of(key))
    if not keys:
        raise reasons.no_column(need.why)
    return replace(need, keys=keys)
