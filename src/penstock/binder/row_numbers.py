"""ROW_NUMBER() OVER (...), as far as it asks for the first rows of each group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.algebra.expressions import Call, Column, Expression, Literal, conjunction
from penstock.algebra.plan import Named, Plan
from penstock.algebra.types import BIGINT
from penstock.binder.bounds import SWAPPED, Bounds, bounds_of
from penstock.binder.expressions import refusal_of
from penstock.catalog.functions.window_functions import TOP
from penstock.cql.syntax import span_of
from penstock.errors import NotSupported, QueryError, Refused

if TYPE_CHECKING:
    from penstock.binder.expressions import ExpressionBinder
    from penstock.errors import Span


@dataclass(frozen=True)
class RowNumber:
    """The places of rows in their groups: by which expressions, and the column that tells them."""

    partition_by: tuple[Expression, ...]
    keys: tuple[orders.OrderTerm, ...]
    name: str
    at: Span | None

    @property
    def column(self) -> Column:
        """The number of a row, from 1."""
        return Column(self.name, BIGINT)


def window_functions(node: exp.Select) -> list[exp.Window]:
    """Everything with OVER in the select list and in QUALIFY."""
    clauses = [*node.expressions, *filter(None, [node.args.get("qualify")])]
    return [
        one
        for clause in clauses
        for one in clause.walk(prune=lambda each: isinstance(each, exp.Query))
        if isinstance(one, exp.Window)
    ]


def bind_row_number(
    functions: list[exp.Window], binder: ExpressionBinder, unique: str
) -> RowNumber | None:
    """The one numbering that a SELECT has.

    Raises:
        NotSupported: It has another function with OVER, or two numberings.
    """
    for one in functions:
        if not isinstance(one.this, exp.Anonymous) or one.this.name.lower() != "row_number":
            raise refusal_of(one)
    found = [_bound(one, binder, unique) for one in functions]
    if any((one.partition_by, one.keys) != (found[0].partition_by, found[0].keys) for one in found):
        msg = "a SELECT numbers its rows in one way"
        raise NotSupported(msg, hint="Number them again in a query around it.", at=found[1].at)
    return found[0] if found else None


def _bound(node: exp.Window, binder: ExpressionBinder, unique: str) -> RowNumber:
    if node.this.expressions:
        msg = "ROW_NUMBER takes no argument"
        raise QueryError(msg, at=span_of(node))
    parts = tuple(binder.bind(one) for one in node.args.get("partition_by") or ())
    order = node.args.get("order")
    keys = tuple(
        orders.OrderTerm(
            binder.bind(one.this), bool(one.args.get("desc")), bool(one.args.get("nulls_first"))
        )
        for one in (order.expressions if order else ())
    )
    return RowNumber(parts, keys, unique, span_of(node))


def numbered(
    plan: Plan, columns: tuple[Named, ...], number: RowNumber, qualify: exp.Expr | None
) -> Plan:
    """The select list over a plan, with the numbers of its rows; of these the ones that qualify.

    Rows that ORDER BY leaves alike are in the order of what is selected.
    """
    shown = tuple(one for one in columns if one.expression != number.column)
    wanted = [*number.partition_by, *(key.expression for key in number.keys)]
    known = {one.expression: one.name for one in reversed(shown)}
    hidden: list[Named] = []
    for one in wanted:
        if one not in known:
            hidden.append(Named(f"{number.name} key {len(hidden) + 1}", one))
            known[one] = hidden[-1].name
    keys = tuple(
        replace(key, expression=Column(known[key.expression], key.expression.type))
        for key in number.keys
    )
    parts = tuple(Column(known[one], one.type) for one in number.partition_by)
    first = orders.FirstRows(op.Map(plan, (*shown, *hidden)), keys, parts, None, 0, number.name)
    if qualify is not None:
        first = _qualified(first, number, qualify, columns)
    names = {one.name for one in shown}
    made = (
        Named(one.name, Column(one.name if one.name in names else number.name, one.expression.type))
        for one in columns
    )
    return op.Map(first, tuple(made))


def _qualified(
    first: orders.FirstRows, number: RowNumber, qualify: exp.Expr, columns: tuple[Named, ...]
) -> orders.FirstRows:
    """The first rows as QUALIFY bounds them.

    Raises:
        Refused: It says something else.
    """
    names = {one.name.lower() for one in columns if one.expression == number.column}
    bounds = bounds_of(qualify.this, names)
    if bounds is None:
        msg = "QUALIFY compares ROW_NUMBER() OVER (...) with a number, and nothing else"
        hint = f"For example QUALIFY {TOP}. Other conditions belong in WHERE or HAVING."
        raise Refused(msg, hint=hint, at=span_of(qualify))
    return bounded(first, bounds)


def bounded(first: orders.FirstRows, bounds: Bounds) -> orders.FirstRows:
    """The first rows within more bounds."""
    low = max(bounds.low, first.offset + 1)
    high = bounds.high
    if first.limit is not None:
        end = first.offset + first.limit
        high = end if high is None else min(high, end)
    limit = None if high is None else max(high - low + 1, 0)
    return replace(first, limit=limit, offset=low - 1)


def with_bounds(plan: Plan) -> Plan:
    """The plan with the numbers that its conditions ask for, wherever they are asked of them.

    Raises:
        Refused: Nobody says how many rows are to be numbered.
    """
    return _rewritten(plan, {})


def _rewritten(plan: Plan, known: dict[int, Plan]) -> Plan:
    if id(plan) in known:
        return known[id(plan)]
    made = plan
    if isinstance(plan, op.Filter):
        made = _filtered(plan)
    if isinstance(made, orders.FirstRows) and made.number is not None and made.limit is None:
        msg = "ROW_NUMBER numbers the first rows of each group: it is not said how many"
        hint = f"Write QUALIFY {TOP}, or compare it in the WHERE of the query right around it."
        raise Refused(msg, hint=hint)
    children = tuple(_rewritten(one, known) for one in made.children)
    same = all(old is new for old, new in zip(made.children, children, strict=True))
    known[id(plan)] = made if same else made.rebuild(children)
    return known[id(plan)]


def _filtered(plan: op.Filter) -> Plan:
    """A filter without the conditions that say how many rows are numbered below it."""
    left: list[Expression] = []
    below = plan.child
    for part in _conjuncts(plan.predicate):
        bounds = _bounds_in(part)
        narrowed = None if bounds is None else _narrowed(below, *bounds)
        if narrowed is None:
            left.append(part)
        else:
            below = narrowed
    return op.Filter(below, conjunction(left)) if left else below


def _conjuncts(condition: Expression) -> list[Expression]:
    if isinstance(condition, Call) and condition.function == "and":
        return [one for arg in condition.args for one in _conjuncts(arg)]
    return [condition]


def _bounds_in(part: Expression) -> tuple[str, Bounds] | None:
    """A column and what a condition says of it, if it compares it with a whole number."""
    if not isinstance(part, Call) or part.function not in SWAPPED:
        return None
    function, (left, right) = part.function, part.args
    if isinstance(left, Literal):
        function, left, right = SWAPPED[function], right, left
    if not (isinstance(left, Column) and isinstance(right, Literal)):
        return None
    if not isinstance(right.value, int) or isinstance(right.value, bool):
        return None
    return left.name, Bounds.of(function, right.value)


def _narrowed(plan: Plan, name: str, bounds: Bounds) -> Plan | None:
    """A plan in which a column is within bounds, where that is the number of its rows."""
    match plan:
        case orders.FirstRows() if plan.number == name:
            return bounded(plan, bounds)
        case op.Filter():
            # What is asked of numbers that are there changes no number.
            below = _narrowed(plan.child, name, bounds)
        case op.Alias():
            old = plan.child.schema.names[plan.schema.names.index(name)]
            below = _narrowed(plan.child, old, bounds)
        case op.Map():
            made = next(one.expression for one in plan.columns if one.name == name)
            if not isinstance(made, Column):
                return None
            below = _narrowed(plan.child, made.name, bounds)
        case _:
            return None
    return None if below is None else plan.rebuild((below,))
