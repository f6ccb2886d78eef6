"""Trials as files: stream tests whose comments say how their rows were fed.

`./penstock test` reads such a file as any stream test: late rows are left out, all rows come at
once. `./penstock fuzz --replay` feeds it as the trial was fed. A plan with edits is no query; its
file has another ending, which `./penstock test` does not collect.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from penstock.algebra.streams import RelationToStream, is_ordered
from penstock.algebra.tactics import Tactics
from penstock.algebra.time import TimeUnit
from penstock.catalog.definitions import RelationDefinition, StreamDefinition
from penstock.errors import DataError, InternalError
from penstock.session import Session
from penstock.testing.engines import OracleEngine
from penstock.testing.expected_rows import print_cell, print_instant, read_cell
from penstock.testing.format import parse_test, with_blocks
from penstock.testing.runner import run_case
from penstock.testing.setup import set_up
from penstock_fuzz.edits import Edit
from penstock_fuzz.trial import FileProgram, RelationInput, StreamInput, Trial, late_rows

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.algebra.types import Schema
    from penstock.reference.timeline import Row
    from penstock.testing.engines import CaseAnswer, Question
    from penstock.testing.setup import Setup

_FED = "# fed "


def suffix_of(trial: Trial) -> str:
    """The end of the name of the trial's file."""
    return ".fuzz" if trial.edits else ".stream"


def trial_text(trial: Trial, title: str, comment: str) -> str:
    """A stream test of a trial that expects what the reference evaluator answers.

    Args:
        trial: What is tested.
        title: The title of the case.
        comment: What a reader should know, written above it.
    """
    plan = trial.plan()
    schemas = _schemas(trial)
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines += ["# As it was fed, for ./penstock fuzz --replay:"]
    lines += [f"{_FED}{json.dumps(_feeding(trial, schemas))}", "", trial.script, ""]
    lines += _rows_blocks(trial, schemas, plan.unit or TimeUnit.TICK)
    lines += [f"case {title}", "", "query", f"{trial.query};", "", _expectation(plan), ""]
    return _with_expectation("\n".join(lines), plan)


def _schemas(trial: Trial) -> dict[str, Schema]:
    session = Session()
    session.execute(trial.script)
    known = session.catalog.of_kind("stream", "relation")
    return {
        one.name: one.schema
        for one in known
        if isinstance(one, StreamDefinition | RelationDefinition)
    }


def _feeding(trial: Trial, schemas: dict[str, Schema]) -> dict[str, Any]:
    """The feeding of the trial, as JSON, with late rows, which are no part of the test."""
    return {
        "lanes": trial.lanes,
        **asdict(trial.tactics),
        "partitions": trial.partitions,
        "feeds": trial.feed_count,
        "fed_with": trial.fed_with,
        "restore_after": sorted(trial.restore_after),
        "lanes_after": sorted(trial.lanes_after.items()),
        "replan_after": trial.replan_after,
        "replan_by": trial.replan_by,
        "budget": trial.budget,
        "scheduler": trial.scheduler,
        "scheduler_options": dict(trial.scheduler_options),
        "latency": trial.latency,
        "block_rows": trial.block_rows,
        "shedding": trial.shedding,
        "shedding_bound": trial.shedding_bound,
        "late": [
            [name, i, _cells(trial.streams[name].rows[i], schemas[name])]
            for name, i in sorted(late_rows(trial))
        ],
        "edits": [[edit.place, edit.operator, edit.argument] for edit in trial.edits],
    }


def _cells(row: Row, schema: Schema) -> list[str]:
    return [print_cell(value, type_) for value, type_ in zip(row, schema.types, strict=True)]


def _rows_blocks(trial: Trial, schemas: dict[str, Schema], unit: TimeUnit) -> list[str]:
    late = late_rows(trial)
    lines = []
    for name, stream in trial.streams.items():
        names = " | ".join(field.short_name for field in schemas[name])
        rows = [row for i, row in enumerate(stream.rows) if (name, i) not in late]
        lines += [f"rows {name}", names, *(_line(row, schemas[name]) for row in rows), ""]
    for name, relation in trial.relations.items():
        initial = [f"+ {_line(row, schemas[name])}" for row in relation.initial]
        changes = [
            f"@{print_instant(one.at, unit)} {one.sign} {_line(one.row, schemas[name])}"
            for one in relation.changes
        ]
        lines += [f"rows {name}", *initial, *changes, ""]
    return lines


