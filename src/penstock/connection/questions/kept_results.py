"""The results of running queries, as questions read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import QueryError
from penstock.results.answer_kind import unit_of

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.connection.engine import Answer


def kept_content(query: str, answer: Answer, instant: int) -> tuple[pa.Array, ...]:
    """The rows of a running query that hold at an instant, which is final.

    Raises:
        QueryError: What held then is not kept any more.
    """
    if instant < answer.earliest:
        unit = unit_of(answer.plan)
        msg = f'the result of query "{query}" at {unit.format(instant)} is not kept any more'
        hint = f"The earliest that is kept is that at {unit.format(answer.earliest)}."
        raise QueryError(msg, hint=hint)
    return answer.content_at(instant)
