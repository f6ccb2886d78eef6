"""SELECT: FROM, WHERE, GROUP BY, HAVING, the select list, DISTINCT, INTERNAL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.expressions import Column, Expression, columns_of, conjunction
from penstock.algebra.types import INTERVAL, NULL
from penstock.binder.context import Context, SelectWindows
from penstock.binder.grouping import BoundGrouping, DistinctOnBinder, GroupedBinder, has_aggregate
from penstock.binder.internal import wrap_internal
from penstock.binder.names import output_name, unique_names
from penstock.binder.ordering import Ordering, bind_ordering, whole_number
from penstock.binder.predicates import (
    ClauseBinder,
    Inner,
    InnerScalar,
    PlanInProgress,
    scalar_column,
    split_and,
)
from penstock.binder.row_numbers import (
    RowNumber,
    bind_row_number,
    numbered,
    window_functions,
)
from penstock.binder.sources import FromBinder
from penstock.catalog.functions.window_functions import TOP
from penstock.cql.syntax import EmitProjection, span_of
from penstock.errors import NotSupported, QueryError, Refused, TypeMismatch, count

if TYPE_CHECKING:
    from penstock.algebra.plan import Named, Plan
    from penstock.binder.expressions import ExpressionBinder
    from penstock.binder.scope import Scope


@dataclass(frozen=True)
class Core:
    """FROM and WHERE of a query, bound; conditions on an outer query are kept apart."""

    building: PlanInProgress
    scope: Scope
    correlated: tuple[Expression, ...]


class QueryBinding(Protocol):
    """Binds whole queries; `penstock.binder.queries` does it."""

    def bind(self, node: exp.Expr) -> Plan:
        """A query in an expression."""

    def bind_table(self, node: exp.Expr) -> Plan:
        """A query in FROM."""


class SelectBinder:
    """Binds SELECTs of one statement; `queries` binds whatever else a subquery may be."""

    def __init__(self, context: Context, queries: QueryBinding) -> None:
        self.context = context
        self.queries = queries

    def bind(self, node: exp.Select) -> tuple[Plan, Ordering | None]:
        """The plan of a SELECT, and its ORDER BY and LIMIT, which the caller may not allow."""
        core = self._core(node, None, SelectWindows())
        plan, ordering = self._finish(node, core)
        return wrap_internal(plan, core.building.block, node), ordering

    def inner(self, node: exp.Expr, outer: Scope, block: SelectWindows) -> Inner:
        """The subquery of EXISTS or IN: plain rows where it can be, so that it may correlate."""
        if isinstance(node, exp.Select) and not _is_more_than_select(node):
            core = self._core(node, outer, block)
            plain = not (_is_grouped(node) or node.args.get("having") or _distinct_on(node))
            if plain and not window_functions(node):
                binder = self._clause(core, "SELECT")
                columns = tuple(value for _, value in self._select_list(node, binder, core.scope))
                return Inner(core.building.plan, columns, core.correlated)
            finished, _ = self._finish(node, core)
        else:
            finished = self.queries.bind(node)
        plan = op.Alias(finished, self.context.unique("subquery"))
        return Inner(plan, tuple(Column(f.name, f.type) for f in plan.schema), ())

    def scalar(self, node: exp.Expr, outer: Scope, block: SelectWindows) -> InnerScalar:
        """A subquery that stands for a value: a global aggregate."""
        if isinstance(node, exp.Select) and (clause := _is_more_than_select(node)):
            msg = f"{clause} has no meaning in a subquery that stands for a value"
            raise Refused(msg, hint="It has one row at every instant.", at=span_of(node))
        if not isinstance(node, exp.Select) or not _is_global_aggregate(node):
            msg = "a subquery that stands for a value must be an aggregate without GROUP BY"
            hint = "Only then it has one row at every instant: (SELECT MAX(x) FROM ...)."
            raise Refused(msg, hint=hint, at=span_of(node))
        core = self._core(node, outer, block)
        if core.correlated:
            return self._correlated_scalar(node, core)
        finished, _ = self._finish(node, core)
        plan = op.Alias(finished, self.context.unique("scalar"))
        if len(plan.schema) != 1:
            msg = f"a subquery that stands for a value has one column, not {len(plan.schema)}"
            raise QueryError(msg, at=span_of(node))
        return InnerScalar(plan, scalar_column(plan), None, ())

    def _correlated_scalar(self, node: exp.Select, core: Core) -> InnerScalar:
        groups = BoundGrouping(self.context, core.scope, [])
        binder = self._grouped(core, "SELECT", groups)
        columns = self._select_list(node, binder, core.scope)
        if len(columns) != 1 or node.args.get("having"):
            msg = "a subquery that compares with the outer query has one column and no HAVING"
            raise NotSupported(msg, at=span_of(node))
        value = columns[0][1]
        if not self.context.settings.empty_aggregates:
            value = groups.null_over_nothing(value)
        calls = tuple((name, call) for call, name in groups.aggregates.items())
        condition = conjunction(list(core.correlated))
        return InnerScalar(core.building.plan, value, condition, calls)

    def _core(self, node: exp.Select, outer: Scope | None, block: SelectWindows) -> Core:
        if _distinct_on(node) and _is_grouped(node):
            msg = "DISTINCT ON does not go with GROUP BY or aggregates"
            hint = "Group in a subquery in FROM, or leave DISTINCT ON out."
            raise Refused(msg, hint=hint, at=span_of(node.args["distinct"]))
        if not node.args.get("from_"):
            hint = "Name a stream: SELECT ... FROM stream [window]."
            msg = "a continuous query needs FROM"
            raise Refused(msg, hint=hint, at=span_of(node))
        where = node.args.get("where")
        conditions = split_and(where.this) if where else []
        sources = FromBinder(self.context, block, self.queries.bind_table, conditions)
        source = sources.bind(node.args["from_"].this, node.args.get("joins") or [])
        scope = source.scope.inside(outer)
        building = PlanInProgress(source.plan, block)
        binder = ClauseBinder(self.context, scope, "WHERE", building, self)
        correlated = binder.apply(conditions)
        if correlated and outer is None:
            msg = "a condition reads columns that FROM does not have"
            raise QueryError(msg, at=span_of(node))
        return Core(building, scope, tuple(correlated))

    def _finish(self, node: exp.Select, core: Core) -> tuple[Plan, Ordering | None]:
        """GROUP BY to DISTINCT over bound FROM and WHERE."""
        self._refuse_correlated(core, node)
        building = core.building
        binder: ClauseBinder
        if _is_grouped(node):
            binder = self._group(node, core)
        elif _distinct_on(node):
            binder = self._keep_one_row_each(node, core)
        else:
            binder = self._clause(core, "SELECT")
            if node.args.get("having"):
                msg = "HAVING needs GROUP BY or an aggregate"
                hint = "Conditions on rows belong in WHERE."
                raise Refused(msg, hint=hint, at=span_of(node.args["having"]))
        number = self._row_number(node, binder)
        columns = self._select_list(node, binder, core.scope, number)
        named = unique_names(columns)
        if number is not None:
            return self._numbered(node, building.plan, named, number)
        if node.args.get("qualify"):
            msg = "QUALIFY compares ROW_NUMBER() OVER (...), which is not there"
            raise Refused(msg, hint=f"Write QUALIFY {TOP}.", at=span_of(node.args["qualify"]))
        ordering = bind_ordering(node, binder, named)
        hidden = ordering.hidden if ordering else ()
        plan: Plan = op.Map(building.plan, named + hidden)
        if _is_distinct(node) and not _distinct_on(node):
            if hidden:
                msg = "with DISTINCT, ORDER BY takes columns of the select list"
                raise Refused(msg, at=span_of(node.args["order"]))
            plan = op.Distinct(plan)
        return plan, ordering

    def _row_number(self, node: exp.Select, binder: ClauseBinder) -> RowNumber | None:
        functions = window_functions(node)
        unique = self.context.unique("row number") if functions else ""
        return bind_row_number(functions, binder, unique)

    def _numbered(
        self, node: exp.Select, plan: Plan, columns: tuple[Named, ...], number: RowNumber
    ) -> tuple[Plan, Ordering | None]:
        """A SELECT with ROW_NUMBER, in its list or in QUALIFY."""
        for clause, word in (("distinct", "DISTINCT"), ("order", "ORDER BY"), ("limit", "LIMIT")):
            if node.args.get(clause):
                msg = f"ROW_NUMBER() OVER (...) and {word} do not go into one SELECT"
                hint = f"Write {word} in a query around it."
                raise NotSupported(msg, hint=hint, at=span_of(node.args[clause]) or number.at)
        return numbered(plan, columns, number, node.args.get("qualify")), None

    def _group(self, node: exp.Select, core: Core) -> GroupedBinder:
        """Aggregate, then HAVING; the binder for what stands above the groups."""
        keys = self._group_keys(node, core)
        groups = BoundGrouping(self.context, core.scope, keys)
        # Every aggregate is known before the aggregation is built and its columns are used.
        for clause in _grouped_clauses(node):
            groups.gather(clause)
        selected = [one for one in _projections(node) if isinstance(one, exp.Alias)]
        aliases = {one.alias.lower(): one.this for one in selected}
        binder = self._grouped(core, "HAVING", groups, aliases)
        building = core.building
        # Of a window [start, end) without rows there is no result.
        over_nothing = not st.hopping_windows(building.plan)
        over_nothing &= self.context.settings.empty_aggregates
        building.plan = groups.plan(building.plan, over_nothing)
        having = node.args.get("having")
        if having is not None:
            outer = binder.apply(split_and(having.this))
            assert not outer, "groups refuse columns of the outer query"
        binder.clause = "SELECT"
        return binder

    def _keep_one_row_each(self, node: exp.Select, core: Core) -> GroupedBinder:
        """DISTINCT ON: one row for each value of its expressions, made of them."""
        keys = self._keys(_distinct_on(node), node, core, "DISTINCT ON")
        binder = DistinctOnBinder(self.context, core.scope, "SELECT", core.building, self)
        binder.groups = BoundGrouping(self.context, core.scope, keys)
        binder.aliases = {}
        core.building.plan = binder.groups.distinct(core.building.plan)
        return binder

    def _group_keys(self, node: exp.Select, core: Core) -> list[Expression]:
        group = node.args.get("group")
        if group is None:
            return []
        if not group.expressions:
            msg = "GROUP BY has no columns"
            raise QueryError(msg, at=span_of(node))
        return self._keys(group.expressions, node, core, "GROUP BY")

    def _keys(
        self, nodes: list[exp.Expr], node: exp.Select, core: Core, clause: str
    ) -> list[Expression]:
        """The expressions that GROUP BY or DISTINCT ON lists, bound."""
        binder = self._clause(core, clause)
        keys = [binder.bind(self._key_node(one, node, core, clause)) for one in nodes]
        for key, written in zip(keys, nodes, strict=True):
            known = set(core.building.plan.schema.names)
            if not columns_of(key) <= known:
                msg = f"{clause} {key} reads a column of the outer query"
                raise NotSupported(msg, at=span_of(written))
        return keys

    def _key_node(self, key: exp.Expr, node: exp.Select, core: Core, clause: str) -> exp.Expr:
        """GROUP BY 1 and GROUP BY alias stand for expressions of the select list."""
        selected = _projections(node)
        if isinstance(key, exp.Literal) and not key.is_string:
            number = whole_number(key)
            if number is None or not 1 <= number <= len(selected):
                msg = f"{clause} {key.name}: the select list has {count(len(selected), 'column')}"
                raise QueryError(msg, at=span_of(key))
            return _unaliased(selected[number - 1])
        if isinstance(key, exp.Column) and not key.table:
            known = any(one.answers(key.name, None) for one in core.scope.columns)
            aliased = [
                one.this
                for one in selected
                if isinstance(one, exp.Alias) and one.alias.lower() == key.name.lower()
            ]
            if not known and aliased:
                alias: exp.Expr = aliased[0]
                return alias
        return key

    def _select_list(
        self,
        node: exp.Select,
        binder: ExpressionBinder,
        scope: Scope,
        number: RowNumber | None = None,
    ) -> list[tuple[str, Expression]]:
        columns: list[tuple[str, Expression]] = []
        for position, item in enumerate(_projections(node), start=1):
            star = _star(item)
            if star is not None:
                columns += self._star_columns(item, star, binder, scope)
            elif number is not None and isinstance(_unaliased(item), exp.Window):
                columns.append((output_name(item, position), number.column))
            else:
                value = binder.bind(_unaliased(item))
                _require_column_type(value, item)
                columns.append((output_name(item, position), value))
        return columns

    def _star_columns(
        self, item: exp.Expr, qualifier: str, binder: ExpressionBinder, scope: Scope
    ) -> list[tuple[str, Expression]]:
        visible = scope.star(qualifier or None)
        if qualifier and not visible:
            scope.resolve("*", qualifier, span_of(item))
        if isinstance(binder, GroupedBinder):
            raise binder.no_star(span_of(item))
        return [(one.name, one.expression) for one in visible]

    def _clause(self, core: Core, clause: str) -> ClauseBinder:
        return ClauseBinder(self.context, core.scope, clause, core.building, self)

    def _grouped(
        self,
        core: Core,
        clause: str,
        groups: BoundGrouping,
        aliases: dict[str, exp.Expr] | None = None,
    ) -> GroupedBinder:
        binder = GroupedBinder(self.context, core.scope, clause, core.building, self)
        binder.groups = groups
        binder.aliases = aliases or {}
        return binder

    def _refuse_correlated(self, core: Core, node: exp.Select) -> None:
        if core.correlated:
            msg = "a subquery with GROUP BY or aggregates cannot compare with the outer query here"
            if _distinct_on(node):
                msg = "a subquery with DISTINCT ON cannot compare with the outer query"
            hint = "Write the comparison in the outer query, over a grouped subquery in FROM."
            raise NotSupported(msg, hint=hint, at=span_of(node))


def _require_column_type(value: Expression, item: exp.Expr) -> None:
    if value.type == NULL:
        msg = "a column that is always NULL needs a type"
        raise TypeMismatch(msg, hint="Write CAST(NULL AS INT).", at=span_of(item))
    if value.type == INTERVAL:
        msg = "an INTERVAL cannot be a column"
        raise TypeMismatch(msg, hint="Write a number of seconds.", at=span_of(item))


def _is_more_than_select(node: exp.Select) -> str | None:
    """A clause that makes a query of a SELECT: what it is called, None if there is none."""
    if any(_is_emit(item) for item in node.expressions):
        return str(node.expressions[0].args["emit"])
    words = {"with_": "WITH", "output": "OUTPUT", "order": "ORDER BY", "intervals": "INTERVALS"}
    present = [key for key in (*words, "limit", "offset") if node.args.get(key)]
    return words.get(present[0], present[0].upper()) if present else None


def _projections(node: exp.Select) -> list[exp.Expr]:
    """The select list, also where ISTREAM and its kin enclose it."""
    items = node.expressions
    return items[0].expressions if len(items) == 1 and _is_emit(items[0]) else items


def _is_emit(item: exp.Expr) -> bool:
    return isinstance(item, EmitProjection)


def _is_distinct(node: exp.Select) -> bool:
    inside = [one.args.get("distinct") for one in node.expressions if _is_emit(one)]
    return bool(node.args.get("distinct")) or any(inside)


def _distinct_on(node: exp.Select) -> list[exp.Expr]:
    """The expressions of DISTINCT ON, none without it."""
    distinct = node.args.get("distinct")
    on = distinct.args.get("on") if distinct else None
    return list(on.expressions) if on else []


def _unaliased(item: exp.Expr) -> exp.Expr:
    return item.this if isinstance(item, exp.Alias) else item


def _star(item: exp.Expr) -> str | None:
    """The qualifier of t.*, empty for *, None for anything else."""
    if isinstance(item, exp.Star):
        return ""
    if isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
        return item.table
    return None


def _grouped_clauses(node: exp.Select) -> list[exp.Expr]:
    """The clauses in which aggregates may stand."""
    rest = (node.args.get(key) for key in ("having", "order"))
    return [*_projections(node), *(clause for clause in rest if clause is not None)]


def _is_grouped(node: exp.Select) -> bool:
    return bool(node.args.get("group")) or any(map(has_aggregate, _grouped_clauses(node)))


def _is_global_aggregate(node: exp.Select) -> bool:
    return not node.args.get("group") and any(map(has_aggregate, _projections(node)))
