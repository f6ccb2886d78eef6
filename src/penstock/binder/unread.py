"""What sqlglot reads and Penstock does not: never ignored, always refused by name."""

from __future__ import annotations

from sqlglot import exp

from penstock.cql.syntax import DateLiteral, span_of
from penstock.errors import NotSupported

READ_PARTS: dict[type[exp.Expr], set[str]] = {
    exp.Column: {"table", "db"},
    exp.StrPosition: {"substr", "position"},
    exp.Literal: {"is_string"},
    exp.Cast: {"to", "_type"},
    exp.TryCast: {"to", "_type", "safe"},
    DateLiteral: {"to"},
    exp.Case: {"ifs", "default"},
    exp.Between: {"low", "high", "symmetric"},
    exp.In: {"query"},
    exp.Interval: {"unit"},
    exp.DPipe: {"safe"},
    exp.Div: {"typed", "safe"},
}
"""The parts of a parsed expression that the binder reads, besides its operands."""


ONE_LEVEL: dict[type[exp.Expr], str] = {
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
    exp.DPipe: "||",
}
"""Operators that sqlglot reads from left to right, and that have an order in Spark."""


def refuse_unread_parts(node: exp.Expr) -> None:
    """A part of an expression that the binder would overlook, or an order that it would.

    Raises:
        NotSupported: There is one.
    """
    first, second = ONE_LEVEL.get(type(node.this)), ONE_LEVEL.get(type(node))
    if first and second and first != second:
        msg = f"{first} beside {second} needs parentheses"
        raise NotSupported(msg, at=span_of(node))
    read = {"this", "expression", "expressions"} | READ_PARTS.get(type(node), set())
    unread = [key for key, value in node.args.items() if value and key not in read]
    if unread:
        msg = "this form of the expression is not supported"
        raise NotSupported(msg, at=span_of(node))


WORDS: dict[type[exp.Expr], str] = {
    exp.Window: "OVER (a window function)",
    exp.Star: "*",
    exp.Bracket: "a subscript in brackets",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
    exp.Concat: "a string right behind a string",
    exp.JSONExtract: "->",
    exp.Struct: "{...}",
    exp.Lambda: "->",
    exp.Tuple: "a list in parentheses",
    exp.Any: "ANY",
    exp.All: "ALL",
}
"""What users call the constructs of other languages that sqlglot reads."""


def called(node: exp.Expr) -> str:
    """What to call a construct that has no meaning here."""
    return WORDS.get(type(node)) or f"this ({type(node).__name__.lower()})"
