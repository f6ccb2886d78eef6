"""The set-up of a case: a session with everything declared, and inputs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.algebra.instants import read_instant
from penstock.algebra.types import Schema
from penstock.catalog.definitions import RelationDefinition, StreamDefinition
from penstock.errors import DataError, did_you_mean
from penstock.reference.inputs import Inputs, RelationChange, RelationHistory
from penstock.testing.expected_rows import read_row, split_cells
from penstock.testing.timed import START, timed_lines

if TYPE_CHECKING:
    from penstock.reference.timeline import Row
    from penstock.session import Session
    from penstock.testing.blocks import Line, TextBlock
    from penstock.testing.format import StreamCase


@dataclass
class Setup:
    """A session in which the case's statements have run, its inputs, and the day it plays on."""

    session: Session
    day: str | None = None
    statements: list[str] = field(default_factory=list)
    streams: defaultdict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    initial: defaultdict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    changes: defaultdict[str, list[RelationChange]] = field(
        default_factory=lambda: defaultdict(list)
    )

    @property
    def inputs(self) -> Inputs:
        """The rows and changes given so far."""
        relations = {
            name: RelationHistory(self.initial[name], self.changes[name])
            for name in {*self.initial, *self.changes}
        }
        return Inputs(dict(self.streams), relations)


def set_up(case: StreamCase) -> Setup:
    """Run the statements of a case in a new session and read its rows.

    Raises:
        PenstockError: A statement fails, or rows do not fit the columns; says in which line.
    """
    from penstock.session import Session

    setup = Setup(Session())
    for block in case.setup:
        if block.kind == "day":
            setup.day = block.argument
        elif block.kind == "rows":
            _add_rows(case, setup, block)
        else:
            # Empty lines in front make the places in error messages those of the file.
            text = "\n" * (block.first - 1) + block.text
            setup.session.execute(text, name=case.source.name)
            setup.statements.append(block.text)
    return setup


def _add_rows(case: StreamCase, setup: Setup, block: TextBlock) -> None:
    definition = setup.session.catalog.get(block.argument)
    if isinstance(definition, StreamDefinition):
        if not block.body:
            msg = f'expected the columns of "{definition.name}" in the next line'
            raise case.fault(msg, block.first)
        columns = _header(case, definition, block.body[0])
        rows = [_row(case, setup, line, line.text, columns) for line in block.body[1:]]
        setup.streams[definition.name] += [columns.in_order(row) for row in rows]
    elif isinstance(definition, RelationDefinition):
        _add_changes(case, setup, block, definition)
    else:
        known = [one.name for one in setup.session.catalog.of_kind("stream", "relation")]
        msg = f'there is no stream or relation called "{block.argument}"'
        otherwise = "CREATE it above."
        hint = did_you_mean(block.argument, known, otherwise=otherwise)
        raise case.fault(msg, block.first, hint)


def _add_changes(
    case: StreamCase, setup: Setup, block: TextBlock, relation: RelationDefinition
) -> None:
    columns = _Columns(relation.schema, relation.schema)
    body = block.body
    if body and body[0].text.strip()[0] not in "@+-":
        columns = _header(case, relation, body[0])
        body = body[1:]
    for timed in timed_lines(case.source, block, body):
        if timed.row is None:
            continue
        row = columns.in_order(_row(case, setup, timed.line, timed.row, columns))
        if timed.instant != START:
            at = _instant(case, setup, timed.line, timed.instant)
            change = RelationChange(at, "+" if timed.sign == "+" else "-", row)
            setup.changes[relation.name].append(change)
        elif timed.sign == "+":
            setup.initial[relation.name].append(row)
        else:
            msg = "nothing can leave a relation before all input, expected + or an instant"
            raise case.fault(msg, timed.line.number)


@dataclass(frozen=True)
class _Columns:
    """The columns in the order of the test's header, and in the declared one."""

    written: Schema
    declared: Schema

    def in_order(self, row: Row) -> Row:
        """A row as written, in the order of the declaration."""
        by_name = dict(zip(self.written.names, row, strict=True))
        return tuple(by_name[name] for name in self.declared.names)


def _header(case: StreamCase, of: StreamDefinition | RelationDefinition, line: Line) -> _Columns:
    by_name = {one.short_name.lower(): one for one in of.schema}
    names = [cell.lower() for cell in split_cells(line.text)]
    if sorted(names) != sorted(by_name):
        declared = " | ".join(one.short_name for one in of.schema)
        msg = f'this is not a header for {of.kind} "{of.name}", expected its columns, in any order'
        raise case.fault(msg, line.number, f"For example: {declared}")
    return _Columns(Schema(tuple(by_name[name] for name in names)), of.schema)


def _row(case: StreamCase, setup: Setup, line: Line, text: str, columns: _Columns) -> Row:
    try:
        return read_row(text, columns.written, setup.day)
    except DataError as fault:
        raise case.fault(fault.message, line.number, fault.hint) from fault


def _instant(case: StreamCase, setup: Setup, line: Line, text: str) -> int:
    try:
        return read_instant(text, None, setup.day)
    except DataError as fault:
        raise case.fault(fault.message, line.number, fault.hint) from fault
