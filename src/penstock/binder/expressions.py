"""Expressions as parsed to typed expressions of the algebra."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from penstock.algebra.expressions import NULL_LITERAL, Case, Expression, Literal
from penstock.algebra.types import (
    BOOLEAN,
    INTERVAL,
    NULL,
    STRING,
)
from penstock.binder.literals import date_literal, interval_literal, interval_sum, number_literal
from penstock.binder.types import type_of
from penstock.catalog.functions import (
    coerce,
    common_type,
    is_aggregate,
    is_scalar,
    resolve_call,
    resolve_cast,
)
from penstock.catalog.functions.window_functions import is_window_function, refused_as
from penstock.cql.syntax import EMITTERS, DateLiteral, enclosing_hint, span_of
from penstock.errors import (
    NotSupported,
    PenstockError,
    Refused,
    TypeMismatch,
    UnknownName,
    did_you_mean,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.binder.context import Context
    from penstock.binder.scope import Scope

BINARY: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.IntDiv: "div", exp.Mod: "%",
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
    exp.DPipe: "||", exp.Like: "like", exp.RegexpLike: "rlike",
    exp.BitwiseAnd: "&", exp.BitwiseOr: "|", exp.BitwiseXor: "^",
    exp.NullSafeEQ: "is not distinct from", exp.NullSafeNEQ: "is distinct from",
}  # fmt: skip
"""sqlglot's operators and the functions they stand for."""

CHAINS: dict[type[exp.Expr], str] = {exp.And: "and", exp.Or: "or"}
"""Operators that people write many of in a row."""


ONE_LEVEL: dict[type[exp.Expr], str] = {
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
    exp.DPipe: "||",
}
"""Operators that sqlglot reads from left to right, and that have an order in Spark."""

ELSEWHERE: dict[type[exp.Expr], str] = {
    exp.Star: "*",
    exp.Tuple: "a list in parentheses",
    exp.Any: "ANY",
    exp.All: "ALL",
}
"""Nodes that have a meaning in other places than in an expression."""


CALLED_WITHOUT_PARENTHESES = ("CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME")
"""SQL's functions that look like columns."""


EXTRACTED = {
    "YEAR": "year", "QUARTER": "quarter", "MONTH": "month", "WEEK": "weekofyear", "DAY": "day",
    "DAYOFWEEK": "dayofweek", "DOW": "dayofweek", "DAYOFYEAR": "dayofyear", "DOY": "dayofyear",
    "HOUR": "hour", "MINUTE": "minute", "SECOND": "second",
}  # fmt: skip
"""The parts of EXTRACT and the functions they stand for."""


