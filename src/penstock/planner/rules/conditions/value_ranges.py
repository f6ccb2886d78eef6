"""Values that conditions leave to what they compare with constants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from penstock.algebra.expressions import Call, Expression, Literal, columns_of
from penstock.algebra.types import BIGINT, BOOLEAN, INT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


FLIPPED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

DENIED = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
"""NOT of a comparison is TRUE where the opposite one is; where one is NULL, so is the other."""


@dataclass(frozen=True)
class Bound:
    """One end of a range, and whether it belongs to it."""

    value: Any
    holds: bool


@dataclass(frozen=True)
class Values:
    """The values that are left: those of a list or a range, without some. NULL is never left.

    Args:
        listed: The values to choose from; None: all of the type.
        low: No value is below.
        high: No value is above.
        without: Values that are excluded.
    """

    listed: tuple[Any, ...] | None = None
    low: Bound | None = None
    high: Bound | None = None
    without: tuple[Any, ...] = ()

    def __and__(self, other: Values) -> Values:
        """The values that both leave."""
        listed = self.listed if self.listed is not None else other.listed
        if self.listed is not None and other.listed is not None:
            listed = tuple(one for one in self.listed if one in other.listed)
        low = _inner((self.low, other.low), is_low=True)
        high = _inner((self.high, other.high), is_low=False)
        without = tuple(dict.fromkeys((*self.without, *other.without)))
        return Values(listed, low, high, without)._simplest()

    def _simplest(self) -> Values:
        """A list has been looked through; only what lies in a range need be excluded from it."""
        if self.listed is not None:
            inside = (one for one in self.listed if self._spans(one) and one not in self.without)
            return Values(tuple(inside))
        if self.low is not None and self.low == self.high and self.low.holds:
            return replace(self, listed=(self.low.value,))._simplest()
        return replace(self, without=tuple(one for one in self.without if self._spans(one)))

    def _spans(self, value: Any) -> bool:
        low, high = self.low, self.high
        if low is not None and not (value > low.value or (low.holds and value == low.value)):
            return False
        return high is None or value < high.value or (high.holds and value == high.value)

    @property
    def has_values(self) -> bool:
        """Some value is left."""
        if self.listed is not None:
            return bool(self.listed)
        # A range of one value has become a list.
        return self.low is None or self.high is None or bool(self.low.value < self.high.value)

    def asked_of(self, subject: Expression) -> list[Expression]:
        """The conditions that leave just these."""
        if self.listed is not None:
            values = [Literal(one, subject.type) for one in self.listed]
            return [Call("=" if len(values) == 1 else "in", (subject, *values), BOOLEAN)]
        bounds = ((self.low, ">=", ">"), (self.high, "<=", "<"))
        found = [
            (closed if one.holds else opened, one.value)
            for one, closed, opened in bounds
            if one is not None
        ]
        found += [("<>", one) for one in self.without]
        return [
            Call(function, (subject, Literal(value, subject.type)), BOOLEAN)
            for function, value in found
        ]


def _inner(bounds: Sequence[Bound | None], *, is_low: bool) -> Bound | None:
    """Of two ends of ranges the one that is further inside."""
    found = [one for one in bounds if one is not None]
    if not found:
        return None
    order = sorted(found, key=lambda one: (one.value, one.holds != is_low))
    return order[-1] if is_low else order[0]


NO_VALUES = Values(())


def values_in(part: Expression) -> tuple[Expression, Values] | None:
    """The subject that a condition compares with constants, and the values it leaves; None: none.

    NaN is neither above nor below anything to Python, so conditions with it are left alone.
    """
    match part:
        case Call("not", (Call(function, (subject, Literal() as one), of),)) if function in DENIED:
            return values_in(Call(DENIED[function], (subject, one), of))
        case Call("not", (Call(function, (Literal() as one, subject), of),)) if function in DENIED:
            return values_in(Call(DENIED[function], (one, subject), of))
        case Call("not", (Call("in", (subject, *members)),)) if _are_plain(members):
            return _of(subject, Values(without=_different(members)))
        case Call("in", (subject, *members)) if _are_plain(members):
            return _of(subject, Values(_different(members)))
        case Call(function, (subject, Literal() as one)) if function in FLIPPED:
            return _of(subject, _compared(function, one.value)) if _are_plain([one]) else None
        case Call(function, (Literal() as one, subject)) if function in FLIPPED:
            return values_in(replace(part, function=FLIPPED[function], args=(subject, one)))
        case Call("or", args):
            return _any_of(args)
    return None


def _of(subject: Expression, values: Values) -> tuple[Expression, Values] | None:
    """Of integers, ends that do not belong to a range are moved to those that do."""
    if not columns_of(subject):
        return None
    if subject.type in (INT, BIGINT):
        low, high = values.low, values.high
        if low is not None and not low.holds:
            values = replace(values, low=Bound(low.value + 1, holds=True))
        if high is not None and not high.holds:
            values = replace(values, high=Bound(high.value - 1, holds=True))
    return subject, values


def _compared(function: str, value: Any) -> Values:
    match function:
        case "=":
            return Values((value,))
        case "<>":
            return Values(without=(value,))
        case ">" | ">=":
            return Values(low=Bound(value, holds=function == ">="))
    return Values(high=Bound(value, holds=function == "<="))


def _any_of(args: Iterable[Expression]) -> tuple[Expression, Values] | None:
    """Several lists for one subject are one list."""
    found = [values_in(one) for one in args]
    known = [one for one in found if one is not None and one[1].listed is not None]
    if len(known) < len(found) or len({subject for subject, _ in known}) > 1:
        return None
    listed = (one for _, values in known for one in values.listed or ())
    return known[0][0], Values(tuple(dict.fromkeys(listed)))


def _are_plain(members: Sequence[Expression]) -> bool:
    """Constants that Python orders as SQL does, all of them."""
    return all(
        isinstance(one, Literal) and one.value is not None and one.value == one.value
        for one in members
    )


def _different(members: Sequence[Expression]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(one.value for one in members if isinstance(one, Literal)))


def ranges_in(parts: Sequence[Expression]) -> dict[Expression, Values]:
    """For each subject that is compared with constants, the values that all conditions leave."""
    found: dict[Expression, list[Values]] = {}
    for part in parts:
        known = values_in(part)
        if known is not None:
            found.setdefault(known[0], []).append(known[1])
    return {subject: reduce(Values.__and__, several) for subject, several in found.items()}
