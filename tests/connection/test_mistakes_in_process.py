"""The inline connection: what it answers to mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import penstock
from connection.inside import TRADES, trading
from penstock.errors import DataError, NotSupported, PenstockError, QueryError, UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from penstock.connection.connection import Connection


@pytest.fixture
def db() -> Connection:
    return trading()


MISTAKES: dict[str, tuple[Callable[[Connection], object], type[PenstockError], str, str]] = {
    "unknown stream": (
        lambda db: db.insert("trade", []),
        UnknownName, 'no stream called "trade"', 'Did you mean "trades"?',
    ),
    "insert into a relation": (
        lambda db: db.insert("names", []),
        UnknownName, '"names" is a relation, not a stream', "Use db.update('names', ...).",
    ),
    "update of a stream": (
        lambda db: db.update("trades", insert=[]),
        UnknownName, '"trades" is a stream, not a relation', "Use db.insert('trades', ...).",
    ),
    "unknown query": (
        lambda db: db["nothing"], UnknownName, 'no query called "nothing"', "No query",
    ),
    "a statement as a query": (
        lambda db: db.query("SHOW STREAMS"), QueryError, "expected a query", "",
    ),
    "a sink": (
        lambda db: db.execute("CREATE SINK x FROM q USING csv"),
        NotSupported, "writes to no sink", "changes()",
    ),
    "a taken name": (
        lambda db: db.query("SELECT sym FROM trades [NOW]", name="names"),
        QueryError, 'already a relation called "names"', "choose another name",
    ),
    "too few values": (
        lambda db: db.insert("trades", [(1, "a", 1.0), (2, "b")]),
        DataError, 'stream "trades": row 2 has 2 values, there are 3 columns', "ts, sym, price",
    ),
    "a missing key": (
        lambda db: db.insert("trades", [{"ts": 1, "sym": "a"}]),
        DataError, 'row 1 has no value for column "price"', "None for NULL",
    ),
    "an unknown key": (
        lambda db: db.insert("trades", [{"ts": 1, "sym": "a", "prise": 1.0}]),
        DataError, 'row 1 has a value for "prise"', 'Did you mean "price"?',
    ),
    "one row without a list": (
        lambda db: db.insert("trades", {"ts": 1, "sym": "a", "price": 1.0}),
        DataError, "rows are expected, but a dict came", "list of tuples",
    ),
    "text for a row": (
        lambda db: db.insert("trades", ["abc"]),
        DataError, "row 1 is a str", "list of tuples",
    ),
    "changes of a stream": (
        lambda db: db.query("ISTREAM(SELECT sym FROM trades [NOW])").changes(),
        QueryError, "sends out rows: it has no changes()", "emissions()",
    ),
    "emissions of a relation": (
        lambda db: db.query("SELECT sym FROM trades [NOW]").emissions(),
        QueryError, "is a relation", "changes()",
    ),
    "content of EMIT FINAL": (
        lambda db: db.query("SELECT sym FROM trades [RANGE 5] EMIT FINAL").snapshot(),
        QueryError, "when they have ended: it has no snapshot()", "elements()",
    ),
    "a row that is not there": (
        lambda db: db.update("names", delete=[("a", "b")]),
        DataError, "remove a row it does not have: ('a', 'b')", "Only a row that was inserted",
    ),
    "a date for ticks": (
        lambda db: db.advance("trades", "2024-01-01"),
        DataError, "is a date, but the event time here is counted in ticks", "number",
    ),
    "no instant": (
        lambda db: db.advance("trades", 2**63 - 1), DataError, "outside of time", "Instants lie",
    ),
    "a stream in use": (
        lambda db: (
            db.query("SELECT sym FROM trades [NOW]", name="q"),
            db.execute("CREATE OR REPLACE" + TRADES.removeprefix("CREATE")),
        ),
        QueryError, '"trades" is used by query "q"', "Drop those first.",
    ),
    "rows after the end": (
        lambda db: [step() for step in (db.finish, lambda: db.insert("trades", []))],
        QueryError, "finish() was called", "penstock.connect_inline()",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_answered_with_what_where_and_what_to_do(db: Connection, name: str) -> None:
    mistake, kind, message, hint = MISTAKES[name]
    with pytest.raises(kind) as caught:
        mistake(db)
    assert message in str(caught.value)
    assert hint in (caught.value.hint or "")


def test_a_script_that_fails_has_taken_effect_up_to_there(db: Connection) -> None:
    with pytest.raises(PenstockError, match='no column "prise"'):
        db.execute(
            "CREATE QUERY good AS SELECT price FROM trades [NOW];"
            "CREATE QUERY bad AS SELECT prise FROM trades [NOW]"
        )
    db.insert("trades", [(1, "a", 1.0)])
    db.finish()
    assert db["good"].changes().num_rows == 2
    assert list(db.queries) == ["good"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lanes": 0}, "lanes is 0"),
        ({"strategy": "uppa"}, 'no strategy called "uppa"'),
        ({"keep": -1}, "keep is -1"),
        ({"restore": "/nowhere/at/all"}, "there is no saved connection"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(PenstockError, match=message):
        penstock.connect_inline(**options)  # type: ignore[arg-type]  # that is the point


def test_a_folder_of_something_else_is_not_written_over(db: Connection, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    with pytest.raises(DataError, match="is no saved connection"):
        db.save(tmp_path)
    assert (tmp_path / "precious").exists()
