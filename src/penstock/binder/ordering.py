"""ORDER BY and LIMIT: the first rows of any result, and the order of what is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.algebra.expressions import Column
from penstock.algebra.plan import Named
from penstock.cql.syntax import span_of
from penstock.errors import QueryError, Refused, Span, count

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan
    from penstock.binder.expressions import ExpressionBinder


@dataclass(frozen=True)
class Ordering:
    """Bound ORDER BY, LIMIT and OFFSET; `hidden` columns are only there to order by."""

    keys: tuple[orders.OrderTerm, ...]
    hidden: tuple[Named, ...]
    limit: int | None
    offset: int
    at: Span | None

    def apply(self, plan: Plan) -> Plan:
        """The plan in order, without the hidden columns."""
        return self._shown(orders.Sort(plan, self.keys, self.limit, self.offset))

    def first_rows(self, plan: Plan) -> Plan:
        """The first rows of a result that changes, which has no order itself.

        Raises:
            Refused: All rows are wanted, in an order.
        """
        if self.limit is None and not self.offset:
            raise self.refusal()
        return self._shown(orders.FirstRows(plan, self.keys, (), self.limit, self.offset))

    def _shown(self, plan: Plan) -> Plan:
        hidden = {one.name for one in self.hidden}
        if not hidden:
            return plan
        kept = tuple(
            Named(f.name, Column(f.name, f.type)) for f in plan.schema if f.name not in hidden
        )
        return op.Map(plan, kept)

    def refusal(self) -> Refused:
        """Why ORDER BY and LIMIT have no meaning on a result that changes all the time."""
        msg = (
            "ORDER BY needs a LIMIT or a periodic RSTREAM: rows of a changing result have no order"
        )
        hint = (
            "Add LIMIT 10 for the first ten rows at every instant, or write RSTREAM(SELECT ... "
            "ORDER BY ...) and give all windows the same SLIDE."
        )
        return Refused(msg, hint=hint, at=self.at)


def bind_ordering(
    node: exp.Expr, binder: ExpressionBinder, columns: tuple[Named, ...]
) -> Ordering | None:
    """ORDER BY of a SELECT: result columns by name or number, or any expression over its input."""

    def other(key: exp.Expr) -> Expression:
        return binder.bind(key)

    return _ordering(node, columns, other)


def bind_result_ordering(node: exp.Expr, columns: tuple[Named, ...]) -> Ordering | None:
    """ORDER BY of a set operation: result columns by name or number only."""

    def other(key: exp.Expr) -> Expression:
        msg = "ORDER BY of a set operation takes columns of its result"
        hint = f"They are {', '.join(one.name for one in columns)}."
        raise Refused(msg, hint=hint, at=span_of(key))

    return _ordering(node, columns, other)


def _ordering(
    node: exp.Expr, columns: tuple[Named, ...], other: Callable[[exp.Expr], Expression]
) -> Ordering | None:
    order, limit, offset = (node.args.get(key) for key in ("order", "limit", "offset"))
    if not (order or limit or offset):
        return None
    keys, hidden = [], list[Named]()
    for item in order.expressions if order else ():
        key = item.this if isinstance(item, exp.Ordered) else item
        value = _result_column(key, columns) or other(key)
        same = [one for one in (*columns, *hidden) if one.expression == value]
        if same:
            value = Column(same[0].name, value.type)
        elif not isinstance(value, Column) or value.name not in {one.name for one in columns}:
            hidden.append(Named(f"order key {len(hidden) + 1}", value))
            value = Column(hidden[-1].name, value.type)
        descending = bool(item.args.get("desc"))
        nulls_first = item.args.get("nulls_first")
        keys.append(orders.OrderTerm(value, descending, bool(nulls_first)))
    at = next(span_of(clause) for clause in (order, limit, offset) if clause)
    return Ordering(tuple(keys), tuple(hidden), _count(limit), _count(offset) or 0, at)


def _result_column(key: exp.Expr, columns: tuple[Named, ...]) -> Expression | None:
    """A result column by its number or name."""
    if isinstance(key, exp.Literal) and not key.is_string:
        number = whole_number(key)
        if number is None or not 1 <= number <= len(columns):
            msg = f"ORDER BY {key.name}: the select list has {count(len(columns), 'column')}"
            raise QueryError(msg, at=span_of(key))
        return Column(columns[number - 1].name, columns[number - 1].expression.type)
    if isinstance(key, exp.Column) and not key.table:
        for one in columns:
            if one.name.lower() == key.name.lower():
                return Column(one.name, one.expression.type)
    return None


def _count(clause: exp.Expr | None) -> int | None:
    if clause is None:
        return None
    value = clause.expression
    number = whole_number(value) if isinstance(value, exp.Literal) else None
    if number is None:
        msg = "LIMIT and OFFSET take a whole number"
        raise QueryError(msg, at=span_of(clause))
    return number


def whole_number(literal: exp.Literal) -> int | None:
    """The value of an integer literal that a BIGINT holds."""
    text = literal.name
    whole = not literal.is_string and text.isdecimal() and len(text) < 20
    return int(text) if whole else None
