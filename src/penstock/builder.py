"""Plans without query text: a chain of operators, with CQL only for expressions and windows.

It also divides a stream into k streams, which CQL says with a WHERE for each. ORDER BY and
subqueries in expressions need CQL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.expressions import TRUE, Column, Expression
from penstock.algebra.text import plan_text
from penstock.binder.checks import check_units
from penstock.binder.context import Context
from penstock.binder.expressions import ExpressionBinder
from penstock.binder.final import final_of
from penstock.binder.grouping import BoundGrouping
from penstock.binder.internal import internal_of
from penstock.binder.intervals import split
from penstock.binder.joins import outer_join
from penstock.binder.names import output_name, unique_names
from penstock.binder.nrr import reading
from penstock.binder.scope import Scope, Visible
from penstock.binder.set_operations import aligned
from penstock.binder.windows import bind_window
from penstock.catalog.definitions import Catalog, RelationDefinition, StreamDefinition
from penstock.catalog.settings import Settings
from penstock.cql.dialect import parse_expression, parse_window
from penstock.errors import PenstockError, Refused, SourceText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.plan import Plan
    from penstock.algebra.types import Field, Schema
    from penstock.catalog.definitions import Definition


def stream(name: str, columns: str, *, time: str, unit: str | None = None) -> QueryBuilder:
    """A stream with columns as in DDL and the name of its event time column.

    >>> print(stream("cars", "at BIGINT, speed DOUBLE", time="at").range(10))
    Window [RANGE 10]
      Stream cars (at BIGINT, speed DOUBLE)
    """
    options = f"OPTIONS (time_unit '{unit}')" if unit else ""
    text = f"CREATE STREAM `{name}` ({columns}, WATERMARK FOR `{time}` AS `{time}`) {options}"
    return source(_declared(text, name))


def relation(name: str, columns: str, *, retroactive: bool = True) -> QueryBuilder:
    """A relation with columns as in DDL."""
    kind = "RELATION" if retroactive else "NONRETROACTIVE RELATION"
    return source(_declared(f"CREATE {kind} `{name}` ({columns})", name))


def source(declared: Definition) -> QueryBuilder:
    """A stream or relation of a catalog."""
    if isinstance(declared, StreamDefinition):
        return QueryBuilder(
            st.Stream(declared.name, declared.schema, declared.time_column, declared.unit)
        )
    assert isinstance(declared, RelationDefinition)
    return QueryBuilder(st.Relation(declared.name, declared.schema, declared.retroactive))


def _declared(text: str, name: str) -> Definition:
    from penstock.session import Session

    session = Session()
    session.execute(text)
    return session.catalog.find(name, "stream", "relation")


@dataclass(frozen=True)
class QueryBuilder:
    """A plan, and the operators that can be put on top of it; each call gives a new Query."""

    plan: Plan

    def __str__(self) -> str:
        """The plan as a tree."""
        return plan_text(self.plan)

    def alias(self, name: str) -> QueryBuilder:
        """Call the rows by another name, so that columns are `name.column`."""
        return QueryBuilder(op.Alias(self.plan, name))

    def window(self, text: str) -> QueryBuilder:
        """Any window as in CQL, without brackets: `window("RANGE 10 SECONDS SLIDE 2 SECONDS")`."""
        syntax = parse_window(text)
        if syntax.internal:
            msg = "INTERNAL belongs to all windows of a query"
            raise Refused(msg, hint="Leave it out here, and end the chain with .internal().")
        try:
            return QueryBuilder(bind_window(syntax, self.plan, "the plan"))
        except PenstockError as error:
            raise error.locate(SourceText(f"[{text}]")) from None

    def range(self, length: int | str, slide: int | str | None = None) -> QueryBuilder:
        """The rows of the last `length`, a number of time steps or a text like `10 SECONDS`."""
        return self.window(f"RANGE {length}" + (f" SLIDE {slide}" if slide else ""))

    def rows(self, count: int, slide: int | None = None, by: str | None = None) -> QueryBuilder:
        """The last `count` rows, per value of the columns `by`."""
        partition = f"PARTITION BY {by} " if by else ""
        return self.window(f"{partition}ROWS {count}" + (f" SLIDE {slide}" if slide else ""))

    def now(self) -> QueryBuilder:
        """Only the rows of this instant."""
        return self.window("NOW")

    def where(self, condition: str) -> QueryBuilder:
        """The rows for which a condition holds."""
        return QueryBuilder(op.Filter(self.plan, self._condition(condition)))

    def select(self, *columns: str, **named: str) -> QueryBuilder:
        """Columns by expression, then named ones: `select("lane", kmh="speed * 3.6")`."""
        items = [(self._name(text, i), self._value(text)) for i, text in enumerate(columns, 1)]
        items += [(name, self._value(text)) for name, text in named.items()]
        return QueryBuilder(op.Map(self.plan, unique_names(items)))

    def distinct(self) -> QueryBuilder:
        """Every different row once."""
        return QueryBuilder(op.Distinct(self.plan))

    def aggregate(
        self, *, by: Sequence[str] = (), row_over_nothing: bool = True, **aggregates: str
    ) -> QueryBuilder:
        """Aggregates per value of `by`: `aggregate(by=["lane"], average="AVG(speed)")`.

        Without `by` there is one row, also over nothing unless `row_over_nothing` is False.
        """
        context = Context(Catalog(), Settings())
        scope = _scope(self.plan.schema)
        binder = ExpressionBinder(context, scope, "GROUP BY")
        groups = BoundGrouping(context, scope, [binder.bind(parse_expression(key)) for key in by])
        values = [(name, _aggregated(groups, text)) for name, text in aggregates.items()]
        plan = groups.plan(self.plan, row_over_nothing)
        keys = [(key, Column(f.name, f.type)) for key, f in zip(by, plan.schema, strict=False)]
        return QueryBuilder(op.Map(plan, unique_names([*keys, *values])))

    def cross(self, other: QueryBuilder) -> QueryBuilder:
        """Every row with every row of another plan."""
        self._both(other)
        return self._checked(reading(op.Product(self.plan, other.plan), None))

    def join(self, other: QueryBuilder, on: str) -> QueryBuilder:
        """The pairs for which a condition holds; a non-retroactive relation is read on arrival."""
        condition = self._condition(on, other)
        return self._checked(reading(op.Join(self.plan, other.plan, condition), None))

    def outer_join(self, other: QueryBuilder, on: str, side: str = "LEFT") -> QueryBuilder:
        """The join, and the rows of the LEFT, RIGHT or FULL side that have no partner."""
        if side.upper() not in ("LEFT", "RIGHT", "FULL"):
            msg = f'there is no outer join with side "{side}"'
            raise Refused(msg, hint="The sides are LEFT, RIGHT and FULL.")
        condition = self._condition(on, other)
        return self._checked(outer_join(self.plan, other.plan, condition, side.upper(), None))

    def semi_join(self, other: QueryBuilder, on: str | None = None) -> QueryBuilder:
        """The rows that have a partner in another plan."""
        join = op.SemiJoin(self.plan, other.plan, self._condition(on, other))
        return self._checked(reading(join, None))

    def anti_join(self, other: QueryBuilder, on: str | None = None) -> QueryBuilder:
        """The rows that have no partner in another plan."""
        join = op.AntiJoin(self.plan, other.plan, self._condition(on, other))
        return self._checked(reading(join, None))

    def union_all(self, *others: QueryBuilder) -> QueryBuilder:
        """The rows of all plans, as bags."""
        plans = aligned([self.plan, *(other.plan for other in others)])
        return self._checked(op.UnionAll(tuple(plans)))

    def difference(self, other: QueryBuilder) -> QueryBuilder:
        """Each row as often as here minus there (EXCEPT ALL)."""
        return self._bag(op.Difference, other)

    def intersection(self, other: QueryBuilder) -> QueryBuilder:
        """Each row as often as in the plan that has it less often (INTERSECT ALL)."""
        return self._bag(op.Intersection, other)

    def max_union(self, other: QueryBuilder) -> QueryBuilder:
        """Each row as often as in the plan that has it more often."""
        return self._bag(op.MaxUnion, other)

    def strict_difference(self, other: QueryBuilder) -> QueryBuilder:
        """The rows, with all their copies, that do not occur in another plan at all."""
        return self._bag(op.StrictDifference, other)

    def group_into(self, selector: str, parts: int) -> tuple[QueryBuilder, ...]:
        """Divide a stream into `parts` streams by an integer expression from 0 to parts - 1."""
        if parts < 1:
            msg = f"a stream cannot be divided into {parts} streams"
            raise Refused(msg, hint="Write 1 or more.")
        value = self._value(selector)
        if not value.type.is_integer:
            msg = f"the selector {selector} is {value.type}, not an integer"
            raise Refused(msg, hint="For example lane % 3.")
        return tuple(QueryBuilder(op.Group(self.plan, value, parts, i)) for i in range(parts))

    def coalesce(self) -> QueryBuilder:
        """Merge equal rows whose intervals meet; snapshots do not change."""
        return QueryBuilder(op.Coalesce(self.plan))

    def split(self, length: int = 1) -> QueryBuilder:
        """Cut intervals at the multiples of `length`; snapshots do not change."""
        return QueryBuilder(split(self.plan, length))

    def internal(self) -> QueryBuilder:
        """Make the windows INTERNAL: they bound memory only, and what the plan finds stays."""
        return QueryBuilder(internal_of(self.plan, None))

    def istream(self, *, restore: bool = False) -> QueryBuilder:
        """Send out the rows that enter the result."""
        return QueryBuilder(st.IStream(self._relation(restore=restore), restore))

    def dstream(self) -> QueryBuilder:
        """Send out the rows that leave the result."""
        return QueryBuilder(st.DStream(self._relation()))

    def rstream(self, *, restore: bool = False) -> QueryBuilder:
        """Send out the whole result at every instant that matters."""
        return QueryBuilder(st.RStream(self._relation(restore=restore), restore))

    def final(self) -> QueryBuilder:
        """Send closed intervals only, by (ts, te), at the end of a chain (EMIT FINAL)."""
        return QueryBuilder(final_of(self.plan, None))

    def _relation(self, *, restore: bool = False) -> Plan:
        """The plan, if it can be sent out."""
        if isinstance(self.plan, st.RelationToStream):
            msg = "the plan already sends out a stream"
            raise Refused(msg, hint="Put a window on it first.")
        if restore and st.slide_of(self.plan) is None:
            msg = "RESTORE needs a periodic query"
            raise Refused(msg, hint="Give all windows the same slide.")
        return self.plan

    def _bag(self, operator: type[op.BagOperation], other: QueryBuilder) -> QueryBuilder:
        left, right = aligned([self.plan, other.plan])
        return self._checked(operator(left, right))

    def _checked(self, plan: Plan) -> QueryBuilder:
        check_units(plan)
        return QueryBuilder(plan)

    def _condition(self, text: str | None, other: QueryBuilder | None = None) -> Expression:
        if text is None:
            if other is not None:
                self._both(other)
            return TRUE
        schema = self._both(other) if other else self.plan.schema
        return _bound(text, schema, condition=True)

    def _both(self, other: QueryBuilder) -> Schema:
        """The columns of two plans, which must have names of their own."""
        common = sorted(set(self.plan.schema.names) & set(other.plan.schema.names))
        if common:
            msg = f'both plans have a column called "{common[0]}"'
            raise Refused(msg, hint='Tell them apart with .alias("a") and .alias("b").')
        return self.plan.schema + other.plan.schema

    def _value(self, text: str) -> Expression:
        return _bound(text, self.plan.schema, condition=False)

    def _name(self, text: str, position: int) -> str:
        return output_name(parse_expression(text), position)


def _bound(text: str, schema: Schema, *, condition: bool) -> Expression:
    binder = ExpressionBinder(Context(Catalog(), Settings()), _scope(schema), "the expression")
    node = parse_expression(text)
    node = node.this if isinstance(node, exp.Alias) else node
    try:
        return binder.bind_condition(node) if condition else binder.bind(node)
    except PenstockError as error:
        raise error.locate(SourceText(text)) from None


def _aggregated(groups: BoundGrouping, text: str) -> Expression:
    """The column of an aggregate that is written as text."""
    node = parse_expression(text)
    if not isinstance(node, exp.Anonymous):
        msg = f"{text} is not an aggregate"
        raise Refused(msg, hint="Write AVG(speed); compute with it in .select().")
    try:
        return groups.aggregate_column(node, None)
    except PenstockError as error:
        raise error.locate(SourceText(text)) from None


def _scope(schema: Schema) -> Scope:
    """The columns of a schema, `alias.column` ones also by their alias."""
    return Scope(tuple(_visible(field) for field in schema), None, {"plan": "the plan"})


def _visible(field: Field) -> Visible:
    qualifier, _, name = field.name.rpartition(".")
    return Visible(qualifier or None, name, Column(field.name, field.type))
