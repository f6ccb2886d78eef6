"""The aggregates: their types; NULL arguments are ignored, over nothing they are NULL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra.expressions import AggregateCall, Literal
from penstock.algebra.types import BIGINT, BOOLEAN, DOUBLE, MAX_PRECISION, Type, decimal
from penstock.catalog.functions.kinds import ANY, NUMBER, REAL, TRUTH, Args, Arity, Kind, take
from penstock.catalog.functions.widening import coerce
from penstock.errors import TypeMismatch

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression

Typing = Callable[[Type], Type]
ONE = Arity(1, 1)


@dataclass(frozen=True, slots=True)
class AggregateType:
    """An aggregate: what a reference page says of it, and how it is typed."""

    name: str
    kind: Kind
    gives: Typing
    summary: str
    aliases: tuple[str, ...] = ()
    arity: Arity = ONE

    def resolve(self, called: str, args: Args, *, distinct: bool) -> AggregateCall:
        """The typed call."""
        if self.name == "count":
            _check_count(args, distinct=distinct)
        else:
            self.arity.check(called, len(args))
        taken = tuple(take(called, self.kind, arg) for arg in args[: self.taken(args)])
        if self.name == "quantile":
            taken = (*taken, _fraction(called, args[1]))
        gives = self.gives(taken[0].type) if taken else BIGINT
        return AggregateCall(self.name, taken, distinct, gives)

    def taken(self, args: Args) -> int:
        """The number of arguments that are values of the rows."""
        return 1 if self.name == "quantile" else len(args)


def _check_count(args: Args, *, distinct: bool) -> None:
    if distinct and not args:
        msg = "COUNT(DISTINCT *) does not say which columns make a row different"
        raise TypeMismatch(msg, hint="Write COUNT(DISTINCT a, b) with the columns.")
    if len(args) > 1 and not distinct:
        msg = f"COUNT takes at most 1 argument, not {len(args)}"
        raise TypeMismatch(msg, hint="COUNT(DISTINCT a, b) takes several.")


def _fraction(called: str, arg: Expression) -> Expression:
    """The constant second argument of a quantile, between 0 and 1."""
    taken = coerce(take(called, NUMBER, arg), DOUBLE)
    value = taken.value if isinstance(taken, Literal) else None
    if not isinstance(value, float) or not 0 <= value <= 1:
        msg = f"{called} takes a constant between 0 and 1 as argument 2, not {arg}"
        raise TypeMismatch(msg)
    return taken


def _sum_type(type_: Type) -> Type:
    if type_.is_decimal:
        return decimal(min(MAX_PRECISION, type_.precision + 10), type_.scale)
    return BIGINT if type_.is_integer else DOUBLE


def _mean_type(type_: Type) -> Type:
    if not type_.is_decimal:
        return DOUBLE
    # As Spark, which cuts both to 38 here instead of adjusting the scale.
    return decimal(min(MAX_PRECISION, type_.precision + 4), min(MAX_PRECISION, type_.scale + 4))


def _always(type_: Type) -> Typing:
    return lambda _: type_


def _same(type_: Type) -> Type:
    return type_


AGGREGATES = (
    AggregateType(
        "count", ANY, _always(BIGINT), "How many rows; COUNT(x): how many x that are not NULL.",
        arity=Arity(0, None),
    ),
    AggregateType("sum", NUMBER, _sum_type, "The sum; of integers a BIGINT, NULL if it overflows."),
    AggregateType("avg", NUMBER, _mean_type, "The mean; of integers a DOUBLE.", ("mean",)),
    AggregateType("min", ANY, _same, "The least value."),
    AggregateType("max", ANY, _same, "The greatest value; NaN is the greatest number."),
    AggregateType(
        "var_samp", REAL, _always(DOUBLE), "The variance of a sample; of one row NULL.",
        ("var", "variance"),
    ),
    AggregateType(
        "stddev_samp", REAL, _always(DOUBLE),
        "The standard deviation of a sample; of one row NULL.", ("stddev", "std"),
    ),
    AggregateType("var_pop", REAL, _always(DOUBLE), "The variance of all rows; of one row 0."),
    AggregateType(
        "stddev_pop", REAL, _always(DOUBLE), "The standard deviation of all rows; of one row 0."
    ),
    AggregateType("median", NUMBER, _always(DOUBLE), "The middle value, between the middle two."),
    AggregateType(
        "quantile", NUMBER, _always(DOUBLE),
        "QUANTILE(x, p): the value at rank (n - 1) * p from the least, interpolated.",
        ("percentile",), Arity(2, 2),
    ),
    AggregateType("count_if", TRUTH, _always(BIGINT), "How many rows meet the condition."),
    AggregateType("bool_and", TRUTH, _always(BOOLEAN), "Whether all are TRUE.", ("every",)),
    AggregateType("bool_or", TRUTH, _always(BOOLEAN), "Whether one is TRUE.", ("some", "any")),
)  # fmt: skip
