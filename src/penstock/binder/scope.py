"""Scopes: the columns a part of a query can name, and how a name finds its column."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from penstock.algebra.expressions import columns_of
from penstock.errors import Span, UnknownName, did_you_mean

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression


@dataclass(frozen=True)
class Visible:
    """A column as the user can name it, and what it stands for in the plan."""

    qualifier: str | None
    name: str
    expression: Expression
    merged: bool = False
    """A column joined by USING: reached by `qualifier.name` only, and not part of `*`."""

    def answers(self, name: str, qualifier: str | None) -> bool:
        """The user means this column."""
        if self.name.lower() != name.lower():
            return False
        if qualifier is None:
            return not self.merged
        return self.qualifier is not None and self.qualifier.lower() == qualifier.lower()


@dataclass(frozen=True)
class Scope:
    """The columns of a FROM clause, and behind them those of the enclosing query."""

    columns: tuple[Visible, ...] = ()
    outer: Scope | None = None
    aliases: dict[str, str] = field(default_factory=dict)
    """Each alias and what it names, for messages: `b` is stream "Bids"."""

    def __add__(self, other: Scope) -> Scope:
        """The columns of both, left first."""
        aliases = {**self.aliases, **other.aliases}
        return Scope(self.columns + other.columns, self.outer or other.outer, aliases)

    def inside(self, outer: Scope | None) -> Scope:
        """The same columns, in a subquery of another query."""
        return replace(self, outer=outer)

    def outer_columns(self, expression: Expression) -> list[str]:
        """The columns of enclosing queries that an expression reads."""
        own = {name for one in self.columns for name in columns_of(one.expression)}
        return sorted(columns_of(expression) - own)

    def star(self, qualifier: str | None = None) -> list[Visible]:
        """The columns `*` or `t.*` stands for."""
        if qualifier is None:
            return [one for one in self.columns if not one.merged]
        wanted = qualifier.lower()
        return [one for one in self.columns if (one.qualifier or "").lower() == wanted]

    def resolve(self, name: str, qualifier: str | None, at: Span | None) -> Expression:
        """The column that a name stands for, here or in an enclosing query.

        Raises:
            UnknownName: No column answers to the name, or more than one does.
        """
        scope: Scope | None = self
        while scope is not None:
            found = [one for one in scope.columns if one.answers(name, qualifier)]
            if len(found) > 1:
                raise _ambiguous(name, found, at)
            if found:
                return found[0].expression
            scope = scope.outer
        raise self._unknown(name, qualifier, at)

    def _unknown(self, name: str, qualifier: str | None, at: Span | None) -> UnknownName:
        everywhere = self._all_columns()
        if qualifier is not None and qualifier.lower() not in self._all_aliases():
            aliases = list(self._all_aliases().values())
            otherwise = f"FROM has {', '.join(aliases)}." if aliases else None
            hint = did_you_mean(qualifier, aliases, otherwise=otherwise)
            return UnknownName(f'there is no "{qualifier}" in FROM', hint=hint, at=at)
        here = [
            one
            for one in everywhere
            if qualifier is None or (one.qualifier or "").lower() == qualifier.lower()
        ]
        names = list(dict.fromkeys(one.name for one in here))
        hint = did_you_mean(name, names, otherwise=f"The columns are {', '.join(names)}.")
        return UnknownName(f'{self._owner(qualifier)} has no column "{name}"', hint=hint, at=at)

    def _owner(self, qualifier: str | None) -> str:
        """The name of the place where a column was looked for."""
        aliases = {alias.lower(): what for alias, what in self.aliases.items()}
        if qualifier is not None:
            return aliases.get(qualifier.lower(), f'"{qualifier}"')
        return next(iter(aliases.values())) if len(aliases) == 1 else "FROM"

    def _all_columns(self) -> list[Visible]:
        return [*self.columns, *(self.outer._all_columns() if self.outer else [])]

    def _all_aliases(self) -> dict[str, str]:
        mine = {alias.lower(): alias for alias in self.aliases}
        return {**(self.outer._all_aliases() if self.outer else {}), **mine}


def _ambiguous(name: str, found: list[Visible], at: Span | None) -> UnknownName:
    places = [f"{one.qualifier}.{one.name}" for one in found if one.qualifier]
    return UnknownName(f'column "{name}" is ambiguous', hint=f"Write {' or '.join(places)}.", at=at)
