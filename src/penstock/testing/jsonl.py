"""Cases as JSON lines, one object a line, written by others (see shared/cases/README.md).

They compare more loosely than stream tests do: numbers other than integers to five significant
digits, and only up to the instant `until`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from penstock.algebra.time import BEGINNING, TimeUnit
from penstock.algebra.types import BIGINT, BOOLEAN, DOUBLE, STRING, Type
from penstock.algebra.values import format_value
from penstock.errors import DataError
from penstock.reference.compare import Mismatch, by_instant, report, unmatched
from penstock.reference.inputs import Inputs, RelationChange, RelationHistory
from penstock.reference.timeline import Row, Timeline, in_order
from penstock.testing.engines import Question
from penstock.testing.runner import Asking, CaseRun, Verdict, answered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from penstock.algebra.expressions import Value
    from penstock.algebra.plan import Plan
    from penstock.reference.timeline import Emission
    from penstock.testing.engines import CaseEngine

Content = dict[int, list[tuple[str, Row]]]
"""At each instant the rows, each with its sign (none for content)."""
TYPES: dict[str, Type] = {
    "int": BIGINT, "integer": BIGINT, "long": BIGINT, "bigint": BIGINT,
    "float": DOUBLE, "double": DOUBLE, "str": STRING, "string": STRING,
    "bool": BOOLEAN, "boolean": BOOLEAN,
}  # fmt: skip
DIGITS = 5
NOTHING = Decimal("1e-9")
"""The value that counts as zero where a zero is expected: it has no significant digits."""
REQUIRED = ("id", "ts_unit", "streams", "query", "until", "expect")


@dataclass(frozen=True)
class JsonCase:
    """One line of the file."""

    file: str
    line: int
    content: Mapping[str, Any]

    @property
    def title(self) -> str:
        """The case's id."""
        return str(self.content["id"])

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}"


def load_json_cases(path: Path) -> list[JsonCase]:
    """Read a file of cases.

    Raises:
        DataError: It cannot be read, or a line is no case.
    """
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as fault:
        msg = f"cannot read {path}: {fault}"
        raise DataError(msg) from fault
    return [_case(path, i, line) for i, line in enumerate(lines, start=1) if line.strip()]


def _case(path: Path, number: int, line: str) -> JsonCase:
    try:
        content = json.loads(line)
    except json.JSONDecodeError as fault:
        msg = f"{path}: line {number}: not JSON: {fault}"
        raise DataError(msg) from fault
    missing = [key for key in REQUIRED if key not in content] if isinstance(content, dict) else []
    if missing or not isinstance(content, dict):
        msg = f"{path}: line {number}: a case lacks {', '.join(missing) or 'everything'}"
        raise DataError(msg, hint=f"A case is an object with the keys {', '.join(REQUIRED)}.")
    return JsonCase(str(path), number, content)


def run_json_case(case: JsonCase, engine: CaseEngine) -> Verdict:
    """Run a case in a session of its own."""
    return answered(CaseRun(case.title, case.place, asking(case)), engine)


def asking(case: JsonCase) -> Asking:
    """Run a case up to its question, and on from the answer."""
    from penstock.session import Session

    session = Session()
    statements = statements_of(case)
    for statement in statements:
        session.execute(statement)
    text = case.content["query"]
    plan = session.bind(text).plan
    answer = yield Question(plan, inputs_of(case), tuple(statements), text)
    expected, actual = _expected(case), _actual(case, answer.result)
    differences = [
        _difference(at, expected.get(at, []), actual.get(at, []), plan)
        for at in sorted({*expected, *actual})
    ]
    unit = TimeUnit(case.content["ts_unit"])
    text = report([one for one in differences if one is not None], unit)
    return Verdict(case.title, case.place, text or "")


def statements_of(case: JsonCase) -> list[str]:
    """The CQL that declares what a case needs."""
    content = case.content
    statements = ["SET integer_division = true;"]
    for name, stream in content["streams"].items():
        time = _quoted(stream["schema"][0][0])
        columns = f"{_columns(stream['schema'])}, WATERMARK FOR {time} AS {time}"
        options = f"USING memory OPTIONS (time_unit '{content['ts_unit']}')"
        statements.append(f"CREATE STREAM {_quoted(name)} ({columns}) {options};")
    for name, relation in content.get("relations", {}).items():
        columns = _columns(relation["schema"])
        statements.append(f"CREATE RELATION {_quoted(name)} ({columns}) USING memory;")
    for name, query in content.get("views", []):
        statements.append(f"CREATE VIEW {_quoted(name)} AS {query};")
    return statements


