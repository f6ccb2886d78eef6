"""Functions as the registry knows them, and the kinds of arguments they take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.algebra.expressions import Call, Expression, Literal
from penstock.algebra.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    Type,
)
from penstock.catalog.functions.time_text import date_in_text, timestamp_in_text
from penstock.catalog.functions.widening import can_cast, coerce
from penstock.errors import TypeMismatch

Args = tuple[Expression, ...]
Rule = Callable[[str, Args], Expression]
"""From the name as the user wrote it and the arguments to the typed call."""

NUMERIC = frozenset({"INT", "BIGINT", "DOUBLE", "DECIMAL"})
COMPARABLE = NUMERIC | {"BOOLEAN", "STRING", "DATE", "TIMESTAMP"}


@dataclass(frozen=True, slots=True)
class Arity:
    """The number of arguments a function takes; `most` None: any number."""

    least: int
    most: int | None

    def __str__(self) -> str:
        """As in `takes 2 or 3 arguments`."""
        if self.most is None:
            return f"at least {self.least} argument{'s' * (self.least != 1)}"
        if self.most == 0:
            return "no arguments"
        if self.least == self.most:
            return f"{self.least} argument{'s' * (self.least != 1)}"
        joint = "or" if self.most == self.least + 1 else "to"
        return f"{self.least} {joint} {self.most} arguments"

    def check(self, called: str, count: int) -> None:
        """Refuse a call with another number of arguments."""
        if count < self.least or (self.most is not None and count > self.most):
            msg = f"{called} takes {self}, not {count}"
            raise TypeMismatch(msg)


@dataclass(frozen=True, slots=True)
class Function:
    """A scalar function or operator: what a reference page says of it, and how it is typed."""

    name: str
    arity: Arity
    summary: str
    resolve: Rule
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kind:
    """The types an argument may have, and the one it is brought to (None: its own)."""

    text: str
    admits: frozenset[str]
    to: Type | None = None
    of_null: Type = NULL

    def take(self, arg: Expression) -> Expression | None:
        """The argument brought to this kind, None when it is not of it."""
        if arg.type == NULL:
            return coerce(arg, self.to or self.of_null)
        if self.to in (DATE, TIMESTAMP) and is_text_literal(arg):
            return read_time(arg, self.to)
        if arg.type.name not in self.admits:
            return None
        return arg if self.to is None else coerce(arg, self.to)


TEXT = Kind("a STRING", frozenset({"STRING"}), STRING)
AS_TEXT = Kind("a value", COMPARABLE, STRING)
INT32 = Kind("an INT", frozenset({"INT", "BIGINT"}), INT)
INT64 = Kind("an integer", frozenset({"INT", "BIGINT"}), BIGINT)
WHOLE = Kind("an integer", frozenset({"INT", "BIGINT"}), of_null=INT)
REAL = Kind("a number", NUMERIC, DOUBLE)
NUMBER = Kind("a number", NUMERIC, of_null=DOUBLE)
TRUTH = Kind("a BOOLEAN", frozenset({"BOOLEAN"}), BOOLEAN)
DAY = Kind("a DATE", frozenset({"DATE", "TIMESTAMP"}), DATE)
MOMENT = Kind("a TIMESTAMP", frozenset({"DATE", "TIMESTAMP"}), TIMESTAMP)
ANY = Kind("a value", COMPARABLE)


def a(type_: Type) -> str:
    """The type with its article, as in a sentence.

    >>> a(INT), a(STRING)
    ('an INT', 'a STRING')
    """
    return f"{'an' if type_.name[0] in 'AEIOU' else 'a'} {type_}"


def is_text_literal(arg: Expression) -> bool:
    """A quoted text as the argument."""
    return isinstance(arg, Literal) and arg.type == STRING and arg.value is not None


def read_time(arg: Expression, to: Type) -> Literal:
    """A quoted text as the DATE or TIMESTAMP it spells."""
    text = arg.value if isinstance(arg, Literal) and isinstance(arg.value, str) else ""
    value = date_in_text(text, exactly=True) if to == DATE else timestamp_in_text(text)
    if value is None:
        msg = f"{arg} is not {a(to)}"
        form = "YYYY-MM-DD" if to == DATE else "YYYY-MM-DD hh:mm:ss"
        raise TypeMismatch(msg, hint=f"Write it as '{form}'.")
    return Literal(value, to)


def function(
    name: str,
    kinds: tuple[Kind, ...],
    gives: Type | Callable[[Args], Type],
    summary: str,
    *,
    aliases: tuple[str, ...] = (),
    optional: int = 0,
    variadic: bool = False,
) -> Function:
    """A function with one kind per argument; the last is repeated when `variadic`."""

    def resolve(called: str, args: Args) -> Expression:
        taken = take_all(called, kinds, args)
        return Call(name, taken, gives if isinstance(gives, Type) else gives(taken))

    arity = Arity(len(kinds) - optional, None if variadic else len(kinds))
    return Function(name, arity, summary, resolve, aliases)


def take_all(called: str, kinds: tuple[Kind, ...], args: Args) -> Args:
    """Every argument brought to its kind, or the error that says which one is not of it."""
    return tuple(
        take(called, kinds[min(index, len(kinds) - 1)], arg, index, kinds)
        for index, arg in enumerate(args)
    )


def take(
    called: str, kind: Kind, arg: Expression, index: int = 0, kinds: tuple[Kind, ...] = ()
) -> Expression:
    """One argument brought to its kind."""
    taken = kind.take(arg)
    if taken is None:
        place = f" as argument {index + 1}" if len({other.text for other in kinds}) > 1 else ""
        msg = f"{called} takes {kind.text}{place}, not {a(arg.type)}"
        raise TypeMismatch(msg, hint=cast_hint(arg, kind.to or kind.of_null))
    return taken


def cast_hint(arg: Expression, to: Type) -> str | None:
    """The cast to write, if there is one."""
    if to == NULL or not can_cast(arg.type, to):
        return None
    if to == BOOLEAN and arg.type.is_numeric:
        return f"Write {arg} <> 0."
    return f"Write CAST({arg} AS {to})."
