"""The templates name every function and aggregate of the language, and tell the truth on kinds."""

from __future__ import annotations

import pytest

from penstock.algebra.expressions import Call, walk
from penstock.algebra.operators import Aggregate
from penstock.algebra.plan import different_nodes, expressions_of
from penstock.catalog import functions as catalog
from penstock.session import Session
from penstock_fuzz import functions as templates
from penstock_fuzz.coverage import REWRITTEN
from penstock_fuzz.draw import Draw
from penstock_fuzz.expressions import Expressions
from penstock_fuzz.kinds import CONSTANTS, FLOAT, TYPE_OF
from penstock_fuzz.text import Text, written

COLUMNS: dict[Text, str] = {
    written(f"value {kind}", f"c_{kind}"): kind for kind in (*TYPE_OF, FLOAT)
}
TYPES = {**TYPE_OF, FLOAT: "DOUBLE"}


def session() -> Session:
    declared = Session()
    columns = ", ".join(f"c_{kind} {type_}" for kind, type_ in TYPES.items())
    declared.execute(f"CREATE STREAM s (ts BIGINT, {columns}, WATERMARK FOR ts AS ts)")
    return declared


SESSION = session()


def filled(template: str, kind: str) -> str:
    """A template whose holes are columns."""
    text = template.replace("!<", "<").replace("<?>", "(c_INT > 1)").replace("<>", f"c_{kind}")
    for name in TYPES:
        text = text.replace(f"<{name}>", f"c_{name}")
    return text


SCALARS = [(kind, one) for kind, many in templates.FUNCTIONS.items() for one in many]
AGGREGATES = [(kind, one) for kind, many in templates.AGGREGATES.items() for one in many]
CONDITIONS = [*templates.COMPARISONS, *templates.CONDITIONS, *templates.CONNECTIVES]
FAMILIES = {"INT": ("INT", "BIGINT"), "BIGINT": ("BIGINT", "INT"), "DECIMAL": ("DECIMAL",)}


@pytest.mark.parametrize(("kind", "template"), SCALARS + AGGREGATES)
def test_a_template_has_the_type_of_its_kind(kind: str, template: str) -> None:
    plan = SESSION.bind(f"SELECT {filled(template, kind)} AS x FROM s [RANGE 5]").plan
    assert plan.schema.types[0].name in FAMILIES.get(kind, (TYPES[kind],))


@pytest.mark.parametrize("kind", TYPES)
def test_functions_of_any_kind_and_constants_are_of_their_kind(kind: str) -> None:
    items = [filled(one, kind) for one in templates.OF_ANY_KIND] + list(CONSTANTS[kind])
    listed = ", ".join(f"{item} AS x{i}" for i, item in enumerate(items))
    types = SESSION.bind(f"SELECT {listed} FROM s").plan.schema.types
    assert {one.name for one in types} <= set(FAMILIES.get(kind, (TYPES[kind],)))


@pytest.mark.parametrize("template", CONDITIONS)
def test_a_condition_is_one(template: str) -> None:
    SESSION.bind(f"SELECT k.c_INT FROM s [NOW] AS k WHERE {filled(template, 'INT')}")


def test_every_function_and_every_aggregate_has_a_template() -> None:
    items = [filled(one, kind) for kind, one in SCALARS]
    items += [filled(one, "INT") for one in templates.OF_ANY_KIND]
    items += [f"({filled(one, 'INT')})" for one in CONDITIONS]
    calls = set()
    for item in items:
        for node in different_nodes(SESSION.bind(f"SELECT {item} AS x FROM s").plan):
            for expression in expressions_of(node):
                calls |= {one.function for one in walk(expression) if isinstance(one, Call)}
    assert set(catalog.FUNCTIONS) - REWRITTEN <= calls
    aggregates = set()
    for kind, one in AGGREGATES:
        for node in different_nodes(SESSION.bind(f"SELECT {filled(one, kind)} AS x FROM s").plan):
            if isinstance(node, Aggregate):
                aggregates |= {call.function for _, call in node.aggregates}
    assert set(catalog.AGGREGATES) <= aggregates


@pytest.mark.parametrize("kind", [*TYPE_OF])
def test_what_must_be_exact_is_not_made_of_what_is_not(kind: str) -> None:
    values = Expressions(Draw(kind))
    loose = {column: one for column, one in COLUMNS.items() if one == FLOAT}
    for _ in range(200):
        assert "c_FLOAT" not in str(values.value(kind, COLUMNS, 3))
        assert "c_FLOAT" not in str(values.condition(loose, 2))
