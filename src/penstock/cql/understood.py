"""The parts of sqlglot's syntax tree that have a meaning here; every other part is refused by name.

sqlglot reads the SQL of thirty systems, this language is a part of it. A part of a node that is
set and not declared here would be read and dropped: the answer would be that of another query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from penstock.cql import syntax
from penstock.cql.syntax import span_of
from penstock.errors import NotSupported

if TYPE_CHECKING:
    from penstock.errors import Span


def _parts(names: str) -> frozenset[str]:
    return frozenset(names.split())


_ONE, _TWO, _LIST = _parts("this"), _parts("this expression"), _parts("expressions")
_TABLE = _parts("this alias window")
_QUERY = _parts("with_ output final changes")
_ENDS = _parts("order limit offset intervals")
_DISTINCT = _parts("distinct")

_BINARY = (
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.DPipe, exp.And, exp.Or,
    exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ,
    exp.Like, exp.ILike, exp.RegexpLike, exp.Escape, exp.Is,
    exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.Filter, exp.Extract,
)  # fmt: skip
_UNARY = (
    exp.From, exp.Where, exp.Having, exp.Qualify,
    exp.Paren, exp.Neg, exp.Not, exp.BitwiseNot, exp.Boolean,
    exp.Exists, exp.Any, exp.All, exp.Var, exp.DataTypeParam,
)  # fmt: skip

_SETS = (exp.Union, exp.Except, exp.Intersect, syntax.UnionMax, syntax.StrictExcept)

UNDERSTOOD: dict[type[exp.Expr], frozenset[str]] = {
    # Whole queries.
    exp.Select: _QUERY
    | _ENDS
    | _parts("expressions distinct from_ joins where group having qualify"),
    **dict.fromkeys((exp.Union, exp.Except, exp.Intersect), _QUERY | _ENDS | _TWO | _DISTINCT),
    **dict.fromkeys((syntax.UnionMax, syntax.StrictExcept), _QUERY | _ENDS | _TWO),
    exp.Subquery: _QUERY | _TABLE | _parts("joins"),
    syntax.Emit: _QUERY | _TABLE | _parts("joins emit restore"),
    syntax.EmitProjection: _LIST | _parts("emit restore distinct"),
    syntax.FinalClause: frozenset(),
    syntax.ChangesClause: frozenset(),
    syntax.IntervalsClause: _parts("length"),
    syntax.WindowClause: _parts("syntax"),
    exp.With: _LIST,
    exp.CTE: _parts("this alias"),
    # Clauses.
    exp.Table: _TABLE | _parts("joins"),
    exp.TableAlias: _parts("this columns"),
    exp.Join: _parts("this on using side kind"),
    exp.Distinct: _LIST | _parts("on"),
    exp.Group: _LIST,
    exp.Window: _parts("this partition_by order"),
    exp.Order: _LIST,
    exp.Ordered: _parts("this desc nulls_first"),
    exp.Limit: _parts("expression"),
    exp.Offset: _parts("expression"),
    # Expressions.
    **dict.fromkeys(_BINARY, _TWO),
    **dict.fromkeys(_UNARY, _ONE),
    exp.Null: frozenset(),
    exp.Star: frozenset(),
    exp.Alias: _parts("this alias"),
    exp.Identifier: _ONE,
    exp.Column: _parts("this table"),
    exp.Literal: _parts("this is_string"),
    syntax.DateLiteral: _parts("this to"),
    exp.Interval: _parts("this unit"),
    exp.Tuple: _LIST,
    exp.Anonymous: _parts("this expressions"),
    exp.Cast: _parts("this to"),
    exp.TryCast: _parts("this to"),
    exp.DataType: _parts("this expressions nested"),
    exp.Case: _parts("this ifs default"),
    exp.If: _parts("this true"),
    exp.Between: _parts("this low high"),
    exp.In: _parts("this expressions query"),
    exp.StrPosition: _parts("this substr"),
    exp.Coalesce: _parts("this expressions"),
}
"""The parts of each node that the binder gives a meaning, or refuses itself with a better reason.

`tests/properties/test_nothing_is_dropped.py` holds an example for each, in which the answer would
be another one without the part.
"""

SAYS_NOTHING: dict[tuple[type[exp.Expr], str], object] = {
    (exp.DPipe, "safe"): True,
    (exp.Window, "over"): "OVER",
    (exp.TryCast, "safe"): True,
    (exp.Identifier, "quoted"): True,
}
"""Marks of the dialect that stand at every such node: with this value they add nothing.

Names are the same in backquotes and without.
"""

ADDED: dict[type[exp.Expr], frozenset[str]] = {
    **dict.fromkeys((exp.Select, *_SETS), _parts("intervals output final changes")),
    **dict.fromkeys((exp.Subquery, syntax.Emit), _parts("output final changes window")),
    exp.Table: _parts("window"),
}
"""Parts that this dialect's parser hangs on nodes of sqlglot."""

BY_NUMBER = "Write LIMIT and a number of rows."
BY_KEY = "For the first rows of each key write [PARTITION BY key ROWS n], or MIN and MAX per group."
BY_POSITION = "Columns are matched by their position; write both select lists in one order."
GROUPINGS = "Write one query per grouping."
WINDOW_HINT = "Use a window in brackets and GROUP BY."
JOINS = "Write [INNER | LEFT | RIGHT | FULL] JOIN ... ON or USING, or WHERE [NOT] EXISTS."

