"""Whole queries: set operations, ISTREAM and its kin, ORDER BY, OUTPUT, WITH."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.expressions import Column
from penstock.algebra.plan import Named, walk
from penstock.binder.checks import check_depth, check_units, endless_answer, unbounded_state
from penstock.binder.context import Context
from penstock.binder.final import bind_final, refuse_final_inside
from penstock.binder.internal import refuse_internal
from penstock.binder.intervals import bind_intervals
from penstock.binder.nrr import is_nrr, refuse_unread_nrr
from penstock.binder.ordering import Ordering, bind_result_ordering
from penstock.binder.row_numbers import with_bounds
from penstock.binder.selects import SelectBinder
from penstock.binder.set_operations import aligned
from penstock.binder.windows import bind_window
from penstock.cql.syntax import Emit, EmitProjection, StrictExcept, UnionMax, span_of
from penstock.cql.understood import refuse_what_would_be_dropped
from penstock.errors import NotSupported, QueryError, Refused

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from penstock.algebra.plan import Plan
    from penstock.catalog.definitions import Catalog
    from penstock.catalog.settings import Settings
    from penstock.cql.syntax import WindowSyntax


@dataclass(frozen=True)
class BoundQuery:
    """The plan of a query, and what its author should know about it.

    What a query `is_endless` keeps grows for ever. `reads` has the queries that it names.
    """

    plan: Plan
    warnings: tuple[str, ...]
    is_endless: bool = False
    reads: tuple[str, ...] = ()


def bind_query(
    node: exp.Expr,
    catalog: Catalog,
    settings: Settings,
    *,
    view: bool = False,
    tables: Collection[str] | None = None,
) -> BoundQuery:
    """The logical plan of a parsed query.

    Args:
        node: The query.
        catalog: The names it may use.
        settings: What it is bound under.
        view: Whether it is a view.
        tables: Of a question, the queries whose results it reads as they are.

    Raises:
        QueryError: The query names what does not exist, or means what no continuous query can.
    """
    refuse_what_would_be_dropped(node)
    refuse_final_inside(node, view=view)
    context = Context(catalog, settings, tables)
    plan = QueryBinder(context, None if view else node).bind(node)
    # The query that names a view may say how many of its rows are numbered.
    plan = plan if view else bind_final(node, with_bounds(plan))
    check_depth(plan)
    check_units(plan)
    if not (view and is_nrr(plan)):
        # A view over a non-retroactive relation is one, for the queries that name the view.
        refuse_unread_nrr(plan)
    if tables is not None:
        # A question ends when it is answered.
        return BoundQuery(plan, tuple(dict.fromkeys(context.warnings)))
    kept = unbounded_state(plan) or ([] if view else endless_answer(plan))
    warnings = [*context.warnings, *kept]
    return BoundQuery(plan, tuple(dict.fromkeys(warnings)), bool(kept), tuple(context.reads))


class QueryBinder:
    """Binds the queries of one statement."""

    def __init__(self, context: Context, whole: exp.Expr | None = None) -> None:
        self.context = context
        self._whole = whole
        self.selects = SelectBinder(context, self)

    def bind(self, node: exp.Expr) -> Plan:
        """The plan of a query, whatever its form."""
        _refuse_table_parts(node)
        return self.bind_table(node)

    def bind_table(self, node: exp.Expr) -> Plan:
        """The plan of a query in FROM, where its window and alias are bound."""
        with self._names_of(node):
            return self._output(self._sent(node), node)

    @contextmanager
    def _names_of(self, node: exp.Expr) -> Iterator[None]:
        """The names that the WITH of a query gives end with the query."""
        outside = self.context.common_tables
        try:
            self._bind_common_tables(node)
            yield
        finally:
            self.context.common_tables = outside

    def _bind_common_tables(self, node: exp.Expr) -> None:
        """WITH: each subquery sees those before it."""
        with_ = node.args.get("with_")
        tables = with_.expressions if with_ else []
        for number, table in enumerate(tables):
            if table.alias.lower() in {one.alias.lower() for one in tables[:number]}:
                msg = f'WITH has two subqueries called "{table.alias}"'
                raise QueryError(msg, at=span_of(table.args["alias"]))
            plan = self.bind(table.this)
            known = {**self.context.common_tables, table.alias.lower(): plan}
            self.context.common_tables = known

    def _sent(self, node: exp.Expr) -> Plan:
        """The query's result, or the stream it sends out."""
        if isinstance(node, Emit):
            plan, ordering = self._relation(node.this)
            return self._to_stream(node, plan, ordering)
        if isinstance(node, exp.Subquery):
            return self.bind(node.this)
        plan, ordering = self._unsent(node)
        projection = _emit_projection(node)
        if projection is not None:
            return self._to_stream(projection, plan, ordering)
        return plan if ordering is None else self._ordered(plan, ordering, node)

    def _ordered(self, plan: Plan, ordering: Ordering, node: exp.Expr) -> Plan:
        """The result of a window [start, end) in order; of any other, its first rows."""
        is_sent = node is self._whole and not node.args.get("changes")
        is_asked = self.context.tables is not None
        if is_sent and (is_asked or st.hopping_windows(plan)):
            return ordering.apply(plan)
        return ordering.first_rows(plan)

    def _relation(self, node: exp.Expr) -> tuple[Plan, Ordering | None]:
        """The result of a query inside ISTREAM(...) or parentheses, with its ORDER BY apart."""
        sends = isinstance(node, Emit) or _emit_projection(node) is not None
        if sends or node.args.get("output"):
            return self.bind(node), None
        with self._names_of(node):
            if isinstance(node, exp.Subquery):
                _refuse_table_parts(node)
                return self._relation(node.this)
            return self._unsent(node)

    def _unsent(self, node: exp.Expr) -> tuple[Plan, Ordering | None]:
        """A SELECT or set operation as a relation, without its WITH, OUTPUT and emission."""
        if isinstance(node, exp.Select):
            plan, ordering = self.selects.bind(node)
            return bind_intervals(node, plan), ordering
        if isinstance(node, exp.SetOperation):
            plan, ordering = self._set_operation(node)
            return bind_intervals(node, plan), ordering
        msg = "this is not a query"
        raise NotSupported(msg, at=span_of(node))

    def _to_stream(self, node: exp.Expr, plan: Plan, ordering: Ordering | None) -> Plan:
        word, restore = node.args["emit"], bool(node.args.get("restore"))
        at = span_of(node)
        if isinstance(plan, st.RelationToStream):
            msg = f"{word} of a stream: the query inside already sends out a stream"
            raise Refused(msg, hint="Leave one of them out.", at=at)
        periodic = st.slide_of(plan) is not None
        if ordering is not None:
            if restore:
                msg = "ORDER BY and LIMIT do not go with RESTORE"
                raise Refused(msg, hint="Leave RESTORE out.", at=ordering.at)
            in_order = word == "RSTREAM" and (periodic or bool(st.hopping_windows(plan)))
            plan = ordering.apply(plan) if in_order else ordering.first_rows(plan)
        if restore and word == "DSTREAM":
            msg = "RESTORE goes with ISTREAM and RSTREAM"
            raise Refused(msg, at=at)
        if restore and not periodic:
            msg = (
                "RESTORE needs a periodic query: it brings back what comes and goes between slides"
            )
            hint = "Give all windows the same SLIDE, or leave RESTORE out."
            raise Refused(msg, hint=hint, at=at)
        if word == "DSTREAM":
            return st.DStream(plan)
        return st.IStream(plan, restore) if word == "ISTREAM" else st.RStream(plan, restore)

    def _output(self, plan: Plan, node: exp.Expr) -> Plan:
        """OUTPUT [window]: a window over what the query sends out."""
        clause = node.args.get("output")
        if clause is None:
            return plan
        syntax: WindowSyntax = clause.syntax
        if syntax.internal:
            msg = "an OUTPUT window cannot be INTERNAL"
            raise Refused(msg, at=syntax.span)
        if isinstance(plan, st.IStream | st.RStream) and plan.restore:
            msg = "RESTORE and OUTPUT do not go together"
            hint = "It is not clear which restored rows an output window would hold."
            raise Refused(msg, hint=hint, at=syntax.span)
        if not isinstance(plan, st.RelationToStream):
            self._warn_about_output(plan)
            plan = st.IStream(plan) if st.slide_of(plan) is None else st.RStream(plan)
        return bind_window(syntax, plan, "the output")

    def _warn_about_output(self, plan: Plan) -> None:
        negation = (op.AntiJoin, op.Difference, op.StrictDifference)
        if any(isinstance(one, op.Distinct) for one in walk(plan)):
            self.context.warnings.append(
                "OUTPUT over DISTINCT may hold a row twice: withdrawals do not shorten it"
            )
        if any(isinstance(one, negation) for one in walk(plan)):
            self.context.warnings.append(
                "OUTPUT over negation may hold rows that no longer qualify: "
                "withdrawals do not shorten it"
            )

    def _set_operation(self, node: exp.SetOperation) -> tuple[Plan, Ordering | None]:
        branches = _branches(node)
        plans = aligned([self.bind(one) for one in branches], span_of(node))
        distinct = node.args.get("distinct")
        if distinct or not isinstance(node, exp.Union):
            for plan in plans:
                refuse_internal(plan, _words(node), node)
        plan = _combined(node, plans)
        columns = tuple(Named(f.name, Column(f.name, f.type)) for f in plan.schema)
        return plan, bind_result_ordering(node, columns)


