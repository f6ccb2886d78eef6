"""Comparisons, three-valued logic, tests for NULL, and the functions that choose a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.expressions import Call, Expression, Literal
from penstock.algebra.types import BOOLEAN, DATE, INTERVAL, NULL, STRING, TIMESTAMP, Type
from penstock.catalog.functions.kinds import (
    ANY,
    TEXT,
    TRUTH,
    Args,
    Arity,
    Function,
    a,
    function,
    is_text_literal,
    read_time,
    take,
)
from penstock.catalog.functions.widening import coerce, common_type, narrowed_beside_decimals
from penstock.errors import TypeMismatch

if TYPE_CHECKING:
    from penstock.catalog.functions.kinds import Rule


def unify(called: str, args: Args) -> tuple[Args, Type]:
    """All arguments brought to their common type; quoted texts beside times are read as times."""
    read = _times_read(args)
    common: Type = NULL
    for arg in read:
        wider = None if arg.type == INTERVAL else common_type(common, arg.type)
        if wider is None:
            raise _not_comparable(called, read, common, arg)
        common = wider
    return tuple(coerce(arg, common) for arg in read), common


def _times_read(args: Args) -> Args:
    times = [arg.type for arg in args if arg.type in (DATE, TIMESTAMP)]
    if not times:
        return args
    to = TIMESTAMP if TIMESTAMP in times else DATE
    return tuple(read_time(arg, to) if is_text_literal(arg) else arg for arg in args)


def _not_comparable(called: str, args: Args, common: Type, arg: Expression) -> TypeMismatch:
    verb = "compare" if called in COMPARISONS or called == "IN" else "combine"
    if arg.type == INTERVAL:
        return TypeMismatch(f"{called} does not apply to {a(INTERVAL)}")
    msg = f"cannot {verb} {a(common)} with {a(arg.type)}"
    other = next(other for other in args if other.type not in (NULL, arg.type))
    return TypeMismatch(msg, hint=_cast_one(other, arg))


def _cast_one(left: Expression, right: Expression) -> str | None:
    """The cast that makes two unlike values comparable: of the text, else of the truth value."""
    for arg, other in ((left, right), (right, left)):
        if arg.type == STRING and other.type != BOOLEAN:
            return f"Write CAST({arg} AS {other.type})."
        if arg.type == BOOLEAN and (other.type.is_numeric or other.type == STRING):
            return f"Write CAST({arg} AS {other.type})."
    return None


def _comparison(name: str) -> Rule:
    def resolve(called: str, args: Args) -> Expression:
        return Call(name, unify(called, narrowed_beside_decimals(args))[0], BOOLEAN)

    return resolve


def _choice(name: str) -> Rule:
    """Of values of one type, one is the result."""

    def resolve(called: str, args: Args) -> Expression:
        unified, common = unify(called, args)
        return Call(name, unified, common)

    return resolve


def _null_if(called: str, args: Args) -> Expression:
    return _choice("nullif")(called, narrowed_beside_decimals(args))


def _if(called: str, args: Args) -> Expression:
    condition = take(called, TRUTH, args[0])
    results, common = unify(called, args[1:])
    return Call("if", (condition, *results), common)


def _if_known(called: str, args: Args) -> Expression:
    """NVL2 as the IF it stands for, which computes only the value that it gives."""
    known = Call("is not null", (take(called, ANY, args[0]),), BOOLEAN)
    results, common = unify(called, args[1:])
    return Call("if", (known, *results), common)


def _like(called: str, args: Args) -> Expression:
    taken = tuple(take(called, TEXT, arg) for arg in args)
    escape = taken[2] if len(taken) == 3 else None
    if escape is not None and not (
        isinstance(escape, Literal) and isinstance(escape.value, str) and len(escape.value) == 1
    ):
        msg = f"the escape of {called} is one quoted character, not {escape}"
        raise TypeMismatch(msg)
    return Call("like", taken, BOOLEAN)


COMPARISONS = {
    "=": "Equal; NaN equals NaN, -0.0 equals 0.0; NULL beside NULL gives NULL.",
    "<>": "Not equal.",
    "<": "Less; NaN is greater than every number.",
    "<=": "Less or equal.",
    ">": "Greater.",
    ">=": "Greater or equal.",
    "is distinct from": "Not equal, where NULL equals NULL; never NULL.",
    "is not distinct from": "Equal, where NULL equals NULL; never NULL.",
}

TESTS = {
    "is null": "Whether the value is NULL.",
    "is not null": "Whether the value is not NULL.",
}

TRUTH_TESTS = {
    "is true": "TRUE for TRUE, FALSE for FALSE and NULL.",
    "is false": "TRUE for FALSE, FALSE for TRUE and NULL.",
    "is not true": "TRUE for FALSE and NULL.",
    "is not false": "TRUE for TRUE and NULL.",
}

_SPELLING = {"=": ("==",), "<>": ("!=",), "is not distinct from": ("<=>",)}

LOGIC = (
    *(
        Function(name, Arity(2, 2), summary, _comparison(name), _SPELLING.get(name, ()))
        for name, summary in COMPARISONS.items()
    ),
    *(function(name, (ANY,), BOOLEAN, summary) for name, summary in TESTS.items()),
    *(function(name, (TRUTH,), BOOLEAN, summary) for name, summary in TRUTH_TESTS.items()),
    function("and", (TRUTH, TRUTH), BOOLEAN, "FALSE if a side is FALSE, else NULL if one is NULL."),
    function("or", (TRUTH, TRUTH), BOOLEAN, "TRUE if a side is TRUE, else NULL if one is NULL."),
    function("not", (TRUTH,), BOOLEAN, "The other truth value; NULL stays NULL."),
    Function("in", Arity(2, None), "Whether a value equals one of a list.", _comparison("in")),
    Function(
        "like", Arity(2, 3),
        r"Whether a text has a pattern: % any text, _ one character, \ (or argument 3) escapes.",
        _like,
    ),
)  # fmt: skip

CHOICES = (
    Function("coalesce", Arity(1, None), "The first value that is not NULL.", _choice("coalesce")),
    Function(
        "ifnull", Arity(2, 2), "The first value, or the second where it is NULL.",
        _choice("coalesce"), ("nvl",),
    ),
    Function(
        "nvl2", Arity(3, 3), "The second value, or the third where the first is NULL.", _if_known
    ),
    Function(
        "nullif", Arity(2, 2), "The first value, NULL where it equals the second.", _null_if
    ),
    Function(
        "if", Arity(3, 3), "The second value where the condition is TRUE, else the third.",
        _if, ("iff",),
    ),
    Function(
        "greatest", Arity(2, None), "The greatest value; NULLs are skipped, NaN is the greatest.",
        _choice("greatest"),
    ),
    Function("least", Arity(2, None), "The least value; NULLs are skipped.", _choice("least")),
)  # fmt: skip
