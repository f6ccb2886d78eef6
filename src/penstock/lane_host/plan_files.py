"""Files of plans in a home: which groups of queries run, and the physical plan of each.

A physical plan is written once, and named by what it is: groups that stay keep their file, so a
query that is registered touches its own only, and whoever has read a file need not read it again.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from penstock.errors import DataError
from penstock.planner.physical.physical_plan import PhysicalPlan
from penstock.store.whole_files import publish

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from penstock.store.layout import Home


def read_plan_file(home: Home, name: str) -> dict[str, Any]:
    """The plan of a file, as it was written down.

    Raises:
        DataError: The file is missing or damaged.
    """
    found: dict[str, Any] = _checked(home.plans / name)
    return found


def physical_files(home: Home, name: str) -> list[str]:
    """The files with the physical plans of the groups of a plan.

    Raises:
        DataError: The file of the plan is missing or damaged.
    """
    return [one["physical"] for one in read_plan_file(home, name)["groups"]]


def _checked(path: Path) -> Any:
    try:
        content = path.read_bytes()
        if content_check(content) != path.name.split(".")[1]:
            msg = "it is not what was written"
            raise ValueError(msg)
        return json.loads(content)
    except (OSError, ValueError, IndexError) as fault:
        msg = f"the plan {path} cannot be read: {fault}"
        raise DataError(msg, hint="Restore the home from a backup.") from fault


def content_check(content: bytes) -> str:
    """The check sum of a plan file's content that its name has."""
    return hashlib.sha256(content).hexdigest()[:16]


def written_plan(home: Home, number: int, values: object) -> str:
    """Write a plan down that comes by a record; the name of its file."""
    return _written(home, number, json.dumps(values).encode(), "plan")


def _written(home: Home, number: int, content: bytes, kind: str) -> str:
    name = f"{number:012d}.{content_check(content)}.{kind}"
    # A plan that was about to be committed when the process ended is there already.
    with suppress(FileExistsError):
        publish(home.plans / name, content)
    return name


class PhysicalPlans:
    """The physical plans in a home that are in use, by file."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._known: dict[str, PhysicalPlan] = {}

    def read(self, names: Iterable[str]) -> list[PhysicalPlan]:
        """Plans by their files; others are forgotten.

        Raises:
            DataError: A file is missing or damaged, or another version of Penstock wrote it.
        """
        wanted = list(names)
        self._known = {name: self._known.get(name) or self._read(name) for name in wanted}
        return [self._known[name] for name in wanted]

    def _read(self, name: str) -> PhysicalPlan:
        path = self._home.plans / name
        try:
            return PhysicalPlan.from_json(_checked(path))
        except (KeyError, TypeError) as fault:
            msg = f"the plan {path} cannot be read: {fault!r}"
            raise DataError(
                msg, hint="Go on with the version of Penstock that wrote it."
            ) from fault

    def written(self, number: int, plans: Iterable[PhysicalPlan]) -> list[str]:
        """The files of plans; those that are not there come by a record."""
        names = {id(plan): name for name, plan in self._known.items()}
        made: dict[str, PhysicalPlan] = {}
        for plan in plans:
            name = names.get(id(plan))
            if name is None:
                name = _written(self._home, number, plan.text.encode(), "physical")
            made[name] = plan
        self._known = made
        return list(made)
