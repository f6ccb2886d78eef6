"""docs/users/functions.md is the registry of functions, written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docs.function_examples import AGGREGATES as AGGREGATE_EXAMPLES
from docs.function_examples import ESTIMATES as ESTIMATE_EXAMPLES
from docs.function_examples import FORMS, SCALARS
from docs.pages import HOW_TO_UPDATE, ROOT, UPDATE
from penstock.catalog.functions import AGGREGATES, FUNCTIONS, THEMES
from penstock.catalog.functions.sample_estimates import ESTIMATES
from penstock.reference.inputs import Inputs, RelationHistory
from penstock.reference.oracle import Oracle
from penstock.session import Session
from penstock.testing.expected_rows import print_cell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.catalog.functions import Function
    from penstock.catalog.functions.aggregate_types import AggregateType

PAGE = ROOT / "docs" / "users" / "functions.md"
HEAD = """\
# Functions and operators

A test writes this page from the registry in `src/penstock/catalog/functions/registry.py` and from
the examples in `tests/docs/function_examples.py`. Do not edit it; run
`UPDATE_DOCS=1 ./test tests/docs`.

- A function of NULL is NULL, unless its line says otherwise.
- A function that fails gives NULL, and the failure is counted: division by zero, overflow, a text
  that is not what CAST asks for.
- Names can be written in upper or lower case.
- Functions of the wall clock and of chance do not exist: an answer is a function of the rows.
"""
AGGREGATES_HEAD = """\
The examples are over four rows: x = 2, 4, 6 and NULL. All aggregates skip NULL, take DISTINCT and
FILTER (WHERE ...), and are NULL over nothing; the counts are 0.
"""
ESTIMATES_HEAD = """\
Where one row in w was kept by chance, and each that stayed says so
([shedding](scheduling.md#shedding)). The examples are over the same rows; each stands for 4. Errors
are standard errors: of 100 estimates 68 or so are off by no more, and 95 by at most twice that.
"""
ROWS = [(2,), (4,), (6,), (None,)]


def value_of(expression: str, rows: list[tuple[int | None]]) -> str:
    """What an expression over rows x gives, as shown to people."""
    session = Session()
    session.execute("CREATE RELATION r (x INT)")
    plan = session.bind(f"SELECT {expression} AS value FROM r").plan
    inputs = Inputs(relations={"r": RelationHistory(rows)})
    ((value,),) = Oracle(inputs).timeline(plan).initial
    (type_,) = plan.schema.types
    return f"{print_cell(value, type_)}` ({type_})"


def table(rows: Iterator[tuple[str, str, str]], known: list[tuple[int | None]]) -> Iterator[str]:
    yield "| name | what it gives | example |"
    yield "|---|---|---|"
    for name, summary, example in rows:
        shown = f"`{example}` is `{value_of(example, known)}"
        yield f"| {name} | {escaped(summary)} | {escaped(shown)} |"


def escaped(text: str) -> str:
    """For the cell of a table."""
    return text.replace("|", "\\|")


def names(function: Function | AggregateType) -> str:
    every = [function.name, *function.aliases]
    return ", ".join(f"`{escaped(name.upper())}`" for name in every)


def rendered() -> str:
    lines = [HEAD]
    for theme, functions in THEMES.items():
        rows = ((names(one), one.summary, SCALARS[one.name]) for one in functions)
        lines += [f"## {theme}", "", *table(rows, [(1,)]), ""]
    lines += ["## Forms with a grammar of their own", "", *table(iter(FORMS), [(1,)]), ""]
    rows = ((names(one), one.summary, AGGREGATE_EXAMPLES[one.name]) for one in AGGREGATES.values())
    lines += ["## Aggregates", "", AGGREGATES_HEAD, *table(rows, ROWS), ""]
    estimates = (
        (f"`{one.name.upper()}`", one.summary, ESTIMATE_EXAMPLES[one.name])
        for one in ESTIMATES.values()
    )
    lines += ["## Estimates from a sample", "", ESTIMATES_HEAD, *table(estimates, ROWS), ""]
    return "\n".join(lines)


def test_every_function_has_an_example() -> None:
    assert set(SCALARS) == set(FUNCTIONS)
    assert set(AGGREGATE_EXAMPLES) == set(AGGREGATES)


def test_the_page_is_up_to_date() -> None:
    if UPDATE:
        PAGE.write_text(rendered(), "utf-8")
    assert PAGE.read_text("utf-8") == rendered(), HOW_TO_UPDATE
