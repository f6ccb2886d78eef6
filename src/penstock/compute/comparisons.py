"""Comparisons. NaN equals itself and is greater than every other number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.types import DOUBLE
from penstock.compute.datum import (
    Datum,
    Numbers,
    Truths,
    broadcast,
    made,
    numbers,
    scalar_of,
    valid_in_all,
)
from penstock.compute.kernels import constants

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.algebra.expressions import Call, Value
    from penstock.algebra.failures import Failures
    from penstock.algebra.types import Type
    from penstock.compute.kernels import Kernel, Maker


def _equal(a: Numbers, b: Numbers) -> Truths:
    found: Truths = (a == b) | ((a != a) & (b != b))
    return found


def _less(a: Numbers, b: Numbers) -> Truths:
    found: Truths = (a < b) | ((a == a) & (b != b))
    return found


_OF_DOUBLES: dict[str, Callable[[Numbers, Numbers], Truths]] = {
    "=": _equal,
    "<>": lambda a, b: ~_equal(a, b),
    "<": _less,
    "<=": lambda a, b: ~_less(b, a),
    ">": lambda a, b: _less(b, a),
    ">=": lambda a, b: ~_less(a, b),
}

_OF_OTHERS = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def comparison(name: str, type_: Type) -> Callable[[Datum, Datum], pa.Array]:
    """The comparison of two data of a type; NULL where one is NULL."""
    if type_ != DOUBLE:
        compare: Callable[[Datum, Datum], pa.Array] = _OF_OTHERS[name]
        return compare
    define = _OF_DOUBLES[name]

    def of_doubles(left: Datum, right: Datum) -> pa.Array:
        valid = valid_in_all((left, right))
        return made(pa.bool_(), define(numbers(left), numbers(right)), valid)

    return of_doubles


def _compared(call: Call) -> Kernel:
    compare = comparison(call.function, call.args[0].type)
    return lambda args, _: compare(*args)


def _not_distinct(call: Call) -> Callable[[Sequence[Datum]], pa.Array]:
    """Equal, where NULL equals NULL."""
    equal = comparison("=", call.args[0].type)

    def kernel(args: Sequence[Datum]) -> pa.Array:
        for one, other in (args, reversed(args)):
            if isinstance(one, pa.Scalar) and not one.is_valid:
                return pc.is_null(other)
        both_null = pc.and_(*(pc.is_null(arg) for arg in args))
        return pc.or_(pc.fill_null(equal(*args), False), both_null)

    return kernel


def _is_not_distinct(call: Call) -> Kernel:
    same = _not_distinct(call)
    return lambda args, _: same(args)


def _is_distinct(call: Call) -> Kernel:
    same = _not_distinct(call)
    return lambda args, _: pc.invert(same(args))


def _in(call: Call) -> Kernel:
    """TRUE if one option equals the value, else NULL if one comparison is NULL."""
    known = constants(call)
    if known is not None:
        return _in_constants(pa.concat_arrays([_array(one, call.args[0].type) for one in known]))
    equal = comparison("=", call.args[0].type)

    def kernel(args: Sequence[Datum], _: Failures) -> Datum:
        length = next(len(arg) for arg in args if isinstance(arg, pa.Array))
        value = broadcast(args[0], length)
        found = pa.scalar(False)
        for option in args[1:]:
            found = pc.or_kleene(found, equal(value, broadcast(option, length)))
        return found

    return kernel


def _array(value: Value, type_: Type) -> pa.Array:
    return pa.repeat(scalar_of(value, type_), 1)


def _in_constants(options: pa.Array) -> Kernel:
    def kernel(args: Sequence[Datum], _: Failures) -> pa.Array:
        found = pc.is_in(args[0], value_set=options)
        return pc.if_else(pc.is_valid(args[0]), found, pa.scalar(None, pa.bool_()))

    return kernel


def _null_if(call: Call) -> Kernel:
    equal = comparison("=", call.args[0].type)

    def kernel(args: Sequence[Datum], _: Failures) -> Datum:
        value, other = args
        if any(isinstance(arg, pa.Scalar) and not arg.is_valid for arg in args):
            return value
        same = pc.fill_null(equal(value, other), False)
        return pc.if_else(same, pa.scalar(None, value.type), value)

    return kernel


def _extreme(better: str) -> Maker:
    """GREATEST and LEAST: NULLs are skipped, NaN is the greatest number."""

    def make(call: Call) -> Kernel:
        compare = comparison(better, call.type)

        def kernel(args: Sequence[Datum], _: Failures) -> Datum:
            best, *others = sorted(args, key=lambda arg: isinstance(arg, pa.Scalar))
            for other in others:
                if other.is_valid if isinstance(other, pa.Scalar) else True:
                    chosen = pc.if_else(pc.fill_null(compare(other, best), False), other, best)
                    best = pc.coalesce(chosen, other)
            return best

        return kernel

    return make


COMPARISONS: dict[str, Maker] = dict.fromkeys(_OF_OTHERS, _compared)
"""Those that are NULL when an argument is."""

COMPARISONS_WITH_NULLS: dict[str, Maker] = {
    "is distinct from": _is_distinct,
    "is not distinct from": _is_not_distinct,
    "in": _in,
    "nullif": _null_if,
    "greatest": _extreme(">"),
    "least": _extreme("<"),
}
