"""A home that is opened again goes on where it was."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from penstock.errors import DataError, UnknownName
from penstock.reference.inputs import Inputs, RelationHistory
from penstock.spark.spark_engine import spark_engine
from spark.connection.test_connection import (
    QUERIES,
    STREAMS,
    create,
    expected,
    rows,
    timeline,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.connection.connection import Connection
    from penstock.reference.timeline import Row


def test_an_opened_home_goes_on_where_it_was(connect: Callable[..., Connection]) -> None:
    db = connect()
    db.execute(STREAMS)
    db.update("r", insert=[(1, "one")])
    db.execute(create(*QUERIES) + "CREATE QUERY gone AS SELECT k FROM s [RANGE 3]")
    db.insert("s", [(1, 1, 5), (3, 2, 6)])
    db.wait_idle()
    db["gone"].drop()
    db["joined"].stop()
    db.insert("s", [(6, 2, 7)])
    db.finish()
    ended = rows(db["grouped"].changes())
    with pytest.raises(DataError, match="another pipeline uses the home"):
        connect()
    db.close()

    again = connect(lanes=3)
    assert list(again.queries) == list(QUERIES)
    assert not again["joined"].is_running
    assert rows(again["grouped"].changes()) == ended, "the end holds until rows come"
    with pytest.raises(UnknownName):
        again["gone"]
    with pytest.raises(DataError, match="does not have"):
        again.update("r", delete=[(2, "two")])
    again.update("r", insert=[(2, "two")], at=8)
    again.insert("s", [(7, 1, 9), (60, 1, 0)])
    again.wait_idle()
    fed: list[Row] = [(1, 1, 5), (3, 2, 6), (6, 2, 7), (7, 1, 9), (60, 1, 0)]
    for name in ("grouped", "counted"):
        line = timeline(again, name, Inputs({"s": fed}))
        assert Counter(rows(again[name].changes())) == expected(line, 56), name
        assert Counter(rows([again[name].snapshot(at=6)])) == line.at(6)
    again.execute("CREATE QUERY fresh AS SELECT name FROM r")
    assert spark_engine(again).program.group_of("fresh") is not None
    numbers = [group.number for group in spark_engine(again).program.groups]
    assert len(numbers) == len(set(numbers))


def test_names_can_be_declared_again(connect: Callable[..., Connection]) -> None:
    db = connect()
    db.execute(STREAMS + create("named"))
    db.update("r", insert=[(1, "one")])
    db.insert("s", [(1, 1, 5), (9, 1, 6)])
    db.wait_idle()
    db.execute("""
        DROP QUERY named; DROP RELATION r;
        CREATE RELATION r (k INT, name STRING, extra INT);
    """)
    db.update("r", insert=[(1, "uno", 7)])
    db.execute("CREATE QUERY named AS SELECT s.k, extra FROM s [RANGE 6] JOIN r ON s.k = r.k")
    db.close()
    again = connect()
    after: list[Row] = [(10, 1, 1), (30, 2, 2)]
    again.insert("s", after)
    again.wait_idle()
    history = RelationHistory([(1, "uno", 7)])
    line = timeline(again, "named", Inputs({"s": after}, {"r": history}))
    assert Counter(rows(again["named"].changes())) == expected(line, 26)
