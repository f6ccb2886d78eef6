"""For rules whose plans no query text says, or not with these names: plans that are built."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from penstock.builder import QueryBuilder, stream
from planner.rules.parts import COLUMNS, Parts

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Chains:
    """Random plans that no query text says."""

    parts: Parts

    def of(self, name: str) -> QueryBuilder:
        """A stream, without a window."""
        return built(name)

    def windowed(self, query: QueryBuilder) -> QueryBuilder:
        """Under any window."""
        return query.window(self.parts.window()[1:-1])

    def ended(self, query: QueryBuilder) -> QueryBuilder:
        """Under a window that ends, so that intervals can be split."""
        size = self.parts.draw.count(1, 6)
        return query.window(self.parts.draw.pick(f"RANGE {size}", f"FIXED {size}", "NOW"))

    def cut(self, query: QueryBuilder) -> QueryBuilder:
        """In other pieces."""
        draw = self.parts.draw
        return query.coalesce() if draw.chance(50) else query.split(draw.count(1, 3))

    def chosen_cut(self) -> QueryBuilder:
        """Columns of pieces, or one of several parts, at times joined."""
        draw = self.parts.draw
        cut = self.cut(self.ended(self.of("a")))
        if draw.chance(40):
            return self.grouped(cut)
        shown = cut.select("k", d=self.parts.value("v", "k"))
        if draw.chance(40):
            return shown.join(self.windowed(self.of("b")).select("x"), "k = x")
        return shown

    def dropped_cut(self) -> QueryBuilder:
        """Pieces below DISTINCT, or below INTERNAL, at times joined."""
        cut = self.cut(self.ended(self.of("a"))).select("k", "v")
        if self.parts.draw.chance(50):
            return cut.distinct()
        other = self.ended(self.of("b")).select("x")
        return self.parts.draw.pick(cut, cut.join(other, "k = x")).internal()

    def split_twice(self) -> QueryBuilder:
        """Pieces of pieces."""
        first, second = (self.parts.draw.pick(1, 2, 3, 4) for _ in range(2))
        return self.ended(self.of("a")).split(first).split(second)

    def grouped(self, query: QueryBuilder) -> QueryBuilder:
        """One of several parts."""
        draw = self.parts.draw
        return draw.pick(*query.group_into(draw.pick("k", "v", "6 DIV k"), draw.count(2, 3)))

    def where(self, query: QueryBuilder) -> QueryBuilder:
        """Filtered."""
        return query.where(self.parts.on("v", "k"))

    def sent(self, query: QueryBuilder) -> QueryBuilder:
        """At times as a stream."""
        how = self.parts.draw.pick("", "", "istream", "dstream", "rstream", "rstream")
        made = getattr(query, how)() if how else query
        assert isinstance(made, QueryBuilder)
        return made

    def named_alike(self, *, is_negated: bool = True) -> QueryBuilder:
        """A negation below a join with a stream that has the same columns as what it looks into.

        At times it has the same names, too.
        """
        left = self.windowed(self.of("a")).alias("a")
        no, other = (self.windowed(self.of("b")).alias(self.alike()) for _ in range(2))
        matched = left.anti_join if is_negated else left.semi_join
        rows = matched(no, f"a.k = {no.plan.schema.names[1]}")
        return rows.join(other, self.parts.between(f"a.k = {other.plan.schema.names[1]}"))

    def alike(self) -> str:
        """The same name, mostly."""
        return self.parts.draw.pick("b", "b", "d")

    def without(self) -> QueryBuilder:
        """A difference of rows with copies, or without, below a join."""
        left = self.windowed(self.of("a")).select("k", "v")
        taken = self.windowed(self.of("b")).select("x", "k")
        how = self.parts.draw.pick("difference", "distinct", "strict_difference")
        rows = (left.distinct() if how == "distinct" else left).difference(taken)
        if how == "strict_difference":
            rows = left.strict_difference(taken)
        return rows.join(
            self.windowed(self.of("c")).select("z"), self.parts.between("k = z", "v = z")
        )

    def all_columns(self) -> QueryBuilder:
        """DISTINCT of whole rows that have a match, or none."""
        left = self.windowed(self.of("a")).select("k", "v")
        right = self.windowed(self.of("b")).select("x")
        matched = left.semi_join if self.parts.draw.chance(50) else left.anti_join
        return matched(right, self.parts.between("k = x", "v = x")).distinct()

    def renamed(self) -> QueryBuilder:
        """A join of what joins have made, under other names; below these, names are the same."""
        first, second = (self.chosen(name) for name in ("d", "e"))
        return first.join(second, self.parts.between("d.k = e.v", "d.j = e.k"))

    def chosen(self, name: str) -> QueryBuilder:
        """Columns of a join, under a name."""
        left = self.windowed(self.of("a")).select("k", "v")
        right = self.windowed(self.of("b")).select("x", "y")
        pairs = left.join(right, self.parts.between("k = x", "v = x"))
        columns = self.parts.draw.pick({"j": "x"}, {"j": "x", "y": "y"}, {"j": "v"})
        return pairs.select("k", "v", **columns).alias(name)

    def moved(self) -> QueryBuilder:
        """Three inputs; between the joins columns move, or get other names."""
        left = self.windowed(self.of("a")).select("k", "v")
        right = self.windowed(self.of("b")).select("x", "y")
        pairs = left.join(right, self.parts.between("k = x", "v = x"))
        shown = self.parts.draw.pick(("y", "x", "v", "k"), ("x AS v", "v AS x", "k", "y"))
        third = self.windowed(self.of("c")).select("z")
        named = {one.split()[-1]: one.split()[0] for one in shown}
        return pairs.select(**named).join(third, self.parts.between("x = z", "v = z", "k = z"))

    def sets(self) -> QueryBuilder:
        """A filter of a set operation."""
        left = self.windowed(self.of("a")).select("k", "v")
        right = self.windowed(self.of("b")).select("x", "k")
        combined = left.max_union if self.parts.draw.chance(50) else left.strict_difference
        return self.where(combined(right))

    def distinct_pairs(self) -> QueryBuilder:
        """DISTINCT over a join or product."""
        left = self.windowed(self.of("a")).select("k", "v")
        right = self.windowed(self.of("b")).select("x", "y")
        if self.parts.draw.chance(30):
            return left.cross(right).distinct()
        return left.join(right, self.parts.between("k = x", "v = x")).distinct()


@cache
def built(name: str) -> QueryBuilder:
    """A stream to build on."""
    return stream(name, COLUMNS[name], time="ts")


BUILT: dict[str, Callable[[Chains], QueryBuilder]] = {
    "identity-map": lambda t: t.where(t.windowed(t.of("a")).select("ts", "k", "v", "w")),
    "group-below-window": lambda t: t.grouped(t.windowed(t.of("a"))),
    "filter-below-group": lambda t: t.windowed(t.where(t.grouped(t.of("a")))),
    "filter-below-cut": lambda t: t.where(t.cut(t.ended(t.of("a")))),
    "cut-above-map": lambda t: t.chosen_cut(),
    "merge-cuts": lambda t: t.split_twice(),
    "drop-cuts": lambda t: t.dropped_cut(),
    "distinct-below-product": lambda t: t.distinct_pairs(),
    "filter-below-set-operation": lambda t: t.sets(),
    "map-above-join": lambda t: t.renamed(),
    "associate-join": lambda t: t.moved(),
    "exchange-join": lambda t: t.moved(),
    "pull-up-negation": lambda t: t.named_alike(),
    "pull-up-exists": lambda t: t.named_alike(is_negated=False),
    "pull-up-except": lambda t: t.without(),
    "distinct-before-exists": lambda t: t.all_columns(),
}
"""A random plan for which the rule of that name has a use, mostly."""
