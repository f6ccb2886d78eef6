"""The kind of answer a query gives: a content that changes, rows sent out, or rows that ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from penstock.algebra.operators import Final
from penstock.algebra.streams import RelationToStream
from penstock.algebra.time import TimeUnit
from penstock.errors import QueryError

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


Kind = Literal["changing", "sent", "ended"]
"""A content that changes, rows sent out, or rows that are told when they have ended."""


def kind_of(plan: Plan) -> Kind:
    """The kind of answer a query gives."""
    if isinstance(plan, RelationToStream):
        return "sent"
    return "ended" if isinstance(plan, Final) else "changing"


def unit_of(plan: Plan) -> TimeUnit:
    """The meaning of one step of a query's time."""
    return plan.unit or TimeUnit.TICK


def is_relation(plan: Plan) -> bool:
    """A query with a content that changes."""
    return kind_of(plan) == "changing"


def may_go_on(before: Plan, after: Plan) -> bool:
    """One query may take the place of another, so that readers see the net difference."""
    alike = before.schema == after.schema and before.unit == after.unit
    return alike and is_relation(before) and is_relation(after)


def require_relation(query: str, plan: Plan, what: str) -> None:
    """A query is asked for something that only a content that changes has.

    Raises:
        QueryError: It has none.
    """
    if isinstance(plan, RelationToStream):
        msg = f'query "{query}" sends out rows: it has no {what}()'
        raise QueryError(msg, hint="Read emissions(), or leave ISTREAM, DSTREAM, RSTREAM out.")
    _refuse_final(query, plan, what)


def require_timed(plan: Plan) -> None:
    """A query is asked for what holds at some time.

    Raises:
        QueryError: It sends out rows.
    """
    if isinstance(plan, RelationToStream):
        msg = "the query sends out rows, which hold at no time"
        raise QueryError(msg, hint="Leave out --at and --intervals, or ISTREAM and its kin.")


def require_stream(query: str, plan: Plan, what: str) -> None:
    """A query is asked for the rows that it sends out.

    Raises:
        QueryError: It sends out none.
    """
    _refuse_final(query, plan, what)
    if not isinstance(plan, RelationToStream):
        msg = f'query "{query}" is a relation: it has changes, and sends out nothing'
        raise QueryError(msg, hint="Read changes(), or write ISTREAM(SELECT ...).")


def _refuse_final(query: str, plan: Plan, what: str) -> None:
    if isinstance(plan, Final):
        msg = f'query "{query}" sends rows when they have ended: it has no {what}()'
        raise QueryError(msg, hint="Read elements(), or leave EMIT FINAL out.")
