"""EMIT FINAL and EMIT CHANGES: where they may stand, and what they may be asked of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.emptiness import holds_at_ends
from penstock.algebra.expressions import Column, Expression
from penstock.algebra.plan import Plan, different_nodes
from penstock.algebra.windows import Hopping
from penstock.cql.syntax import ChangesClause, FinalClause, span_of
from penstock.errors import Refused

if TYPE_CHECKING:
    from sqlglot import exp

    from penstock.errors import Span

BY_WINDOW = "GROUP BY window_start, window_end"


def refuse_final_inside(node: exp.Expr, *, view: bool) -> None:
    """They say how a query sends its results, so they belong to a whole query.

    Raises:
        Refused: A view, a subquery or a branch of a set operation has one of them.
    """
    clauses = node.find_all(FinalClause, ChangesClause)
    inside = [one for one in clauses if view or one.parent is not node]
    if not inside:
        return
    at = span_of(inside[0])
    word = "EMIT FINAL" if isinstance(inside[0], FinalClause) else "EMIT CHANGES"
    if view:
        msg = f"a view cannot {word}: it is read by queries, and sends nothing itself"
        raise Refused(msg, hint="Write it at the end of the query that reads the view.", at=at)
    msg = f"{word} belongs to the whole query, not to a part of it"
    raise Refused(msg, hint="Write it once, at the very end.", at=at)


def bind_final(node: exp.Expr, plan: Plan) -> Plan:
    """The plan of a query as it sends its results: over windows [start, end), at their ends.

    Raises:
        Refused: What the query sends is final as it is, or its changes have no meaning.
    """
    final, changes = node.args.get("final"), node.args.get("changes")
    if changes is not None:
        return _changing(plan, span_of(changes))
    if st.hopping_windows(plan):
        return at_ends(plan, span_of(node))
    if final is None:
        return plan
    at = span_of(final)
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


def at_ends(plan: Plan, at: Span | None) -> st.AtEnds:
    """The plan that sends the answer of each window [start, end) at its end.

    Raises:
        Refused: The result has rows at other times as well.
    """
    if not holds_at_ends(plan):
        msg = "some rows of this result belong to no TUMBLE or HOP window, so it is never complete"
        hint = "Give each of its parts such a window, or end the query with EMIT CHANGES."
        raise Refused(msg, hint=hint, at=at)
    return st.AtEnds(plan)


def _changing(plan: Plan, at: Span | None) -> Plan:
    """The query over windows that are open: what they hold so far."""
    windows = st.hopping_windows(plan)
    if not windows:
        msg = "EMIT CHANGES goes with TUMBLE and HOP; any other result is its changes as it is"
        raise Refused(msg, hint="Leave EMIT CHANGES out.", at=at)
    if max(one.most for one in windows) > 1 and (mixed := _mixing(plan)):
        msg = f"several windows are open at a time, and {mixed} puts their rows together"
        raise Refused(msg, hint=f"Add {BY_WINDOW}.", at=at)
    return st.opened(plan)


def _mixing(plan: Plan) -> str | None:
    """An aggregate over rows of several windows that are open at a time."""
    for node in different_nodes(plan):
        if isinstance(node, op.Aggregate) and st.hopping_windows(node):
            keys = (one.expression for one in node.keys)
            if not any(_tells_window(one, node.child) for one in keys):
                return ", ".join(str(call) for _, call in node.aggregates) or "GROUP BY"
    return None


def _tells_window(key: Expression, over: Plan) -> bool:
    """A key that is the start or end of the windows."""
    if not isinstance(key, Column):
        return False
    match over:
        case st.Window(_, Hopping() as spec):
            return key.name in spec.added
        case op.Map() | op.Aggregate():
            columns = over.columns if isinstance(over, op.Map) else over.keys
            made = (one.expression for one in columns if one.name == key.name)
            return any(_tells_window(one, over.child) for one in made)
        case op.Alias():
            below = over.child.schema
            key = Column(below.names[over.schema.names.index(key.name)], key.of)
    inputs = [one for one in over.children if key.name in one.schema.names]
    return any(_tells_window(key, one) for one in inputs)