class ExpressionBinder:
    """Binds the expressions of one clause; the clause's name is for messages."""

    def __init__(self, context: Context, scope: Scope, clause: str) -> None:
        self.context = context
        self.scope = scope
        self.clause = clause

    def bind(self, node: exp.Expr) -> Expression:
        """The typed expression of a parsed one.

        Raises:
            QueryError: An unknown name, a type that does not fit, or what has no meaning here.
        """
        try:
            return self._bind(node)
        except PenstockError as error:
            error.at = error.at or span_of(node)
            raise

    def bind_condition(self, node: exp.Expr) -> Expression:
        """An expression that must be BOOLEAN."""
        condition = self.bind(node)
        if condition.type not in (BOOLEAN, NULL):
            msg = f"{self.clause} takes a condition, not a value of type {condition.type}"
            raise TypeMismatch(msg, at=span_of(node))
        return coerce(condition, BOOLEAN)

    def _bind(self, node: exp.Expr) -> Expression:
        handler = HANDLERS.get(type(node))
        if type(node) in CHAINS:
            handler = ExpressionBinder._chain
        if type(node) in BINARY:
            handler = ExpressionBinder._binary
        if handler is not None:
            _refuse_mixture(node)
            return handler(self, node)
        if isinstance(node, exp.Exists | exp.Query):
            msg = f"a subquery cannot stand here in {self.clause}"
            hint = "[NOT] EXISTS and [NOT] IN stand alone or joined by AND in WHERE and HAVING."
            raise NotSupported(msg, hint=hint)
        if isinstance(node, exp.Window):
            raise refusal_of(node)
        name = ELSEWHERE.get(type(node)) or f"this ({type(node).__name__.lower()})"
        msg = f"{name} is not supported in {self.clause}"
        raise NotSupported(msg)

    def _call(self, name: str, *args: Expression) -> Expression:
        integer_division = self.context.settings.integer_division
        return resolve_call(name, args, integer_division=integer_division)

    def _chain(self, node: exp.Expr) -> Expression:
        """AND and OR, in chains of any length."""
        word = CHAINS[type(node)]

        def halved(parts: list[exp.Expr]) -> Expression:
            # Halved again and again: a long chain is not a deep tree.
            middle = len(parts) // 2
            if not middle:
                return self.bind(parts[0])
            return self._call(word, halved(parts[:middle]), halved(parts[middle:]))

        return halved(operands(node, type(node)))

    def _binary(self, node: exp.Expr) -> Expression:
        left, right = self.bind(node.this), self.bind(node.expression)
        name = BINARY[type(node)]
        if left.type == right.type == INTERVAL and name in ("+", "-"):
            return interval_sum(left, right, -1 if name == "-" else 1)
        return self._call(name, left, right)

    def _column(self, node: exp.Expr) -> Expression:
        assert isinstance(node, exp.Column)
        if isinstance(node.this, exp.Star):
            msg = "* stands for all columns, and only in the select list or COUNT(*)"
            raise Refused(msg)
        name = node.name
        if name.upper() in EMITTERS and not node.table:
            msg = f"{name.upper()} encloses the select list"
            raise Refused(msg, hint=enclosing_hint(name.upper()))
        try:
            return self.scope.resolve(name, node.table or None, span_of(node))
        except UnknownName:
            if name.upper() in CALLED_WITHOUT_PARENTHESES and not node.table:
                return self._call(name)
            raise

    def _function(self, node: exp.Expr) -> Expression:
        assert isinstance(node, exp.Anonymous)
        name = node.name
        if is_aggregate(name):
            return self._aggregate(node)
        if name.upper() in EMITTERS:
            msg = f"{name.upper()} encloses the whole query or select list"
            raise Refused(msg, hint=enclosing_hint(name.upper()))
        if not is_scalar(name):
            return self._call(name)  # says so, before anything is said of its arguments
        return self._call(name, *(self.bind(arg) for arg in node.expressions))

    def _aggregate(self, node: exp.Anonymous) -> Expression:
        """Overridden where aggregates are allowed."""
        msg = f"an aggregate ({node.name.upper()}) cannot stand in {self.clause}"
        hints = {
            "WHERE": "Conditions on aggregates belong in HAVING.",
            "an aggregate": "Compute the inner one in a subquery in FROM.",
        }
        raise Refused(msg, hint=hints.get(self.clause), at=span_of(node))

    def _literal(self, node: exp.Expr) -> Expression:
        assert isinstance(node, exp.Literal)
        return Literal(node.name, STRING) if node.is_string else number_literal(node.name)

    def _cast(self, node: exp.Expr) -> Expression:
        target = type_of(node.args["to"], span_of(node.args["to"]))
        return resolve_cast(self.bind(node.this), target)

    def _case(self, node: exp.Expr) -> Expression:
        subject = node.args.get("this")
        branches = []
        for branch in node.args["ifs"]:
            when = exp.EQ(this=subject.copy(), expression=branch.this) if subject else branch.this
            branches.append((self.bind_condition(when), self.bind(branch.args["true"])))
        default = node.args.get("default")
        otherwise = self.bind(default) if default else NULL_LITERAL
        to = otherwise.type
        for _, result in branches:
            both = common_type(to, result.type)
            if both is None:
                msg = f"the results of CASE have different types: {to} and {result.type}"
                raise TypeMismatch(msg, hint="Write CAST around one of them.")
            to = both
        results = tuple((condition, coerce(result, to)) for condition, result in branches)
        return Case(results, coerce(otherwise, to))

    def _between(self, node: exp.Expr) -> Expression:
        value = self.bind(node.this)
        low, high = self.bind(node.args["low"]), self.bind(node.args["high"])
        return self._call("and", self._call(">=", value, low), self._call("<=", value, high))

    def _in(self, node: exp.Expr) -> Expression:
        if node.args.get("query"):
            msg = f"IN (subquery) cannot stand here in {self.clause}"
            hint = "It stands alone or joined by AND in WHERE and HAVING."
            raise NotSupported(msg, hint=hint)
        if not node.expressions:
            msg = "the list of IN is empty"
            raise TypeMismatch(msg)
        values = (self.bind(one) for one in node.expressions)
        return self._call("in", self.bind(node.this), *values)

    def _is(self, node: exp.Expr) -> Expression:
        what = node.expression
        negated = isinstance(what, exp.Not)
        what = what.this if negated else what
        if not isinstance(what, exp.Null | exp.Boolean):
            msg = "IS takes NULL, TRUE or FALSE"
            raise TypeMismatch(msg, at=span_of(what))
        words = "null" if isinstance(what, exp.Null) else str(bool(what.this)).lower()
        return self._call(f"is {'not ' if negated else ''}{words}", self.bind(node.this))

    def _not(self, node: exp.Expr) -> Expression:
        inner = node.this
        # IS NOT NULL arrives as NOT (x IS NULL); as one test it reads as it was written.
        if isinstance(inner, exp.Is):
            return self._is(exp.Is(this=inner.this, expression=exp.Not(this=inner.expression)))
        return self._call("not", self.bind(inner))

    def _ilike(self, node: exp.Expr) -> Expression:
        left, right = self.bind(node.this), self.bind(node.expression)
        return self._call("like", self._call("lower", left), self._call("lower", right))

    def _escape(self, node: exp.Expr) -> Expression:
        like = node.this
        if not isinstance(like, exp.Like):
            msg = "ESCAPE belongs behind LIKE"
            raise NotSupported(msg)
        parts = (self.bind(one) for one in (like.this, like.expression, node.expression))
        return self._call("like", *parts)

    def _negative(self, node: exp.Expr) -> Expression:
        """A minus in front of a number is part of it: BIGINT's smallest value has no positive."""
        inner = node.this
        if isinstance(inner, exp.Literal) and not inner.is_string:
            return number_literal("-" + inner.name)
        return self._call("negate", self.bind(inner))

    def _position(self, node: exp.Expr) -> Expression:
        """POSITION('a' IN text) as well as POSITION('a', text)."""
        return self._call("position", self.bind(node.args["substr"]), self.bind(node.this))

    def _extract(self, node: exp.Expr) -> Expression:
        part = EXTRACTED.get(node.name.upper())
        if part is None or not isinstance(node.this, exp.Var | exp.Literal):
            msg = f"EXTRACT has no part {node.name.upper()}"
            otherwise = f"The parts are {', '.join(EXTRACTED)}."
            raise UnknownName(msg, hint=did_you_mean(node.name, EXTRACTED, otherwise=otherwise))
        return self._call(part, self.bind(node.expression))

    def _coalesce(self, node: exp.Expr) -> Expression:
        return self._call("coalesce", *map(self.bind, (node.this, *node.expressions)))


