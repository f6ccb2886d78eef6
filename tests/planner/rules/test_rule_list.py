"""Every rule stands in a file that has its name, and in the list."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

from penstock.planner import rules
from penstock.planner.rules.rule import Described
from penstock.planner.rules.rule_list import ALWAYS, BY_COST, TIDY, TOGETHER

LISTED = {one.name: type(one) for one in (*ALWAYS, *TOGETHER, *BY_COST)}


def found() -> dict[str, type[Described]]:
    kinds = {}
    for module in pkgutil.walk_packages(rules.__path__, f"{rules.__name__}."):
        for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(kind, Described) and hasattr(kind, "name"):
                kinds[kind.name] = kind
    return kinds


def test_the_list_has_every_rule_once() -> None:
    assert found() == LISTED
    assert len(LISTED) == len(ALWAYS) + len(TOGETHER) + len(BY_COST)
    assert {type(one) for one in TIDY} <= {*LISTED.values()}


def test_a_rule_stands_alone_in_a_file_that_is_called_like_it() -> None:
    for name, kind in LISTED.items():
        assert kind.__module__.rsplit(".", 1)[1] == name.replace("-", "_")