PART_NAMES: dict[tuple[type[exp.Expr], str], tuple[str, str | None]] = {
    (exp.Ordered, "with_fill"): ("WITH FILL", None),
    (exp.Window, "spec"): ("a frame (ROWS or RANGE) in OVER", WINDOW_HINT),
    (exp.Window, "alias"): ("a WINDOW clause", WINDOW_HINT),
    (exp.Group, "cube"): ("GROUP BY WITH CUBE", GROUPINGS),
    (exp.Group, "rollup"): ("GROUP BY WITH ROLLUP", GROUPINGS),
    (exp.Group, "totals"): ("GROUP BY WITH TOTALS", GROUPINGS),
    (exp.Group, "all"): ("GROUP BY ALL", "Name the columns to group by."),
    (exp.Join, "method"): ("{} JOIN", JOINS),
    (exp.Join, "nearest"): ("ASOF JOIN", JOINS),
    (exp.Join, "match_condition"): ("MATCH_CONDITION", JOINS),
    (exp.Table, "db"): ("a dot in a name of FROM", "Names in FROM have one part."),
    (exp.Column, "db"): (
        "a second dot in a column's name",
        "A column has at most one name in front of it.",
    ),
    (exp.Between, "symmetric"): ("BETWEEN SYMMETRIC", "Write the smaller value first."),
    (exp.Cast, "default"): ("CAST with DEFAULT", "Use COALESCE: a failed CAST is NULL."),
    (exp.Star, "ilike"): ("* with ILIKE", "Name the columns."),
    **{
        (one, part): (f"{word} behind a query in parentheses", "Write it inside the parentheses.")
        for one in (exp.Subquery, syntax.Emit)
        for part, word in {
            "where": "WHERE", "group": "GROUP BY", "having": "HAVING",
            "order": "ORDER BY", "limit": "LIMIT", "offset": "OFFSET",
            "intervals": "a clause about intervals",
        }.items()
    },
}  # fmt: skip
"""Users' words for parts that they may write and that are refused, and what to write instead."""

NODE_NAMES: dict[type[exp.Expr], tuple[str, str | None]] = {
    exp.Bracket: ("a subscript in brackets", None),
    exp.BitwiseLeftShift: ("<<", None),
    exp.BitwiseRightShift: (">>", None),
    exp.Concat: ("a string right behind a string", "Write || between them."),
    exp.JSONExtract: ("->", None),
    exp.Struct: ("{...}", None),
    exp.Lambda: ("->", None),
    exp.Lateral: ("LATERAL", "FROM takes streams, relations, views and subqueries."),
    exp.Unnest: ("UNNEST", "FROM takes streams, relations, views and subqueries."),
    exp.Values: ("VALUES", "FROM takes streams, relations, views and subqueries."),
    exp.GroupingSets: ("GROUP BY GROUPING SETS", GROUPINGS),
    exp.Cube: ("GROUP BY CUBE", GROUPINGS),
    exp.Rollup: ("GROUP BY ROLLUP", GROUPINGS),
    exp.PropertyEQ: (":=", None),
    exp.Placeholder: ("a parameter", None),
    exp.WithinGroup: ("WITHIN GROUP", None),
    exp.IgnoreNulls: ("IGNORE NULLS", "Aggregates leave NULL out."),
    exp.RespectNulls: ("RESPECT NULLS", "Aggregates leave NULL out."),
    exp.Collate: ("COLLATE", None),
    exp.AtTimeZone: ("AT TIME ZONE", None),
    exp.StrToDate: ("CAST with FORMAT", "Use TO_DATE or TO_TIMESTAMP."),
    exp.StrToTime: ("CAST with FORMAT", "Use TO_DATE or TO_TIMESTAMP."),
}
"""Users' words for the constructs of other languages that sqlglot reads."""


def refuse_what_would_be_dropped(root: exp.Expr, at: Span | None = None) -> None:
    """A node or a part of a node, anywhere in a tree, that nothing here would look at.

    Raises:
        NotSupported: There is one; it is called by its name.
    """
    for node in root.walk():
        understood = UNDERSTOOD.get(type(node))
        if understood is None:
            name, hint = NODE_NAMES.get(type(node), (_plain_name(node), None))
            raise _refusal(name, hint, span_of(node) or at)
        for part, value in node.args.items():
            if is_set(value) and part not in understood and not _says_nothing(node, part, value):
                name, hint = _part_name(node, part)
                raise _refusal(name.format(value), hint, _place(value) or span_of(node) or at)


def is_set(value: object) -> bool:
    """A part of a node that holds something that was written."""
    return value is not None and value is not False and value != [] and value != ""


def _says_nothing(node: exp.Expr, part: str, value: object) -> bool:
    return SAYS_NOTHING.get((type(node), part)) == value


def _refusal(name: str, hint: str | None, at: Span | None) -> NotSupported:
    return NotSupported(f"{name} is not part of the language here", hint=hint, at=at)


def _part_name(node: exp.Expr, part: str) -> tuple[str, str | None]:
    known = PART_NAMES.get((type(node), part))
    if known is not None:
        return known
    word = part.strip("_").replace("_", " ").upper()
    return f"{word} of {type(node).__name__.upper()}", None


def _plain_name(node: exp.Expr) -> str:
    return f"this ({type(node).__name__.lower()})"


def _place(value: object) -> Span | None:
    """The place of a part, if it is a node with a place."""
    first = value[0] if isinstance(value, list) and value else value
    return span_of(first) if isinstance(first, exp.Expr) else None