def _columns(schema: Iterable[Sequence[str]]) -> str:
    return ", ".join(f"{_quoted(name)} {TYPES[type_]}" for name, type_ in schema)


def _quoted(name: str) -> str:
    return f"`{name}`"


def inputs_of(case: JsonCase) -> Inputs:
    """The rows of the streams and the changes of the relations."""
    streams = {
        name: [_row(row, stream["schema"]) for row in stream["rows"]]
        for name, stream in case.content["streams"].items()
    }
    relations = {
        name: RelationHistory(
            changes=[
                RelationChange(at, sign, _row(row, relation["schema"]))
                for at, sign, *row in relation["changes"]
            ]
        )
        for name, relation in case.content.get("relations", {}).items()
    }
    return Inputs(streams, relations)


def _row(values: Iterable[Value], schema: Iterable[Sequence[str]]) -> Row:
    """JSON writes 20.0 as it likes; a float column holds floats."""
    return tuple(
        float(value) if TYPES[type_] == DOUBLE and isinstance(value, int) else value
        for value, (_, type_) in zip(values, schema, strict=True)
    )


def _expected(case: JsonCase) -> Content:
    content: Content = {}
    if "initial" in case.content:
        content[BEGINNING] = _signed("", case.content["initial"])
    for entry in case.content["expect"]:
        rows = content.setdefault(entry["at"], [])
        rows += _signed("", entry.get("rows", ()))
        rows += _signed("-", entry.get("remove", ()))
        rows += _signed("+", entry.get("insert", ()))
    return content


def _actual(case: JsonCase, result: Timeline | Sequence[Emission]) -> Content:
    entries = case.content["expect"]
    only_contents = any("rows" in entry for entry in entries)
    content: Content = {}
    if not isinstance(result, Timeline):
        sent = by_instant(result)
        content = {at: _signed("+", rows) for at, rows in sent.items()}
        if only_contents:
            content = {one["at"]: _signed("", sent.get(one["at"], [])) for one in entries}
    elif only_contents:
        content = {one["at"]: _signed("", in_order(result.at(one["at"]))) for one in entries}
    else:
        for change in result.changes():
            removed = _signed("-", in_order(change.removed))
            content[change.at] = removed + _signed("+", in_order(change.inserted))
    content = {at: rows for at, rows in content.items() if at <= case.content["until"]}
    if "initial" in case.content and isinstance(result, Timeline):
        content[BEGINNING] = _signed("", in_order(result.initial))
    return content


def _signed(sign: str, rows: Iterable[Sequence[Value]]) -> list[tuple[str, Row]]:
    return [(sign, tuple(row)) for row in rows]


def _difference(
    at: int, expected: list[tuple[str, Row]], actual: list[tuple[str, Row]], plan: Plan
) -> Mismatch | None:
    missing, unexpected = unmatched(expected, actual, _accepts)
    if not (missing or unexpected):
        return None
    return Mismatch(
        at,
        [f"{sign} {' | '.join(map(json.dumps, row))}".lstrip() for sign, row in missing],
        [
            f"{sign} {' | '.join(map(format_value, row, plan.schema.types))}".lstrip()
            for sign, row in unexpected
        ],
    )


def _accepts(expected: tuple[str, Row], actual: tuple[str, Row]) -> bool:
    return (
        expected[0] == actual[0]
        and len(expected[1]) == len(actual[1])
        and all(map(same, expected[1], actual[1]))
    )


def same(expected: Value, actual: Value) -> bool:
    """A computed value equals the expected one, numbers to five significant digits.

    >>> same(19.767, 19.76666), same(19.767, 19.76), same(3, 3.0), same(3, 4), same(1, True)
    (True, False, True, False, False)
    """
    if not (_is_number(expected) and _is_number(actual)):
        return type(expected) is type(actual) and expected == actual
    if isinstance(expected, int) and isinstance(actual, int):
        return expected == actual
    wanted, found = Decimal(expected), Decimal(actual)  # type: ignore[arg-type]  # both numbers
    if not wanted.is_finite() or not found.is_finite():
        return wanted == found
    if not wanted:
        return abs(found) < NOTHING
    return abs(wanted - found) <= Decimal(5).scaleb(wanted.adjusted() - DIGITS)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)
