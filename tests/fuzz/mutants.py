"""The reference evaluator with one definition spoilt: what a wrong engine might compute."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from unittest import mock

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.reference import emissions, inputs, oracle, windows
from penstock.reference.snapshots import DEFINITIONS, Definitions
from penstock.reference.timeline import Tagged, bag_of
from penstock.testing.engines import OracleEngine
from penstock_fuzz.trial import Trial, TrialResult, late_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.algebra.plan import Plan
    from penstock.reference.inputs import Inputs
    from penstock.reference.timeline import Snapshot


@dataclass(frozen=True)
class Mutant:
    """An evaluator of which one part is replaced."""

    name: str
    part: Any
    takes_edits: bool = True
    replans: bool = False

    def run_trial(self, trial: Trial, plan: Plan) -> TrialResult:
        late = late_rows(trial)
        with self.part():
            return TrialResult(OracleEngine().evaluated(plan, trial.inputs(late)), late)


def definition(kind: type[Plan], spoilt: Callable[..., Snapshot]) -> Any:
    return lambda: mock.patch.dict(DEFINITIONS, {kind: spoilt})


def function(module: Any, name: str, spoil: Callable[[Any], Any]) -> Any:
    return lambda: mock.patch.object(module, name, spoil(getattr(module, name)))


def spoilt_result(kind: type[Plan], spoil: Callable[[Snapshot], Snapshot]) -> Any:
    right = DEFINITIONS[kind]
    return definition(kind, lambda self, plan, inputs: spoil(right(self, plan, inputs)))


def without_doubles(rows: Snapshot) -> Snapshot:
    return list({one.row: one for one in rows}.values())


def without_nulls(rows: Snapshot) -> Snapshot:
    return [one for one in rows if None not in one.row]


def outer_matches_null(self: Definitions, plan: op.AntiJoin, inputs: list[Snapshot]) -> Snapshot:
    """An anti-join that takes NULL for TRUE."""
    left, right = inputs
    schema = plan.left.schema + plan.right.schema
    return [
        a
        for a in left
        if all(
            self._value(plan.condition, schema, Tagged(a.row + b.row, a.tag + b.tag)) is False
            for b in right
        )
    ]


def set_difference(self: Definitions, plan: op.Difference, inputs: list[Snapshot]) -> Snapshot:
    left, right = map(bag_of, inputs)
    return [
        Tagged(row)
        for row in (Counter({r: n for r, n in left.items() if r not in right})).elements()
    ]


def semi_join_with_copies(self: Definitions, plan: op.SemiJoin, inputs: list[Snapshot]) -> Snapshot:
    left, right = inputs
    schema = plan.left.schema + plan.right.schema
    return [a for a in left for _ in self._matches(plan.condition, schema, a, right)]


def earlier_relation(right: Callable[[Tagged], int]) -> Callable[[Tagged], int]:
    """A non-retroactive relation read before the updates of the row's own instant."""
    return lambda row: right(row) - 1


def one_row_more(right: Any) -> Any:
    def intervals(spec: Any, arrivals: Any, schema: Any) -> Any:
        return right(replace(spec, count=spec.count + 1), arrivals, schema)

    return intervals


def without_slide(right: Any) -> Any:
    def intervals(spec: Any, arrivals: Any, schema: Any) -> Any:
        return right(replace(spec, slide=None), arrivals, schema)

    return intervals


def without_partition(right: Any) -> Any:
    def intervals(spec: Any, arrivals: Any, schema: Any) -> Any:
        return right(replace(spec, partition_by=()), arrivals, schema)

    return intervals


def every_other_call(right: Any) -> Any:
    return lambda *args, **named: right(*args, **named)[1:]


@contextmanager
def no_changes() -> Iterator[None]:
    """Relations whose changes are not seen."""
    with mock.patch.object(oracle, "relation_elements", _frozen(inputs.relation_elements)):
        yield


def _frozen(right: Any) -> Any:
    def elements(relation: Any, given: Inputs) -> Any:
        still = {name: replace(one, changes=()) for name, one in given.relations.items()}
        return right(relation, replace(given, relations=still))

    return elements


MUTANTS = [
    Mutant("join drops doubles", spoilt_result(op.Join, without_doubles)),
    Mutant("join drops rows with NULL", spoilt_result(op.Join, without_nulls)),
    Mutant("product loses a row", spoilt_result(op.Product, lambda rows: rows[1:])),
    Mutant("semi-join with copies", definition(op.SemiJoin, semi_join_with_copies)),
    Mutant("anti-join takes NULL for TRUE", definition(op.AntiJoin, outer_matches_null)),
    Mutant("anti-join drops doubles", spoilt_result(op.AntiJoin, without_doubles)),
    Mutant("DISTINCT drops NULLs", spoilt_result(op.Distinct, without_nulls)),
    Mutant("DISTINCT keeps doubles", definition(op.Distinct, Definitions._unchanged)),
    Mutant("EXCEPT ALL takes all copies", definition(op.Difference, set_difference)),
    Mutant("INTERSECT ALL drops doubles", spoilt_result(op.Intersection, without_doubles)),
    Mutant("max-union adds", definition(op.MaxUnion, Definitions._union_all)),
    Mutant("strict difference counts", definition(op.StrictDifference, Definitions._difference)),
    Mutant("UNION ALL drops doubles", spoilt_result(op.UnionAll, without_doubles)),
    Mutant("GROUP BY drops the NULL group", spoilt_result(op.Aggregate, without_nulls)),
    Mutant("group join drops doubles", spoilt_result(op.GroupJoin, without_doubles)),
    Mutant("scalar product drops doubles", spoilt_result(op.ScalarProduct, without_doubles)),
    Mutant("groups are not divided", definition(op.Group, Definitions._unchanged)),
    Mutant(
        "LIMIT without order",
        definition(orders.Sort, lambda self, plan, inputs: inputs[0][: plan.limit]),
    ),
    Mutant(
        "coalesce drops doubles",
        definition(op.Coalesce, lambda self, plan, inputs: without_doubles(inputs[0])),
    ),
    Mutant("split loses a row", definition(op.Split, lambda self, plan, inputs: inputs[0][1:])),
    Mutant("NRR read too early", function(oracle, "arrival_of", earlier_relation)),
    Mutant("relations never change", no_changes),
    Mutant("ROWS one row longer", function(windows, "_row_intervals", one_row_more)),
    Mutant("ROWS without SLIDE", function(windows, "_row_intervals", without_slide)),
    Mutant("ROWS without PARTITION BY", function(windows, "_row_intervals", without_partition)),
    Mutant("ISTREAM loses a row", function(emissions, "istream", every_other_call)),
    Mutant("DSTREAM loses a row", function(emissions, "dstream", every_other_call)),
    Mutant("RSTREAM loses a row", function(emissions, "rstream", every_other_call)),
    Mutant("ISTREAM RESTORE loses a row", function(emissions, "istream_restore", every_other_call)),
    Mutant("RSTREAM RESTORE loses a row", function(emissions, "rstream_restore", every_other_call)),
    Mutant("INTERNAL forgets", function(oracle.Oracle, "_combinations", every_other_call)),
]