def _line(row: Row, schema: Schema) -> str:
    return " | ".join(_cells(row, schema))


def _expectation(plan: Plan) -> str:
    if not isinstance(plan, RelationToStream):
        return "changes"
    return "emits in order" if is_ordered(plan.child) else "emits"


class _Judge:
    """The reference evaluator on a plan of its own: the query's, with edits."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def answer(self, question: Question) -> CaseAnswer:
        """The result by definition."""
        return OracleEngine().evaluated(self._plan, question.inputs)


def _with_expectation(text: str, plan: Plan) -> str:
    """The test with what the reference evaluator answers filled in."""
    test = parse_test(text, "the trial")
    (case,) = test.cases
    verdict = run_case(case, _Judge(plan))
    if not verdict.passed and not verdict.replacements:
        msg = f"the trial cannot be written as a stream test: {verdict.text}"
        raise InternalError(msg)
    return with_blocks(test.source, verdict.replacements)


def read_trial(text: str, name: str) -> Trial:
    """The trial of a file that `trial_text` wrote.

    Raises:
        DataError: It is no such file.
    """
    test = parse_test(text, name)
    found = [line for line in text.splitlines() if line.startswith(_FED)]
    if len(found) != 1 or len(test.cases) != 1:
        msg = f"{name} is not a trial: it does not say how its rows were fed"
        raise DataError(msg, hint="Run it as any stream test: ./penstock test.")
    fed: dict[str, Any] = json.loads(found[0].removeprefix(_FED))
    (case,) = test.cases
    setup = set_up(case)
    script = "\n".join(block.text for block in case.setup if block.kind == "cql")
    return Trial(
        FileProgram(script, case.subject.text.rstrip().removesuffix(";")),
        _streams(setup, fed),
        _relations(setup, fed),
        feed_count=fed["feeds"],
        lanes=fed["lanes"],
        restore_after=frozenset(fed["restore_after"]),
        lanes_after=dict(fed.get("lanes_after", ())),
        replan_after=fed.get("replan_after"),
        replan_by=fed.get("replan_by", 0),
        **{one.name: fed[one.name] for one in fields(Tactics) if one.name in fed},
        partitions=fed["partitions"],
        budget=fed.get("budget"),
        scheduler=fed.get("scheduler", "fifo"),
        scheduler_options=fed.get("scheduler_options", {}),
        latency=fed.get("latency"),
        block_rows=fed.get("block_rows", 1),
        shedding=fed.get("shedding"),
        shedding_bound=fed.get("shedding_bound", 1),
        edits=tuple(Edit(*edit) for edit in fed["edits"]),
    )


def _streams(setup: Setup, fed: dict[str, Any]) -> dict[str, StreamInput]:
    streams = {}
    for one in setup.session.catalog.of_kind("stream"):
        if not isinstance(one, StreamDefinition) or one.name not in fed["fed_with"]:
            continue
        rows = list(setup.streams[one.name])
        for name, position, cells in fed["late"]:
            if name == one.name:
                late = zip(cells, one.schema.types, strict=True)
                rows.insert(position, tuple(read_cell(cell, type_) for cell, type_ in late))
        time_index = one.schema.names.index(one.time_column)
        feeds = tuple(fed["fed_with"][one.name])
        streams[one.name] = StreamInput(tuple(rows), feeds, one.slack, time_index)
    return streams


def _relations(setup: Setup, fed: dict[str, Any]) -> dict[str, RelationInput]:
    return {
        one.name: RelationInput(
            tuple(setup.initial[one.name]),
            tuple(setup.changes[one.name]),
            tuple(fed["fed_with"][one.name]),
        )
        for one in setup.session.catalog.of_kind("relation")
        if one.name in fed["fed_with"]
    }
