"""WHERE and HAVING: conditions, [NOT] EXISTS and [NOT] IN, scalar subqueries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from penstock.algebra import operators as op
from penstock.algebra.expressions import (
    AggregateCall,
    Column,
    Expression,
    columns_of,
    conjunction,
)
from penstock.binder.expressions import BINARY, ExpressionBinder, operands
from penstock.binder.nrr import reading
from penstock.catalog.functions import resolve_call
from penstock.cql.syntax import Emit, span_of
from penstock.cql.understood import is_set
from penstock.errors import NotSupported, QueryError, count

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.plan import Binary, Plan
    from penstock.binder.context import Context, SelectWindows
    from penstock.binder.scope import Scope


@dataclass
class PlanInProgress:
    """A plan under construction, which subqueries in its expressions extend."""

    plan: Plan
    block: SelectWindows


@dataclass(frozen=True)
class Inner:
    """A bound subquery: its plan, its select list over that plan, and conditions on the outer."""

    plan: Plan
    columns: tuple[Expression, ...]
    correlated: tuple[Expression, ...]


@dataclass(frozen=True)
class InnerScalar:
    """A bound scalar subquery: either a plan of one column, or aggregates over matching rows."""

    plan: Plan
    value: Expression
    condition: Expression | None
    aggregates: tuple[tuple[str, AggregateCall], ...]


class SubqueryBinder(Protocol):
    """Binds subqueries in expressions; `penstock.binder.selects` does it."""

    def inner(self, node: exp.Expr, outer: Scope, block: SelectWindows) -> Inner:
        """The subquery of EXISTS or IN."""

    def scalar(self, node: exp.Expr, outer: Scope, block: SelectWindows) -> InnerScalar:
        """A subquery that stands for a value."""


class ClauseBinder(ExpressionBinder):
    """Expressions over a plan under construction, in which scalar subqueries may stand."""

    def __init__(
        self,
        context: Context,
        scope: Scope,
        clause: str,
        building: PlanInProgress,
        subqueries: SubqueryBinder,
    ) -> None:
        super().__init__(context, scope, clause)
        self.building = building
        self.subqueries = subqueries

    def _bind(self, node: exp.Expr) -> Expression:
        if isinstance(node, exp.Subquery) and not isinstance(node, Emit):
            return self._scalar(node)
        return super()._bind(node)

    def _scalar(self, node: exp.Subquery) -> Expression:
        query = _unparenthesised(node)
        inner = self.subqueries.scalar(query, self.scope, self.building.block)
        left = self.building.plan
        operator: Binary
        if inner.condition is None:
            operator = op.ScalarProduct(left, inner.plan)
        else:
            self._require_known(inner.condition, inner.plan, node)
            over_nothing = self.context.settings.empty_aggregates
            operator = op.GroupJoin(
                left, inner.plan, inner.condition, inner.aggregates, over_nothing
            )
        self.building.plan = reading(operator, span_of(node))
        return inner.value

    def apply(self, conditions: list[exp.Expr]) -> list[Expression]:
        """Keep the rows that satisfy all conditions; those on an outer query are returned."""
        correlated: list[Expression] = []
        plain: list[Expression] = []
        for part in conditions:
            negated, predicate = _unwrapped(part)
            join = self._subquery_predicate(predicate, negated)
            if join is not None:
                self._filter(plain)
                plain = []
                join()
                continue
            condition = self.bind_condition(part)
            known = columns_of(condition) <= set(self.building.plan.schema.names)
            (plain if known else correlated).append(condition)
        self._filter(plain)
        return correlated

    def _filter(self, conditions: list[Expression]) -> None:
        if conditions:
            self.building.plan = op.Filter(self.building.plan, conjunction(conditions))

    def _subquery_predicate(self, node: exp.Expr, negated: bool) -> Callable[[], None] | None:
        """The join of the plan with a subquery of EXISTS, IN, ANY or ALL; None for all else."""
        if isinstance(node, exp.Exists):
            return lambda: self._existential(node.this, [], node, negated)
        if isinstance(node, exp.In) and node.args.get("query"):
            values = _tuple(node.this)
            return lambda: self._existential(node.args["query"], values, node, negated)
        if isinstance(node.args.get("expression"), exp.Any | exp.All):
            return lambda: self._quantified(node, negated)
        return None

    def _quantified(self, node: exp.Expr, negated: bool) -> None:
        """`x > ANY (q)` is a semi-join; `x > ALL (q)` keeps the rows no row of q speaks against."""
        quantifier = node.expression
        comparison = BINARY.get(type(node))
        if comparison is None or negated:
            msg = "ANY and ALL go with a comparison that is not negated"
            raise NotSupported(msg, at=span_of(node))
        query = _unparenthesised(quantifier.this)
        if not isinstance(query, exp.Query):
            msg = "ANY and ALL take a subquery"
            raise NotSupported(msg, hint="Write IN (1, 2) for a list.", at=span_of(node))
        value = self.bind(node.this)
        inner = self.subqueries.inner(query, self.scope, self.building.block)
        if len(inner.columns) != 1:
            msg = f"the subquery of {comparison} has {len(inner.columns)} columns, not one"
            raise QueryError(msg, at=span_of(node))
        holds = self._call(comparison, value, inner.columns[0])
        universal = isinstance(quantifier, exp.All)
        test = resolve_call("is not true", (holds,)) if universal else holds
        self._keep(inner.plan, conjunction([*inner.correlated, test]), universal, node)

    def _existential(
        self, query: exp.Expr, values: list[exp.Expr], node: exp.Expr, negated: bool
    ) -> None:
        """EXISTS and IN as a semi-join, with NOT as an anti-join."""
        left_values = [self.bind(value) for value in values]
        inner = self.subqueries.inner(_unparenthesised(query), self.scope, self.building.block)
        conditions = list(inner.correlated)
        if values:
            conditions.append(self._membership(left_values, inner.columns, negated, node))
        self._keep(inner.plan, conjunction(conditions), negated, node)

    def _keep(self, inner: Plan, condition: Expression, negated: bool, node: exp.Expr) -> None:
        """Keep the rows with a partner in a subquery, or those without."""
        self._require_known(condition, inner, node)
        join = op.AntiJoin if negated else op.SemiJoin
        self.building.plan = reading(join(self.building.plan, inner, condition), span_of(node))

    def _membership(
        self,
        values: list[Expression],
        columns: tuple[Expression, ...],
        negated: bool,
        node: exp.Expr,
    ) -> Expression:
        """`x = y`; for NOT IN `(x = y) IS NOT FALSE`, which brings SQL's NULL rules."""
        if len(values) != len(columns):
            left, right = count(len(values), "value"), count(len(columns), "column")
            msg = f"IN compares {left} with {right}"
            raise QueryError(msg, at=span_of(node))
        pairs = zip(values, columns, strict=True)
        equal = conjunction([self._call("=", value, column) for value, column in pairs])
        return resolve_call("is not false", (equal,)) if negated else equal

    def _require_known(self, condition: Expression, inner: Plan, node: exp.Expr) -> None:
        known = {*self.building.plan.schema.names, *inner.schema.names}
        unknown = sorted(columns_of(condition) - known)
        if unknown:
            msg = f"the subquery compares with {', '.join(unknown)}, which is not available here"
            hint = (
                "A subquery can compare with columns of the query right around it;"
                " under GROUP BY, with the grouped columns."
            )
            raise NotSupported(msg, hint=hint, at=span_of(node))


def split_and(node: exp.Expr) -> list[exp.Expr]:
    """The conditions that AND joins, in the order they were written."""
    return operands(node, exp.And)


def _unwrapped(node: exp.Expr) -> tuple[bool, exp.Expr]:
    """A condition without the NOTs and parentheses around it, and whether it is negated."""
    negated = False
    while isinstance(node, exp.Not | exp.Paren):
        negated ^= isinstance(node, exp.Not)
        node = node.this
    return negated, node


def _unparenthesised(query: exp.Expr) -> exp.Expr:
    """A query without the parentheses around it, as long as they hold nothing else."""
    while type(query) is exp.Subquery and not any(
        is_set(value) for part, value in query.args.items() if part != "this"
    ):
        query = query.this
    return query


def _tuple(node: exp.Expr) -> list[exp.Expr]:
    return list(node.expressions) if isinstance(node, exp.Tuple) else [node]


def scalar_column(plan: Plan) -> Column:
    """The one column of a scalar subquery's plan."""
    (field,) = plan.schema
    return Column(field.name, field.type)
