"""EMIT FINAL: where it may stand, and what it may be asked of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.cql.syntax import FinalClause, span_of
from penstock.errors import Refused

if TYPE_CHECKING:
    from sqlglot import exp

    from penstock.algebra.plan import Plan
    from penstock.errors import Span


def refuse_final_inside(node: exp.Expr, *, view: bool) -> None:
    """It says how a query sends its results, so it belongs to a whole query.

    Raises:
        Refused: A view, a subquery or a branch of a set operation has it.
    """
    clauses = [one for one in node.find_all(FinalClause) if view or one.parent is not node]
    if not clauses:
        return
    at = span_of(clauses[0])
    if view:
        msg = "a view cannot EMIT FINAL: it is read by queries, and sends nothing itself"
        raise Refused(msg, hint="Write it at the end of the query that reads the view.", at=at)
    msg = "EMIT FINAL belongs to the whole query, not to a part of it"
    raise Refused(msg, hint="Write it once, at the very end.", at=at)


def bind_final(node: exp.Expr, plan: Plan) -> Plan:
    """The plan of a query, with its EMIT FINAL if it has one.

    Raises:
        Refused: What the query sends is final as it is.
    """
    clause = node.args.get("final")
    if clause is None:
        return plan
    at = span_of(clause)
    if node.args.get("output"):
        word = "OUTPUT"
        raise _needless(word, at)
    return final_of(plan, at)


def final_of(plan: Plan, at: Span | None) -> op.Final:
    """The plan whose results are sent when their intervals are closed.

    Raises:
        Refused: The plan sends a stream.
    """
    if isinstance(plan, st.RelationToStream):
        raise _needless(type(plan).__name__.upper(), at)
    return op.Final(plan)


def _needless(word: str, at: Span | None) -> Refused:
    msg = f"EMIT FINAL has no meaning with {word}: its rows are final when they are sent"
    return Refused(msg, hint="Leave one of them out.", at=at)
