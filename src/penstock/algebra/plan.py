"""The base of the logical algebra: immutable operators with schemas, and walks over them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from penstock.algebra.expressions import AggregateCall, Expression, columns_of
from penstock.algebra.types import Field, Schema
from penstock.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.algebra.time import TimeUnit


@dataclass(frozen=True)
class Plan:
    """A logical operator with its inputs; a whole plan is the operator at its root."""

    @property
    def children(self) -> tuple[Plan, ...]:
        """The inputs, in order."""
        return ()

    @cached_property
    def schema(self) -> Schema:
        """The columns of the result."""
        raise NotImplementedError

    @cached_property
    def unit(self) -> TimeUnit | None:
        """The time unit of the inputs; None if relations are the only inputs."""
        return next((child.unit for child in self.children if child.unit is not None), None)

    def rebuild(self, children: tuple[Plan, ...]) -> Plan:
        """The same operator over other inputs."""
        del children
        return self

    def label(self) -> str:
        """One line that says what the operator does, for people."""
        return type(self).__name__

    def _require(self, expression: Expression, available: Schema) -> None:
        missing = columns_of(expression) - set(available.names)
        if missing:
            msg = f"{type(self).__name__} reads {', '.join(sorted(missing))}, not in {available}"
            raise InternalError(msg)


@dataclass(frozen=True)
class Unary(Plan):
    """An operator with one input; its schema is the input's unless it says otherwise."""

    child: Plan

    @property
    def children(self) -> tuple[Plan, ...]:
        """The one input."""
        return (self.child,)

    @cached_property
    def schema(self) -> Schema:
        """The input's columns."""
        return self.child.schema

    def rebuild(self, children: tuple[Plan, ...]) -> Plan:
        """The same operator over another input."""
        return dataclasses.replace(self, child=children[0])


@dataclass(frozen=True)
class Binary(Plan):
    """An operator with two inputs."""

    left: Plan
    right: Plan

    @property
    def children(self) -> tuple[Plan, ...]:
        """Left and right."""
        return (self.left, self.right)

    def rebuild(self, children: tuple[Plan, ...]) -> Plan:
        """The same operator over other inputs."""
        return dataclasses.replace(self, left=children[0], right=children[1])


@dataclass(frozen=True, slots=True)
class Named:
    """An expression and the name of the column it makes."""

    name: str
    expression: Expression

    @property
    def field(self) -> Field:
        """The column."""
        return Field(self.name, self.expression.type)

    def __str__(self) -> str:
        """The expression, with its name where that differs."""
        text = str(self.expression)
        return text if text == self.name else f"{self.name} = {text}"


def walk(plan: Plan) -> Iterator[Plan]:
    """The plan and everything below it, parents first; a shared subplan comes each time."""
    yield plan
    for child in plan.children:
        yield from walk(child)


def different_nodes(plan: Plan) -> list[Plan]:
    """The operators of a plan, inputs before what reads them; a shared subplan comes once."""
    found: dict[int, Plan] = {}
    waiting = [(plan, False)]
    while waiting:
        node, is_ready = waiting.pop()
        if is_ready:
            found.setdefault(id(node), node)
        elif id(node) not in found:
            waiting += [(node, True), *((child, False) for child in reversed(node.children))]
    return list(found.values())


def depth_of(plan: Plan) -> int:
    """The number of operators that stand on top of each other, at the deepest place."""
    depths: dict[int, int] = {}
    for node in different_nodes(plan):
        depths[id(node)] = 1 + max((depths[id(child)] for child in node.children), default=0)
    return depths[id(plan)]


def expressions_of(plan: Plan) -> Iterator[Expression]:
    """The expressions that the operator at the root of a plan computes."""
    for field in dataclasses.fields(plan):
        yield from _expressions_in(getattr(plan, field.name))


def _expressions_in(value: object) -> Iterator[Expression]:
    """The expressions in a field: on their own, named, as sort keys, as arguments, in tuples."""
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _expressions_in(part)
    elif isinstance(value, AggregateCall):
        yield from value.args
    elif hasattr(value, "expression"):
        yield from _expressions_in(value.expression)


def require_same_types(operator: str, inputs: tuple[Plan, ...]) -> None:
    """Refuse set operations over inputs whose columns do not line up."""
    if len({plan.schema.types for plan in inputs}) != 1:
        schemas = " and ".join(str(plan.schema) for plan in inputs)
        msg = f"{operator} over different columns: {schemas}"
        raise InternalError(msg)
