"""Expressions compiled for a schema, then computed block by block.

The meaning is the reference evaluator's, value by value and failure by failure. Compiling
resolves names, computes constant parts and chooses kernels; a call then only computes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra.expressions import Call, Case, Cast, Column, Expression, Literal, walk
from penstock.algebra.failures import Failures
from penstock.algebra.types import Schema, Type
from penstock.compute.branches import CompiledPart, cases, coalesced
from penstock.compute.casts import cast_kernel, cast_never_fails
from penstock.compute.datum import Datum, Truths, broadcast, scalar_of, truths
from penstock.compute.input_columns import InputColumns, Node
from penstock.compute.python_functions import plain
from penstock.compute.table import NEVER_FAILS, NON_STRICT, STRICT
from penstock.errors import InternalError

if TYPE_CHECKING:
    from penstock.compute.kernels import Kernel

Evaluator = Callable[[Sequence[pa.Array], int, Failures], pa.Array]
"""From the arrays of the schema's columns, and their length, to the expression's values."""


def compile_expression(expression: Expression, schema: Schema) -> Evaluator:
    """The evaluator of an expression over blocks of a schema.

    It takes the columns by position, each one array of `to_arrow` of its type, and gives one
    array of `to_arrow(expression.type)`; what fails is NULL and counted.
    """
    node = _compiled(folded(expression), schema)

    def evaluator(columns: Sequence[pa.Array], length: int, failures: Failures) -> pa.Array:
        return broadcast(node(InputColumns(columns, length), failures), length)

    return evaluator


def holds(
    predicate: Evaluator, columns: Sequence[pa.Array], length: int, failures: Failures
) -> Truths:
    """The rows for which a predicate is TRUE; NULL is not."""
    return truths(predicate(columns, length, failures))


def _compiled(expression: Expression, schema: Schema) -> Node:
    match expression:
        case Literal(value, of):
            scalar = scalar_of(value, of)
            return lambda rows, failures: scalar
        case Column(name):
            place = schema.names.index(name)
            return lambda rows, failures: rows.column(place)
        case Case(branches, default):
            return _cases(branches, default, schema)
        case Call("if", (condition, then, otherwise)):
            return _cases(((condition, then),), otherwise, schema)
        case Call("coalesce", args):
            return coalesced([_part(arg, schema) for arg in args])
        case Cast(arg, to):
            return _strict(cast_kernel(arg.type, to), [_compiled(arg, schema)], to)
        case Call(function, args):
            nodes = [_compiled(arg, schema) for arg in args]
            if function in STRICT:
                return _strict(STRICT[function](expression), nodes, expression.type)
            return _applied(NON_STRICT[function](expression), nodes)
    msg = f"the block evaluator does not know {type(expression).__name__}"
    raise InternalError(msg)


def _applied(kernel: Kernel, nodes: Sequence[Node]) -> Node:
    def node(rows: InputColumns, failures: Failures) -> Datum:
        return kernel(_args(nodes, rows, failures), failures)

    return node


def _strict(kernel: Kernel, nodes: Sequence[Node], to: Type) -> Node:
    """NULL where an argument is NULL, and for all rows where a constant is."""
    null = scalar_of(None, to)

    def node(rows: InputColumns, failures: Failures) -> Datum:
        args = _args(nodes, rows, failures)
        if any(map(_is_null, args)):
            return null
        return kernel(args, failures)

    return node


def _is_null(arg: Datum) -> bool:
    """A column of which all values are NULL."""
    if isinstance(arg, pa.Scalar):
        return not arg.is_valid
    return bool(arg.null_count == len(arg))


def _args(nodes: Sequence[Node], rows: InputColumns, failures: Failures) -> list[Datum]:
    """The arguments, at least one of them an array if there are any."""
    args = [node(rows, failures) for node in nodes]
    if all(isinstance(arg, pa.Scalar) for arg in args):
        return [pa.repeat(arg, rows.length) for arg in args]
    return args


# Branches


def _cases(
    branches: Sequence[tuple[Expression, Expression]], default: Expression, schema: Schema
) -> Node:
    parts = [(_part(when, schema), _part(then, schema)) for when, then in branches]
    return cases(parts, _part(default, schema))


def _part(expression: Expression, schema: Schema) -> CompiledPart:
    return CompiledPart(_compiled(expression, schema), can_fail(expression))


def can_fail(expression: Expression) -> bool:
    """An expression that, as a whole or in a part, may fail for some row."""
    return any(map(_fails_itself, walk(expression)))


def _fails_itself(expression: Expression) -> bool:
    match expression:
        case Cast(arg, to):
            return not cast_never_fails(arg.type, to)
        case Call(function):
            return function not in NEVER_FAILS
    return False


# Constants


def folded(expression: Expression) -> Expression:
    """The expression with every constant part that does not fail as the literal it is."""
    match expression:
        case Call(args=args):
            expression = replace(expression, args=tuple(map(folded, args)))
        case Cast(arg):
            expression = replace(expression, arg=folded(arg))
        case Case(branches, default):
            halves = tuple((folded(when), folded(then)) for when, then in branches)
            expression = Case(halves, folded(default))
    if not expression.children or not all(isinstance(x, Literal) for x in expression.children):
        return expression
    failures = Failures()
    value = broadcast(_compiled(expression, Schema(()))(InputColumns((), 1), failures), 1)
    # What fails has to fail, and be counted, for every row.
    return expression if failures.count else Literal(plain(value)[0], expression.type)