def _refuse_mixture(node: exp.Expr) -> None:
    first, second = ONE_LEVEL.get(type(node.this)), ONE_LEVEL.get(type(node))
    if first and second and first != second:
        msg = f"{first} beside {second} needs parentheses"
        raise NotSupported(msg, at=span_of(node))


def operands(node: exp.Expr, connector: type[exp.Expr]) -> list[exp.Expr]:
    """The parts of a chain such as a AND b AND c, parentheses around parts of it included."""
    found: list[exp.Expr] = []
    waiting = [node]
    while waiting:
        part = inner = waiting.pop()
        while isinstance(inner, exp.Paren):
            inner = inner.this
        if isinstance(inner, connector):
            waiting += [inner.expression, inner.this]
        else:
            found.append(part)
    return found


HANDLERS: dict[type[exp.Expr], Callable[[ExpressionBinder, exp.Expr], Expression]] = {
    exp.Column: ExpressionBinder._column,
    exp.Anonymous: ExpressionBinder._function,
    exp.Literal: ExpressionBinder._literal,
    exp.Boolean: lambda _, node: Literal(bool(node.this), BOOLEAN),
    exp.Null: lambda _, node: NULL_LITERAL,
    exp.Paren: lambda self, node: self.bind(node.this),
    exp.Neg: ExpressionBinder._negative,
    exp.Not: ExpressionBinder._not,
    exp.BitwiseNot: lambda self, node: self._call("~", self.bind(node.this)),
    exp.Is: ExpressionBinder._is,
    exp.Cast: ExpressionBinder._cast,
    exp.TryCast: ExpressionBinder._cast,
    exp.Case: ExpressionBinder._case,
    exp.Between: ExpressionBinder._between,
    exp.In: ExpressionBinder._in,
    exp.Interval: lambda _, node: interval_literal(node),
    exp.ILike: ExpressionBinder._ilike,
    exp.Escape: ExpressionBinder._escape,
    exp.Coalesce: ExpressionBinder._coalesce,
    exp.Extract: ExpressionBinder._extract,
    exp.StrPosition: ExpressionBinder._position,
    DateLiteral: lambda _, node: date_literal(node),
}


def refusal_of(node: exp.Window) -> NotSupported:
    """Why a function with OVER has no meaning where it stands."""
    function = node.this
    name = function.name if isinstance(function, exp.Anonymous) else ""
    msg = "OVER (a window function) is not part of the language here"
    hint = "Use a window in brackets and GROUP BY."
    if is_window_function(name):
        msg, hint = refused_as(name)
    return NotSupported(msg, hint=hint, at=span_of(node))
