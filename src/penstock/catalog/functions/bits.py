"""The operators on the bits of integers, in two's complement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.expressions import Call, Expression
from penstock.algebra.types import BIGINT, INT
from penstock.catalog.functions.kinds import WHOLE, Args, Arity, Function, function, take_all
from penstock.catalog.functions.widening import coerce

if TYPE_CHECKING:
    from penstock.catalog.functions.kinds import Rule


def _of_two(name: str) -> Rule:
    """Both sides as the wider of their types."""

    def resolve(called: str, args: Args) -> Expression:
        taken = take_all(called, (WHOLE, WHOLE), args)
        wider = BIGINT if any(arg.type == BIGINT for arg in taken) else INT
        return Call(name, tuple(coerce(arg, wider) for arg in taken), wider)

    return resolve


OF_TWO = {
    "&": "The bits that both integers have.",
    "|": "The bits that one of the integers has, or both.",
    "^": "The bits that just one of the integers has.",
}

BITS = (
    *(Function(name, Arity(2, 2), summary, _of_two(name)) for name, summary in OF_TWO.items()),
    function("~", (WHOLE,), lambda args: args[0].type, "The integer with every bit turned over."),
)