def _emit_projection(node: exp.Expr) -> EmitProjection | None:
    """The ISTREAM(...) around a select list, None if there is none."""
    items = node.expressions if isinstance(node, exp.Select) else []
    return items[0] if items and isinstance(items[0], EmitProjection) else None


def _refuse_table_parts(node: exp.Expr) -> None:
    """A window, an alias and joins belong to what stands in FROM."""
    words = {"window": "a window", "alias": "an alias", "joins": "JOIN"}
    for part, word in words.items() if isinstance(node, exp.Subquery) else ():
        if node.args.get(part):
            msg = f"{word} behind a query in parentheses has a meaning in FROM only"
            raise Refused(msg, hint="Write SELECT * FROM (...) around it.", at=span_of(node))


OF_A_WHOLE = ("order", "limit", "offset", "intervals", "output", "with_")
"""Parts that a branch has only as a whole query, which is not taken apart."""

BAGS: dict[type[exp.Expr], type[op.BagOperation]] = {
    exp.Except: op.Difference,
    exp.Intersect: op.Intersection,
    UnionMax: op.MaxUnion,
    StrictExcept: op.StrictDifference,
}


def _branches(node: exp.SetOperation) -> list[exp.Expr]:
    """The operands; a chain of UNION is one union of many, DISTINCT on top being enough."""
    operands = [node.expression]
    left: exp.Expr = node.this
    while (
        isinstance(node, exp.Union)
        and isinstance(left, exp.Union)
        and (node.args.get("distinct") or not left.args.get("distinct"))
        and not any(left.args.get(key) for key in OF_A_WHOLE)
    ):
        operands.append(left.expression)
        left = left.this
    return [left, *reversed(operands)]


def _combined(node: exp.SetOperation, plans: list[Plan]) -> Plan:
    distinct = bool(node.args.get("distinct"))
    if isinstance(node, exp.Union):
        union = op.UnionAll(tuple(plans))
        return op.Distinct(union) if distinct else union
    # SQL's EXCEPT and INTERSECT are the bag operations on distinct rows.
    left, right = (op.Distinct(plan) if distinct else plan for plan in plans)
    return BAGS[type(node)](left, right)


def _words(node: exp.SetOperation) -> str:
    """A set operation as written."""
    known = {UnionMax: "UNION MAX", StrictExcept: "EXCEPT STRICT"}
    word = type(node).__name__.upper()
    plain = word if node.args.get("distinct") else f"{word} ALL"
    return known.get(type(node), plain)
