"""State of the operators of a plan: the structures it is kept in, and how much there is.

One operator of a plan may run as several: what each of them keeps is named here, as `lowering` puts
them together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.expressions import columns_of
from penstock.algebra.patterns import Pattern, pattern_as_run, pattern_of
from penstock.algebra.plan import different_nodes
from penstock.algebra.types import STRING
from penstock.algebra.windows import Hopping, Rows
from penstock.operators.join.join_choosing import INDEX, LOOK
from penstock.planner.conditions import join_condition
from penstock.planner.cost.flows import present
from penstock.planner.physical.building import combined
from penstock.planner.physical.lower_internal import lets_in_again
from penstock.planner.physical.lower_joins import condition_of
from penstock.planner.physical.multiway import Multiway
from penstock.planner.physical.physical_only import ArrivalRead, OuterJoin

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Binary, Plan
    from penstock.algebra.types import Schema
    from penstock.planner.conditions import JoinCondition
    from penstock.planner.cost.estimating import Estimates
    from penstock.planner.physical.building import Choices

ROW_BYTES, TEXT_BYTES = 32.0, 24.0
FOUND = INDEX
"""The time it takes to be ready to find a withdrawn row, for each row of a strict input."""


@dataclass(frozen=True)
class StateSize:
    """Rows that an operator keeps in one structure, and their bytes."""

    structure: str
    rows: float
    size: float


def width_of(schema: Schema) -> float:
    """Bytes of a row that is kept, its ends and places in indexes included."""
    return ROW_BYTES + sum(TEXT_BYTES if one.type == STRING else 8.0 for one in schema)


class StateEstimate:
    """The state of the operators of a plan that runs, under given choices."""

    def __init__(self, plan: Plan, choices: Choices, estimates: Estimates) -> None:
        self._choices = choices
        self._estimates = estimates
        self._sorted_above = _sorted_above(plan)

    def pattern(self, plan: Plan) -> Pattern:
        """The pattern of an edge, under the strategy."""
        return pattern_as_run(plan, announced=self._choices.strategy == "negative")

    def of(self, plan: Plan) -> list[StateSize]:
        """The state of one operator; nothing, if it has none."""
        live = self._estimates.of(plan).live
        match plan:
            case st.Relation():
                return [self._rows("hashed", live, plan.schema)]
            case st.Window():
                return self._window(plan)
            case op.Product() | op.Join() | OuterJoin() | Multiway():
                return [self._side(plan, port) for port in range(len(plan.children))]
            case op.SemiJoin() | op.AntiJoin():
                return self._existing(plan)
            case op.GroupJoin():
                return self._group_join(plan)
            case op.ScalarProduct():
                single = self._rows("hashed", 1.0, plan.right.schema)
                return [self._side(plan, 0), self._side(plan, 1), single]
            case op.Distinct():
                before = self._estimates.of(plan.child).live
                return [self._different(self.pattern(plan.child), before, live, plan.schema)]
            case op.BagOperation():
                return self._counted(plan)
            case op.Aggregate():
                return [self._groups(plan, live)]
            case op.Sort() if id(plan) not in self._sorted_above:
                is_cut = plan.limit is not None or plan.offset > 0
                return [self._side(plan, 0)] if is_cut else []
            case op.FirstRows():
                return [self._first_rows(plan)]
            case op.Final():
                strict = self.pattern(plan.child) is Pattern.STR
                return [self._rows("hashed" if strict else "fifo", live, plan.schema)]
            case op.Split():
                return [self._rows("fifo", live, plan.schema)]
            case ArrivalRead():
                return self._arrival(plan, live)
            case st.RelationToStream() | st.Internal():
                return self._sent(plan)
        return []

    def is_indexed(self, plan: Plan, port: int) -> bool:
        """Withdrawn rows of a strict input are found by an index; else by a search."""
        return self._choices.strategy != "auto" or self.search_time(plan, port) > FOUND

    def search_time(self, plan: Plan, port: int) -> float:
        """The time it takes to look for withdrawn rows, for each row of an input."""
        if not isinstance(plan, op.Product | op.Join | op.SemiJoin | op.AntiJoin | OuterJoin):
            return math.inf
        child = plan.children[port]
        flow = self._estimates.of(child)
        asked = _asked(plan)
        values = flow.evenly_spread(_columns(child, (asked.left, asked.right)[port]))
        chain = max(flow.live / max(values, 1.0), 1.0)
        return LOOK * chain * flow.withdrawn / max(flow.rate + flow.withdrawn, 1e-9)

    def _rows(self, structure: str, rows: float, schema: Schema) -> StateSize:
        return StateSize(structure, rows, rows * width_of(schema))

    @property
    def _calendar(self) -> str:
        return f"calendar({self._choices.queue_partitions})"

    def _by(self, pattern: Pattern) -> str:
        """The structure for rows of a pattern."""
        if pattern in (Pattern.MON, Pattern.WKS):
            return "fifo"
        return "hashed" if pattern is Pattern.STR else self._calendar

    def _side(self, plan: Plan, port: int) -> StateSize:
        """An input whose rows are kept until they end or are withdrawn."""
        child = plan.children[port]
        pattern = self.pattern(child)
        structure = self._by(pattern)
        if pattern is Pattern.STR and not self.is_indexed(plan, port):
            structure = self._calendar
        return self._rows(structure, self._estimates.of(child).live, child.schema)

    def _different(self, pattern: Pattern, rows: float, values: float, schema: Schema) -> StateSize:
        """Rows of a pattern, each different one once; counted where they are withdrawn.

        Where nothing is, each value keeps itself and its youngest copy.
        """
        if pattern is Pattern.STR:
            return self._rows("hashed", rows, schema)
        return self._rows(self._calendar, 2 * values, schema)

    def _window(self, plan: st.Window) -> list[StateSize]:
        flow = self._estimates.of(plan)
        if plan.spec.counts_rows:
            return [self._rows("fifo", flow.live, plan.schema)]
        found = []
        if isinstance(plan.spec, Hopping) and not plan.spec.open:
            # Rows wait for the end of each of their windows, half of its length on average.
            found.append(self._rows("fifo", flow.rate * plan.spec.length / 2, plan.schema))
        if plan.spec.time_slide:
            # Rows wait for the next slide.
            found.append(self._rows("fifo", flow.rate * plan.spec.time_slide / 2, plan.schema))
        if self.pattern(plan) is Pattern.STR:
            # Rows are remembered, to be withdrawn at their end.
            found.append(self._rows("fifo", flow.live, plan.schema))
        return found

    def _existing(self, plan: op.SemiJoin | op.AntiJoin) -> list[StateSize]:
        """By equal keys: left rows, and the different keys of the right side, which cover them.

        By anything else: both sides, the numbers of left rows with a match and, to tell those
        without one, the left rows once more.
        """
        asked = _asked(plan)
        if not asked.is_only_keys:
            anti = isinstance(plan, op.AntiJoin)
            return [*self._numbered(plan), *(self._uncovered(plan) if anti else ())]
        right = self._estimates.of(plan.right)
        keys = present(right.values(_columns(plan.right, asked.right)), right.live)
        pattern, size = self.pattern(plan.right), ROW_BYTES + 8.0 * len(asked.right)
        distinct = right.live if pattern is Pattern.STR else 2 * keys
        structure = "hashed" if pattern is Pattern.STR else self._calendar
        return [
            self._side(plan, 0),
            StateSize(structure, distinct, distinct * size),
            StateSize(self._by(combined([pattern])), keys, keys * size),
        ]

    def _numbered(self, plan: Binary) -> list[StateSize]:
        """Numbered left rows, the rows that meet, and the numbers of left rows with a match."""
        left, pairs = self._estimates.of(plan.left), self._estimates.pairs(plan)
        found = [self._side(plan, 0), self._side(plan, 1)]
        if self.pattern(plan.left) is Pattern.STR:
            # The number of a row is found again when it is withdrawn.
            found.append(self._rows("hashed", left.live, plan.left.schema))
        pattern, matched = self._pairs_pattern(plan), min(left.live, pairs.live)
        return [*found, self._different(pattern, pairs.live, matched, plan.left.schema)]

    def _pairs_pattern(self, plan: Binary) -> Pattern:
        return combined([self.pattern(child) for child in plan.children])

    def _uncovered(self, plan: Binary) -> list[StateSize]:
        """Left rows once more, and the numbers of those with a match, which cover them."""
        left, pairs = self._estimates.of(plan.left), self._estimates.pairs(plan)
        numbers = min(left.live, pairs.live)
        covered = self._by(combined([self._pairs_pattern(plan)]))
        kept = self._by(self.pattern(plan.left))
        size = ROW_BYTES + 8.0
        return [
            self._rows(kept, left.live, plan.left.schema),
            StateSize(covered, numbers, numbers * size),
        ]

    def _group_join(self, plan: op.GroupJoin) -> list[StateSize]:
        """As an anti-join, and the pairs in groups of their left rows."""
        pairs = self._estimates.pairs(plan)
        totals = self._rows(self._by(self._pairs_pattern(plan)), pairs.live, plan.schema)
        return [*self._numbered(plan), totals, *self._uncovered(plan)]

    def _counted(self, plan: op.BagOperation) -> list[StateSize]:
        """Different rows with their copies, and the ends that wait."""
        return [self._side(plan, port) for port in range(2)]

    def _groups(self, plan: op.Aggregate, groups: float) -> StateSize:
        """Rows until they leave their group, and a row for each group."""
        if self.pattern(plan.child) is Pattern.MON:
            return self._rows("hashed", groups, plan.schema)
        side = self._side(plan, 0)
        return StateSize(side.structure, side.rows + groups, side.size)

    def _first_rows(self, plan: op.FirstRows) -> StateSize:
        """All rows of an input that comes and goes; of one that stays, those that are shown."""
        side = self._side(plan, 0)
        if self.pattern(plan.child) is not Pattern.MON:
            return side
        shown = min(side.rows, self._estimates.of(plan).live * (1 + plan.offset))
        return self._rows("hashed", shown, plan.child.schema)

    def _arrival(self, plan: ArrivalRead, live: float) -> list[StateSize]:
        """The relation; under a window that counts rows, also what was made of each row."""
        relation = plan.reading.right
        structure = self._by(self.pattern(relation))
        found = [self._rows(structure, self._estimates.of(relation).live, relation.schema)]
        windows = st.input_windows(plan.reading.left)
        if any(isinstance(one, st.Window) and one.spec.counts_rows for one in windows):
            found.append(self._rows("hashed", live, plan.schema))
        return found

    def _sent(self, plan: st.RelationToStream | st.Internal) -> list[StateSize]:
        """The result of a query, counted, by which it is told what is sent out."""
        if isinstance(plan, st.Internal) and plan.appends == "combinations":
            return self._combinations(plan)
        inserts = isinstance(plan, st.IStream) or getattr(plan, "appends", "") == "insertions"
        found = [self._result(_unsorted(plan))]
        if isinstance(plan, st.AtEnds) and not st.is_ordered(plan.child):
            return [] if st.ends_are_apart(plan.child) else [*found, *self._instants(plan)]
        if inserts and self.pattern(plan.child) is Pattern.MON:
            found = []
        if isinstance(plan, st.IStream) and plan.restore:
            return [*found, self._until_slide(plan)]
        return found if inserts or isinstance(plan, st.DStream) else [*found, *self._instants(plan)]

    def _result(self, result: Plan) -> StateSize:
        """The rows of a result, as they come."""
        live = self._estimates.of(result).live
        return self._rows(self._by(self.pattern(result)), live, result.schema)

    def _combinations(self, plan: st.Internal) -> list[StateSize]:
        """Combinations that may come back are known, so that each is appended once."""
        if not lets_in_again(plan.child):
            return []
        return [self._rows(self._calendar, self._estimates.of(plan.child).live, plan.schema)]

    def _until_slide(self, plan: st.IStream) -> StateSize:
        """Rows that wait for the next slide."""
        slide = st.slide_sent(plan)
        step = (slide and slide.time_slide) or 1
        return self._rows("fifo", self._estimates.of(plan).rate * step / 2, plan.schema)

    def _instants(self, plan: st.RelationToStream | st.Internal) -> list[StateSize]:
        """By which it is known when a result is sent: partitions of rows, or ends of rows."""
        slide = st.slide_sent(plan)
        windows = list(st.input_windows(plan.child))
        if isinstance(slide, Rows) and windows:
            rows = self._estimates.of(windows[0].children[0])
            groups = present(rows.values(slide.partition_by), rows.live)
            return [StateSize("hashed", groups, groups * ROW_BYTES)]
        if slide is not None:
            return []
        # What counts rows tells of an end when it has come.
        ending = [one for one in windows if pattern_of(one) is Pattern.WKS]
        ends = sum(self._estimates.of(one).live for one in ending)
        return [StateSize(self._calendar, ends, ends * 8.0)] if ending else []


def _sorted_above(plan: Plan) -> set[int]:
    """The Sorts of a plan that are done by what sends the result out."""
    found = set()
    for node in different_nodes(plan):
        below = node.children[0] if node.children else node
        if _sorts(node) and st.is_ordered(below):
            while isinstance(below, op.Map):
                below = below.child
            found.add(id(below))
    return found


def _sorts(plan: Plan) -> bool:
    """An operator that puts the rows that it sends in order itself."""
    if isinstance(plan, st.Internal):
        return plan.appends == "slides"
    if isinstance(plan, st.AtEnds):
        return True
    return isinstance(plan, st.RStream) and not plan.restore


def _unsorted(plan: st.RelationToStream | st.Internal) -> Plan:
    """The rows that an operator sends, before it puts them in order."""
    result = plan.child
    while _sorts(plan) and st.is_ordered(result):
        result = result.children[0]
    return result


def _asked(plan: Binary) -> JoinCondition:
    return join_condition(condition_of(plan), len(plan.left.schema))


def _columns(child: Plan, keys: tuple[Expression, ...]) -> list[str]:
    """The columns of an input that keys are made of, which are written over positions."""
    names = child.schema.names
    return [names[int(one)] for key in keys for one in columns_of(key)]
