"""GROUP BY and aggregates: which expressions are keys, which are computed per group."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sqlglot import exp

from penstock.algebra import operators as op
from penstock.algebra.expressions import (
    NULL_LITERAL,
    AggregateCall,
    Case,
    Column,
    Expression,
    Literal,
    columns_of,
)
from penstock.algebra.plan import Named
from penstock.algebra.types import INT
from penstock.binder.expressions import ExpressionBinder
from penstock.binder.predicates import ClauseBinder
from penstock.catalog.functions import coerce, is_aggregate, resolve_aggregate, resolve_call
from penstock.catalog.functions.sample_estimates import ESTIMATES
from penstock.cql.syntax import span_of
from penstock.errors import NotSupported, PenstockError, Refused, TypeMismatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.algebra.plan import Plan
    from penstock.binder.context import Context
    from penstock.binder.scope import Scope
    from penstock.errors import Span


def own_nodes(node: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of an expression that belong to this query, not to a subquery in it."""
    return node.walk(prune=lambda one: isinstance(one, exp.Query | exp.Exists | exp.Window))


def has_aggregate(node: exp.Expr) -> bool:
    """An aggregate of this query is part of the expression."""
    return any(map(_is_aggregate_call, own_nodes(node)))


def _is_aggregate_call(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and is_aggregate(node.name)


class BoundGrouping:
    """The keys and aggregates of one query, gathered while its clauses are bound."""

    def __init__(self, context: Context, scope: Scope, keys: list[Expression]) -> None:
        self.inputs = ExpressionBinder(context, scope, "an aggregate")
        self.keys: dict[Expression, str] = {}
        self.aggregates: dict[AggregateCall, str] = {}
        for key in keys:
            name = key.name if isinstance(key, Column) else context.unique(f"key {key}")
            self.keys.setdefault(key, name)

    def key_column(self, expression: Expression) -> Column | None:
        """The grouped column an expression stands for."""
        name = self.keys.get(expression)
        return None if name is None else Column(name, expression.type)

    def gather(self, clause: exp.Expr) -> None:
        """Note every aggregate in a clause."""
        for part in own_nodes(clause):
            if isinstance(part, exp.Filter) and isinstance(part.this, exp.Anonymous):
                self.aggregate_column(part.this, part.expression.this)
            elif _is_aggregate_call(part) and not isinstance(part.parent, exp.Filter):
                self.aggregate_column(cast("exp.Anonymous", part), None)

    def aggregate_column(self, node: exp.Anonymous, filter_: exp.Expr | None) -> Expression:
        """The column of an aggregate, or its root; the same aggregate is computed once."""
        try:
            arguments, distinct = self._arguments(node)
            if filter_ is not None:
                arguments = self._filtered(arguments, filter_)
            call = resolve_aggregate(node.name, arguments, distinct=distinct)
        except PenstockError as error:
            error.at = error.at or span_of(node)
            raise
        if call not in self.aggregates:
            self.aggregates[call] = self.inputs.context.unique(str(call))
        column = Column(self.aggregates[call], call.of)
        estimate = ESTIMATES.get(node.name.lower())
        return resolve_call("sqrt", (column,)) if estimate and estimate.is_root else column

    def null_over_nothing(self, value: Expression) -> Expression:
        """A value computed from aggregates, NULL where there is no row to aggregate."""
        rows = resolve_aggregate("count", (), distinct=False)
        name = self.aggregates.setdefault(rows, self.inputs.context.unique(str(rows)))
        exists = resolve_call("is not null", (Column(name, rows.of),))
        return Case(((exists, value),), coerce(NULL_LITERAL, value.type))

    def _arguments(self, node: exp.Anonymous) -> tuple[tuple[Expression, ...], bool]:
        nodes = node.expressions
        distinct = len(nodes) == 1 and isinstance(nodes[0], exp.Distinct)
        if distinct:
            nodes = nodes[0].expressions
        if len(nodes) == 1 and isinstance(nodes[0], exp.Star) and node.name.upper() == "COUNT":
            return (), distinct
        if not nodes:
            msg = f"{node.name.upper()}() has no argument"
            hint = "Write COUNT(*)." if node.name.upper() == "COUNT" else None
            raise TypeMismatch(msg, hint=hint)
        return tuple(self.bind_own(one) for one in nodes), distinct

    def bind_own(self, node: exp.Expr) -> Expression:
        """An expression over the rows that are grouped.

        Raises:
            NotSupported: It reads columns of an enclosing query.
        """
        return self._own(self.inputs.bind(node), node)

    def _own(self, expression: Expression, node: exp.Expr) -> Expression:
        outer = self.inputs.scope.outer_columns(expression)
        if outer:
            msg = f"{outer[0]} belongs to the outer query and cannot stand in groups or aggregates"
            hint = "A subquery compares with the outer query in its WHERE."
            raise NotSupported(msg, hint=hint, at=span_of(node))
        return expression

    def _filtered(
        self, arguments: tuple[Expression, ...], filter_: exp.Expr
    ) -> tuple[Expression, ...]:
        """FILTER (WHERE c): rows that do not satisfy it count as NULL."""
        condition = self._own(self.inputs.bind_condition(filter_), filter_)
        first, *rest = arguments or (Literal(1, INT),)
        kept = Case(((condition, first),), coerce(NULL_LITERAL, first.type))
        return (kept, *rest)

    def distinct(self, child: Plan) -> Plan:
        """The different keys of a plan's rows."""
        return op.Distinct(op.Map(child, self._named_keys()))

    def _named_keys(self) -> tuple[Named, ...]:
        return tuple(Named(name, key) for key, name in self.keys.items())

    def plan(self, child: Plan, row_over_nothing: bool) -> Plan:
        """The aggregation of a plan's rows."""
        keys = self._named_keys()
        calls = tuple((name, call) for call, name in self.aggregates.items())
        return op.Aggregate(child, keys, calls, row_over_nothing)


class GroupedBinder(ClauseBinder):
    """Expressions over groups: made of keys, aggregates and constants."""

    groups: BoundGrouping
    aliases: dict[str, exp.Expr]
    """The select list by alias: HAVING and ORDER BY may use what it names."""

    def bind(self, node: exp.Expr) -> Expression:
        """As for rows; besides, an expression equal to a key stands for the key."""
        if self._is_alias(node):
            node = self.aliases[node.name.lower()]
        if not any(map(self._is_above_rows, node.walk())):
            expression = self.groups.bind_own(node)
            key = self.groups.key_column(expression)
            if key is not None:
                return key
            if not columns_of(expression):
                return expression
            if isinstance(node, exp.Column):
                raise self._not_one_value(node)
        return super().bind(node)

    def _not_one_value(self, node: exp.Column) -> Refused:
        msg = f'column "{node.name}" is neither grouped nor aggregated'
        hint = f"Add it to GROUP BY, or write an aggregate such as MAX({node.name})."
        return Refused(msg, hint=hint, at=span_of(node))

    def no_star(self, at: Span | None) -> Refused:
        """Why * has no meaning over groups."""
        msg = "* lists columns that are neither grouped nor aggregated"
        return Refused(msg, hint="Name the grouped columns.", at=at)

    def _is_above_rows(self, node: exp.Expr) -> bool:
        """A part of an expression that has a value only per group."""
        return _is_aggregate_call(node) or isinstance(node, exp.Query) or self._is_alias(node)

    def _is_alias(self, node: exp.Expr) -> bool:
        """A name for a column of the select list; columns of FROM come first."""
        if not isinstance(node, exp.Column) or node.table:
            return False
        known = any(one.answers(node.name, None) for one in self.scope.columns)
        return not known and node.name.lower() in self.aliases

    def _bind(self, node: exp.Expr) -> Expression:
        if isinstance(node, exp.Filter) and isinstance(node.this, exp.Anonymous):
            return self.groups.aggregate_column(node.this, node.expression.this)
        return super()._bind(node)

    def _aggregate(self, node: exp.Anonymous) -> Expression:
        return self.groups.aggregate_column(node, None)


class DistinctOnBinder(GroupedBinder):
    """Expressions over the rows of DISTINCT ON: made of its keys and constants."""

    def no_star(self, at: Span | None) -> Refused:
        """Why * has no meaning under DISTINCT ON."""
        msg = "* lists columns that DISTINCT ON may not have: a snapshot has no first row"
        return Refused(msg, hint="Name the columns of DISTINCT ON.", at=at)

    def _not_one_value(self, node: exp.Column) -> Refused:
        msg = f'column "{node.name}" is not one of DISTINCT ON: a snapshot has no first row'
        keys = ", ".join(map(str, self.groups.keys))
        hint = f"Write MIN({node.name}) or MAX({node.name}) and GROUP BY {keys}."
        return Refused(msg, hint=hint, at=span_of(node))
