"""FROM: names, subqueries, windows and joins to one plan with the columns it offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from penstock.algebra import streams as st
from penstock.algebra.expressions import Column, Expression, conjunction
from penstock.algebra.operators import Alias, Filter, Final, Join, Product
from penstock.binder.expressions import ExpressionBinder
from penstock.binder.joins import outer_join, shared_columns
from penstock.binder.names import renamed
from penstock.binder.nrr import is_nrr, is_stream_side, reading
from penstock.binder.scope import Scope, Visible
from penstock.binder.windows import bind_window
from penstock.catalog.definitions import (
    Definition,
    QueryDefinition,
    RelationDefinition,
    StreamDefinition,
    ViewDefinition,
)
from penstock.catalog.functions import resolve_call
from penstock.cql.syntax import span_of
from penstock.cql.understood import JOINS
from penstock.errors import NotSupported, QueryError, Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.plan import Plan
    from penstock.binder.context import Context, SelectWindows
    from penstock.errors import Span


@dataclass(frozen=True)
class FromItem:
    """Something in FROM: its plan, the columns it offers, and where it stands in the text."""

    plan: Plan
    scope: Scope
    at: Span | None = None


class FromBinder:
    """Binds one FROM clause; `bind_table` binds the subqueries in it."""

    def __init__(
        self,
        context: Context,
        block: SelectWindows,
        bind_table: Callable[[exp.Expr], Plan],
        where: list[exp.Expr],
    ) -> None:
        self.context = context
        self.block = block
        self.bind_table = bind_table
        self.where = where

    def bind(self, first: exp.Expr, joins: list[exp.Join]) -> FromItem:
        """A table and what is joined to it, from left to right."""
        items = [self._table(first)]
        conditions: list[exp.Expr | None] = [None]
        for join in [*first.args.get("joins", ()), *joins]:
            right = self._joined(join.this)
            side = _side(join)
            if side == "INNER" and not join.args.get("using"):
                items.append(right)
                conditions.append(join.args.get("on"))
            else:
                left = self._combine(items, conditions)
                items, conditions = [self._explicit(left, right, join, side)], [None]
        return self._combine(items, conditions)

    def _joined(self, node: exp.Expr) -> FromItem:
        """The right side of a join, which is a join itself in `a JOIN b JOIN c ON ... ON ...`."""
        return self.bind(node, []) if node.args.get("joins") else self._table(node)

    def _combine(self, items: list[FromItem], conditions: list[exp.Expr | None]) -> FromItem:
        """Comma and inner joins; non-retroactive relations go to the stream that reads them."""
        _refuse_same_names(items)
        scope = Scope()
        for item in items:
            scope += item.scope
        joinable = self._attach_relations(items, conditions)
        (result, filters), *others = joinable
        for item, on in others:
            both = result.scope + item.scope
            if on is None:
                result = FromItem(Product(result.plan, item.plan), both)
            else:
                result = FromItem(Join(result.plan, item.plan, self._on(on, both)), both)
        plan = Filter(result.plan, self._on(filters, scope)) if filters else result.plan
        return FromItem(plan, scope)

    def _on(self, node: exp.Expr, scope: Scope) -> Expression:
        return ExpressionBinder(self.context, scope, "ON").bind_condition(node)

    def _attach_relations(
        self, items: list[FromItem], conditions: list[exp.Expr | None]
    ) -> list[tuple[FromItem, exp.Expr | None]]:
        """Join each non-retroactive relation with the one stream that conditions tie it to.

        What is left to join, each with its condition. The first item has none of its own: there
        stand the conditions that tie a relation to more than the stream that reads it.
        """
        pairs = list(zip(items, conditions, strict=True))
        streams = [pair for pair in pairs if not is_nrr(pair[0].plan)]
        if not streams or len(streams) == len(pairs):
            return pairs
        everything = [node for node in (*conditions, *self.where) if node is not None]
        for relation, on in pairs:
            if not is_nrr(relation.plan):
                continue
            index = self._reader(relation, [stream for stream, _ in streams], everything)
            stream, own = streams[index]
            scope = stream.scope + relation.scope
            local = on is not None and _is_local(on, scope)
            join: Product | Join = Product(stream.plan, relation.plan)
            if on is not None and local:
                join = Join(stream.plan, relation.plan, self._on(on, scope))
            streams[index] = (FromItem(reading(join, relation.at), scope), own)
            if on is not None and not local:
                first, filters = streams[0]
                streams[0] = (first, exp.and_(filters, on) if filters else on)
        return streams

    def _reader(
        self, relation: FromItem, streams: list[FromItem], conditions: list[exp.Expr]
    ) -> int:
        """The stream that reads a relation: the one that conditions compare it with."""
        mine = _names(relation)
        everyone = Scope()
        for item in (*streams, relation):
            everyone += item.scope
        tied = set()
        for condition in conditions:
            mentioned = _mentioned(condition, everyone)
            if mentioned & mine:
                tied |= {i for i, item in enumerate(streams) if mentioned & _names(item)}
        readable = [i for i in range(len(streams)) if is_stream_side(streams[i].plan)]
        candidates = sorted(tied) or readable
        if len(candidates) == 1:
            return candidates[0]
        alias = next(iter(relation.scope.aliases.values()), "the subquery")
        msg = f"it is not clear which stream's rows read {alias}"
        hint = "Join it with that stream in a subquery of its own, then go on from there."
        raise Refused(msg, hint=hint, at=relation.at)

    def _explicit(self, left: FromItem, right: FromItem, join: exp.Join, side: str) -> FromItem:
        """An outer join, or an inner one with USING."""
        _refuse_same_names([left, right])
        scope = left.scope + right.scope
        names = join.args.get("using") or []
        if names:
            condition, scope = self._using(left, right, names, side)
        elif join.args.get("on"):
            binder = ExpressionBinder(self.context, scope, "ON")
            condition = binder.bind_condition(join.args["on"])
        else:
            hint = "Write ON condition, or USING (columns)."
            msg = f"{side} JOIN needs a condition"
            raise QueryError(msg, hint=hint, at=span_of(join))
        first, second = left.plan, right.plan
        if is_nrr(first) and not is_nrr(second) and side in ("INNER", "RIGHT"):
            # The stream reads the relation, on whichever side it was written.
            first, second = second, first
            side = "LEFT" if side == "RIGHT" else side
        if side == "INNER":
            plan = reading(Join(first, second, condition), span_of(join))
        else:
            plan = outer_join(first, second, condition, side, span_of(join))
        return FromItem(plan, scope)

    def _using(
        self, left: FromItem, right: FromItem, names: list[exp.Expr], side: str
    ) -> tuple[Expression, Scope]:
        """Equality on columns of one name, which then appear once, first."""
        conditions, merged = [], []
        for node in names:
            name, at = node.name, span_of(node)
            a, b = (one.scope.resolve(name, None, at) for one in (left, right))
            conditions.append(resolve_call("=", (a, b)))
            value = {"RIGHT": b, "FULL": resolve_call("coalesce", (a, b))}.get(side, a)
            merged.append(Visible(None, name, value))
        return conjunction(conditions), shared_columns(left.scope + right.scope, merged)

    def _table(self, node: exp.Expr) -> FromItem:
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
            return self._parenthesised_join(node)
        plan, name, what = self._named_or_subquery(node)
        window = node.args.get("window")
        if window is not None:
            syntax = window.syntax
            plan = bind_window(syntax, plan, what)
            self.block.windows.append((syntax.internal, syntax.span))
        alias = node.args.get("alias")
        if alias is not None and alias.name:
            name = alias.name
        if alias is not None and alias.args.get("columns"):
            plan = renamed(plan, [one.name for one in alias.args["columns"]], span_of(alias))
        at = span_of(alias if alias is not None else node)
        return self._offer(plan, name, what, at)

    def _parenthesised_join(self, node: exp.Subquery) -> FromItem:
        if node.args.get("window") or node.args.get("alias"):
            msg = "a join in parentheses has no window or alias"
            raise NotSupported(msg, hint="Write a subquery: (SELECT ...).", at=span_of(node))
        return self.bind(node.this, [])

    def _named_or_subquery(self, node: exp.Expr) -> tuple[Plan, str | None, str]:
        """The plan, the name it goes by without an alias, and what to call it in messages."""
        if isinstance(node, exp.Subquery):
            return self.bind_table(node), None, "the subquery"
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            msg = "FROM takes streams, relations, views and subqueries"
            raise NotSupported(msg, at=span_of(node))
        common = self.context.common_tables.get(node.name.lower())
        if common is not None:
            return common, node.name, f'subquery "{node.name}"'
        kinds = ("stream", "relation", "view", "query")
        found = self.context.catalog.find(node.name, *kinds, at=span_of(node))
        tables = self.context.tables or ()
        if isinstance(found, QueryDefinition) and found.name in tables:
            plan: Plan = st.Relation(found.name, found.plan.schema)
            return plan, found.name, f'query "{found.name}"'
        if isinstance(found, QueryDefinition):
            self.context.reads[found.name] = None
        if isinstance(found, ViewDefinition | QueryDefinition):
            self.context.reads.update(dict.fromkeys(found.reads))
        return _definition_plan(found), found.name, f'{found.kind} "{found.name}"'

    def _offer(self, plan: Plan, name: str | None, what: str, at: Span | None) -> FromItem:
        """A plan under an alias that no other part of the statement has."""
        unique = self.context.unique(name or "subquery")
        renamed = Alias(plan, unique)
        columns = tuple(
            Visible(name, below.name, Column(field.name, field.type))
            for below, field in zip(plan.schema, renamed.schema, strict=True)
        )
        return FromItem(renamed, Scope(columns, None, {name: what} if name else {}), at)


def _definition_plan(found: Definition) -> Plan:
    if isinstance(found, StreamDefinition):
        return st.Stream(found.name, found.schema, found.time_column, found.unit)
    if isinstance(found, RelationDefinition):
        return st.Relation(found.name, found.schema, found.retroactive)
    assert isinstance(found, ViewDefinition | QueryDefinition)
    # How a query sends its results does not matter to one that reads them.
    return found.plan.child if isinstance(found.plan, Final | st.AtEnds) else found.plan


def _side(join: exp.Join) -> str:
    """INNER (also comma and CROSS), LEFT, RIGHT or FULL."""
    kind, side = (str(join.args.get(key) or "") for key in ("kind", "side"))
    if kind not in (("", "OUTER") if side else ("", "INNER", "CROSS")):
        msg = f"{side} {kind} JOIN is not part of the language here".strip()
        raise NotSupported(msg, hint=JOINS, at=span_of(join))
    if kind == "CROSS" and (join.args.get("on") or join.args.get("using")):
        msg = "CROSS JOIN has no condition"
        raise QueryError(msg, hint="Write JOIN ... ON.", at=span_of(join))
    return side or "INNER"


def _refuse_same_names(items: list[FromItem]) -> None:
    seen: set[str] = set()
    for item in items:
        for alias in item.scope.aliases:
            if alias.lower() in seen:
                hint = f"Give one of them another name: {alias} AS other."
                msg = f'two things in FROM are called "{alias}"'
                raise QueryError(msg, hint=hint, at=item.at)
            seen.add(alias.lower())


def _is_local(condition: exp.Expr, scope: Scope) -> bool:
    """A condition in which every name is known in a scope."""
    return all(
        any(one.answers(column.name, column.table or None) for one in scope.columns)
        for column in condition.find_all(exp.Column)
    )


def _names(source: FromItem) -> set[str]:
    return set(source.plan.schema.names)


def _mentioned(condition: exp.Expr, scope: Scope) -> set[str]:
    """The plan columns a condition reads, as far as its names are known in FROM."""
    found: set[str] = set()
    for column in condition.find_all(exp.Column):
        for one in scope.columns:
            if one.answers(column.name, column.table or None) and isinstance(
                one.expression, Column
            ):
                found.add(one.expression.name)
    return found
