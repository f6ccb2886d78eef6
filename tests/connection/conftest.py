"""Connections over every engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import penstock
from tiers import not_quick

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from penstock.connection.connection import Connection

MASTER = "local[2,4]"


@pytest.fixture(params=["local", pytest.param("spark", marks=not_quick)])
def engine(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def db(engine: str, tmp_path: Path) -> Iterator[Connection]:
    """A new connection over an engine; closed when the test has ended."""
    if engine == "local":
        opened = penstock.connect_inline(lanes=2)
    else:
        opened = penstock.connect(MASTER, tmp_path / "home", 2)
    with opened:
        yield opened
