"""Typed, immutable expressions over the columns of a plan.

The binder builds them with every type resolved and every implicit cast written out, so that no
evaluator has to guess. What a function computes is said once per engine; the oracle's
definitions are in `penstock.reference.functions`.

Values: BOOLEAN bool, INT and BIGINT int, DOUBLE float, DECIMAL decimal.Decimal, STRING str,
DATE int (days since 1970-01-01), TIMESTAMP int (microseconds since the epoch, UTC), NULL None.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from penstock.algebra.types import BOOLEAN, NULL, Type

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Value = bool | int | float | Decimal | str | None
"""One value of a row, as the oracle holds it."""


@dataclass(frozen=True, slots=True)
class Expression:
    """Anything that has a value for a row."""

    @property
    def type(self) -> Type:
        """The type of the value."""
        raise NotImplementedError

    @property
    def children(self) -> tuple[Expression, ...]:
        """The expressions this one is computed from."""
        return ()


@dataclass(frozen=True, slots=True)
class Column(Expression):
    """A column of the plan below, by its unique name."""

    name: str
    of: Type

    @property
    def type(self) -> Type:
        """The column's type."""
        return self.of

    def __str__(self) -> str:
        """The name."""
        return self.name


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    """A constant."""

    value: Value
    of: Type

    @property
    def type(self) -> Type:
        """The constant's type."""
        return self.of

    def __str__(self) -> str:
        """As SQL."""
        from penstock.algebra.values import format_value

        text = format_value(self.value, self.of)
        if self.value is None or self.of.is_numeric or self.of == BOOLEAN:
            return text
        quoted = "'" + text.replace("'", "''") + "'"
        return quoted if self.of.name == "STRING" else f"{self.of.name} {quoted}"


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A function or operator of the registry applied to arguments, with its result type."""

    function: str
    args: tuple[Expression, ...]
    of: Type

    @property
    def type(self) -> Type:
        """The result type the registry gave."""
        return self.of

    @property
    def children(self) -> tuple[Expression, ...]:
        """The arguments."""
        return self.args

    def __str__(self) -> str:
        """Operators infix, functions as calls."""
        return _call_text(self)


@dataclass(frozen=True, slots=True)
class Cast(Expression):
    """A value brought to another type; NULL where it does not fit."""

    arg: Expression
    to: Type

    @property
    def type(self) -> Type:
        """The target type."""
        return self.to

    @property
    def children(self) -> tuple[Expression, ...]:
        """The value."""
        return (self.arg,)

    def __str__(self) -> str:
        """As SQL."""
        return f"CAST({self.arg} AS {self.to})"


@dataclass(frozen=True, slots=True)
class Case(Expression):
    """The value behind the first condition that is TRUE, else the default."""

    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression

    @property
    def type(self) -> Type:
        """The common type of all results."""
        return self.default.type

    @property
    def children(self) -> tuple[Expression, ...]:
        """Conditions and results in order, the default last."""
        return (*(part for branch in self.branches for part in branch), self.default)

    def __str__(self) -> str:
        """As SQL."""
        whens = " ".join(f"WHEN {condition} THEN {result}" for condition, result in self.branches)
        return f"CASE {whens} ELSE {self.default} END"


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate over the rows of a group. COUNT(*) has no arguments."""

    function: str
    args: tuple[Expression, ...]
    distinct: bool
    of: Type

    def __str__(self) -> str:
        """As SQL."""
        args = ", ".join(map(str, self.args)) or "*"
        return f"{self.function.upper()}({'DISTINCT ' if self.distinct else ''}{args})"


TRUE = Literal(True, BOOLEAN)
NULL_LITERAL = Literal(None, NULL)


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and everything below it."""
    yield expression
    for child in expression.children:
        yield from walk(child)


def depth_of(expression: Expression) -> int:
    """The number of expressions that stand inside each other, at the deepest place."""
    deepest = 0
    waiting = [(expression, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting += [(child, depth + 1) for child in node.children]
    return deepest


def columns_of(expression: Expression) -> frozenset[str]:
    """The names of all columns an expression reads."""
    return frozenset(node.name for node in walk(expression) if isinstance(node, Column))


def substituted(expression: Expression, by: Mapping[str, Expression]) -> Expression:
    """The expression with another one in the place of each column."""
    match expression:
        case Column(name):
            return by[name]
        case Cast(arg, to):
            return Cast(substituted(arg, by), to)
        case Call(function, args, of):
            return Call(function, tuple(substituted(arg, by) for arg in args), of)
        case Case(branches, default):
            changed = tuple((substituted(x, by), substituted(y, by)) for x, y in branches)
            return Case(changed, substituted(default, by))
    return expression


def conjunction(conditions: list[Expression]) -> Expression:
    """All conditions joined by AND, halved again and again; TRUE when there are none."""
    if len(conditions) <= 1:
        return conditions[0] if conditions else TRUE
    middle = len(conditions) // 2
    halves = conjunction(conditions[:middle]), conjunction(conditions[middle:])
    return Call("and", halves, BOOLEAN)


INFIX = {
    "and": "AND", "or": "OR", "=": "=", "<>": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
    "+": "+", "-": "-", "*": "*", "/": "/", "div": "DIV", "%": "%", "like": "LIKE",
    "is distinct from": "IS DISTINCT FROM", "is not distinct from": "IS NOT DISTINCT FROM",
    "||": "||", "&": "&", "|": "|", "^": "^",
}  # fmt: skip
"""Functions printed between their two arguments; the rest print as calls."""

POSTFIX = {
    "is null": "IS NULL", "is not null": "IS NOT NULL", "is true": "IS TRUE",
    "is false": "IS FALSE", "is not true": "IS NOT TRUE", "is not false": "IS NOT FALSE",
}  # fmt: skip
"""Functions printed behind their argument."""

PREFIX = {"not": "NOT ", "negate": "-", "~": "~"}
"""Functions printed in front of their argument."""


def _call_text(call: Call) -> str:
    function = call.function
    if function in INFIX and len(call.args) == 2:
        left, right = (_operand_text(arg, call) for arg in call.args)
        return f"{left} {INFIX[function]} {right}"
    if function in POSTFIX:
        return f"{_operand_text(call.args[0], call)} {POSTFIX[function]}"
    if function in PREFIX:
        return f"{PREFIX[function]}{_operand_text(call.args[0], call)}"
    if function == "in":
        members = ", ".join(map(str, call.args[1:]))
        return f"{_operand_text(call.args[0], call)} IN ({members})"
    return f"{function.upper()}({', '.join(map(str, call.args))})"


def _operand_text(arg: Expression, call: Call) -> str:
    """Parentheses around nested operators, except AND under AND and OR under OR."""
    is_operator = isinstance(arg, Call) and (
        arg.function in INFIX or arg.function in POSTFIX or arg.function in ("not", "in")
    )
    same = isinstance(arg, Call) and arg.function == call.function in ("and", "or")
    return f"({arg})" if is_operator and not same else str(arg)
