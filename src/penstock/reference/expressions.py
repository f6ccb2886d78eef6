"""The value of an expression for a row, straight from the definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.expressions import Call, Case, Cast, Column, Expression, Literal, Value
from penstock.algebra.values import canonical
from penstock.errors import InternalError
from penstock.reference.casts import cast
from penstock.reference.failure import Failure, fit
from penstock.reference.functions import NON_STRICT, STRICT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.algebra.failures import Failures
    from penstock.algebra.types import Type


def evaluate(expression: Expression, row: Mapping[str, Value], failures: Failures) -> Value:
    """The value of the expression; a part that fails is NULL, and counted.

    CASE, IF and COALESCE compute only what they need, so that what they leave out cannot fail.
    """
    match expression:
        case Literal(value):
            return canonical(value)
        case Column(name):
            return canonical(row[name])
        case Case():
            return _case(expression, row, failures)
        case Cast(arg, to):
            return _cast(arg, to, row, failures)
        case Call("coalesce", args):
            return _coalesce(args, row, failures)
        case Call("if", (condition, then, otherwise)):
            chosen = then if evaluate(condition, row, failures) is True else otherwise
            return evaluate(chosen, row, failures)
        case Call():
            return _call(expression, row, failures)
    msg = f"the reference evaluator does not know {type(expression).__name__}"
    raise InternalError(msg)


def _case(case: Case, row: Mapping[str, Value], failures: Failures) -> Value:
    for condition, result in case.branches:
        if evaluate(condition, row, failures) is True:
            return evaluate(result, row, failures)
    return evaluate(case.default, row, failures)


def _coalesce(args: tuple[Expression, ...], row: Mapping[str, Value], failures: Failures) -> Value:
    for arg in args:
        value = evaluate(arg, row, failures)
        if value is not None:
            return value
    return None


def _cast(arg: Expression, to: Type, row: Mapping[str, Value], failures: Failures) -> Value:
    value = evaluate(arg, row, failures)
    try:
        return cast(value, arg.type, to)
    except Failure:
        failures.add("cast")
        return None


def _call(call: Call, row: Mapping[str, Value], failures: Failures) -> Value:
    values = [evaluate(arg, row, failures) for arg in call.args]
    strict = STRICT.get(call.function)
    if strict is not None and None in values:
        return None
    try:
        return fit((strict or NON_STRICT[call.function])(*values), call.type)
    except Failure:
        failures.add(call.function)
        return None
