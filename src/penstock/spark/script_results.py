"""The results of a script that runs on Spark."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from penstock.errors import QueryError
from penstock.results.answer_kind import unit_of
from penstock.results.settling import timed_fold_for
from penstock.spark.spark_engine import spark_engine
from penstock.store.result_reader import require_kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from penstock.connection.connection import Connection
    from penstock.spark.spark_answer import SparkAnswer
    from penstock.store.result_reader import Commit


class ScriptResults:
    """The results of the queries of a script, from the records of a home."""

    def __init__(self, db: Connection) -> None:
        self._db = db

    def results(self, query: str) -> Callable[[int], Iterator[Commit]]:
        """A reader of all results of a query that are kept, in time order, up to a record.

        Raises:
            QueryError: It does not run.
        """
        answer = _answer(self._db, query)
        return answer.records(partial(timed_fold_for, answer.plan, *answer.shape)).read

    def rows_at(self, query: str, instant: int, last: int) -> tuple[pa.Array, ...]:
        """The rows of a query that hold at an instant which is final, by the records up to one.

        Raises:
            QueryError: It does not run, or what held then is not kept any more.
        """
        answer = _answer(self._db, query)
        require_kept(answer.start(), query, instant, unit_of(answer.plan))
        return answer.content_at(instant, last)


def _answer(db: Connection, query: str) -> SparkAnswer:
    found = spark_engine(db).answer(query)
    if found is None:
        msg = f'query "{query}" is stopped in this home'
        raise QueryError(msg, hint="start() of the query in Python lets it run again.")
    return found
