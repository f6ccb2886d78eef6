"""Connections to pipelines on one Spark for the whole folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import penstock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from penstock.connection.connection import Connection

MASTER = "local[2,4]"


@pytest.fixture
def connect(tmp_path: Path) -> Iterator[Callable[..., Connection]]:
    """Opens a home of this test, by default always the same; closed when the test has ended."""
    opened: list[Connection] = []

    def open_home(name: str = "home", lanes: int = 2) -> Connection:
        db = penstock.connect(MASTER, tmp_path / name, lanes)
        opened.append(db)
        return db

    yield open_home
    for db in opened:
        db.close()


@pytest.fixture
def db(connect: Callable[..., Connection]) -> Connection:
    return connect()
