"""What exists is described: commands in the README, the words of the language in its page."""

from __future__ import annotations

import re

import pytest

from docs.pages import ROOT
from penstock.algebra.patterns import Pattern
from penstock.algebra.time import MICROS_PER
from penstock.binder.declarations import UNITS
from penstock.catalog.settings import CHOICES
from penstock.cli.app import app
from penstock.connectors.connector_list import CONNECTORS
from penstock.cql.statements import CREATABLE, SHOWABLE, STATEMENTS
from penstock.cql.strictness import TYPE_NAMES
from penstock.cql.windows import WINDOW_KINDS
from penstock.scheduling.scheduler_list import SCHEDULERS

README = (ROOT / "README.md").read_text("utf-8")
LANGUAGE = (ROOT / "docs" / "users" / "language.md").read_text("utf-8")
OPERATIONS = (ROOT / "docs" / "users" / "operations.md").read_text("utf-8")
SCHEDULING = (ROOT / "docs" / "users" / "scheduling.md").read_text("utf-8")
BUILDER = (ROOT / "docs" / "users" / "builder.md").read_text("utf-8")


@pytest.mark.parametrize("name", [command.name for command in app.registered_commands])
def test_every_command_is_in_the_readme(name: str) -> None:
    assert f"`./penstock {name}" in README


@pytest.mark.parametrize(
    "words",
    [
        [f"[{kind}" for kind in WINDOW_KINDS],
        [*STATEMENTS, *(f"CREATE {kind}" for kind in CREATABLE), *SHOWABLE],
        [f"`{word}`" for setting, values in CHOICES.items() for word in (setting, *values)],
        [f"`{name}" for name in TYPE_NAMES],
        [*(f"{unit}S" for unit in MICROS_PER), *(f"'{unit}'" for unit in UNITS)],
        [f"| {pattern.value} |" for pattern in Pattern],
        ["INTERNAL", "RESTORE", "OUTPUT", "SLIDE", "NONRETROACTIVE", "USING", "FILTER", "HAVING"],
        ["EMIT FINAL"],
    ],
    ids=["windows", "statements", "settings", "types", "units", "patterns", "other words", "final"],
)
def test_the_language_page_has_every_word(words: list[str]) -> None:
    assert [word for word in words if word not in LANGUAGE] == []


def test_every_connector_is_among_the_formats_that_are_named() -> None:
    assert [name for name in CONNECTORS if not re.search(rf"\b{name}\b", OPERATIONS)] == []


def test_the_table_of_schedulers_has_a_line_for_each() -> None:
    assert [one.name for one in SCHEDULERS if f"| `{one.name}` |" not in SCHEDULING] == []


def test_the_builder_page_has_every_method() -> None:
    from penstock.builder import QueryBuilder

    methods = [name for name in vars(QueryBuilder) if not name.startswith("_") and name != "plan"]
    assert [name for name in methods if f"{name}" not in BUILDER] == []
