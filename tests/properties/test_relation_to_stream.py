"""What queries send out, and what OUTPUT and INTERNAL keep of it, by brute force over instants.

The snapshots of the plain query are the oracle's, which `test_against_sqlite` checks; everything
made of them is computed here from R(t - 1) and R(t) at every integer t.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.algebra.streams import RelationToStream
from penstock.reference.oracle import Oracle
from properties.generate import (
    INSTANTS,
    Source,
    Window,
    declared,
    elements_at,
    in_order_of_time,
    inputs,
    time_of,
    windows,
)
from properties.generate_queries import Query, queries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from penstock.algebra.expressions import Value
    from penstock.reference.inputs import Inputs
    from penstock.reference.timeline import Bag, Row

SESSION = declared()
Sent = list[tuple[int, "Row"]]
Results = dict[int, "Bag"]

plain_windows = windows(slide=False)
few = settings(max_examples=150, suppress_health_check=list(HealthCheck))


@st.composite
def periodic_queries(draw: st.DrawFn) -> Query:
    """Queries whose windows all have the same SLIDE."""
    slide = draw(st.integers(2, 4))
    sliding = st.builds(Window, st.just("RANGE"), st.integers(1, 5), st.just(slide))
    return draw(queries(over=sliding, depth=1).filter(lambda query: slide_of(query) is not None))


def slide_of(query: Query) -> int | None:
    return next((one.window.slide for one in query.sources if one.window), None)


def results(text: str, given_: Inputs) -> Results:
    timeline = Oracle(given_).timeline(SESSION.bind(text).plan)
    return {t: timeline.at(t) for t in INSTANTS}


def sent(text: str, given_: Inputs) -> Sent:
    plan = SESSION.bind(text).plan
    assert isinstance(plan, RelationToStream)
    return [(one.at, one.row) for one in Oracle(given_).emissions(plan)]


def by_value(bag: Bag) -> list[Row]:
    """The rows of one instant in their order: by value, NULLs first."""

    def key(row: Row) -> list[tuple[bool, Value]]:
        return [(value is not None, 0 if value is None else value) for value in row]

    return sorted(bag.elements(), key=key)


def total(bags: Iterable[Bag]) -> Bag:
    return sum(bags, Counter())


def entered(result: Results) -> Results:
    return {t: result[t] - result[t - 1] for t in INSTANTS[1:]}


def left(result: Results) -> Results:
    return {t: result[t - 1] - result[t] for t in INSTANTS[1:]}


def in_order(bags: Results) -> Sent:
    return [(t, row) for t in sorted(bags) for row in by_value(bags[t])]


def boundaries(sources: Iterable[Source], given_: Inputs) -> list[int]:
    """Where an element begins or ends in some source."""
    found = set()
    for source in sources:
        held = {t: elements_at(source, given_, t) for t in INSTANTS}
        found |= {t for t in INSTANTS[1:] if held[t] != held[t - 1]}
    return sorted(found)


def times(query: Query, given_: Inputs) -> list[int]:
    """When the rows of a query's streams arrive."""
    names = {source.name for source in query.sources if source.window}
    return [time_of(row) for name in names for row in given_.streams[name]]


def slides(query: Query, given_: Inputs, slide: int) -> list[int]:
    """Multiples from the first at or after the first row to the last that moves an interval."""
    moved = boundaries((source for source in query.sources if source.window), given_)
    if not moved:
        return []
    return [t for t in range(min(times(query, given_)), max(moved) + 1) if t % slide == 0]


def restored(plain: Results, slide: int) -> Results:
    """I(k) at ks: what entered R' since the slide before."""
    news = entered(plain)
    slides = [t for t in INSTANTS if t % slide == 0]
    return {k: total(news[u] for u in news if k - slide < u <= k) for k in slides}


# Relation to stream


@few
@given(queries(depth=1), inputs())
def test_istream_and_dstream_are_differences_of_consecutive_snapshots(
    query: Query, given_: Inputs
) -> None:
    result = results(query.cql, given_)
    assert sent(f"ISTREAM({query.cql})", given_) == in_order(entered(result))
    assert sent(f"DSTREAM({query.cql})", given_) == in_order(left(result))


@few
@given(queries(over=plain_windows, depth=1), inputs())
def test_rstream_sends_all_whenever_an_input_changes(query: Query, given_: Inputs) -> None:
    result = results(query.cql, given_)
    instants = boundaries(query.sources, given_)
    expected = in_order({t: result[t] for t in instants})
    assert sent(f"RSTREAM({query.cql})", given_) == expected


@few
@given(periodic_queries(), inputs())
def test_periodic_rstream_sends_all_at_each_slide(query: Query, given_: Inputs) -> None:
    result = results(query.cql, given_)
    instants = slides(query, given_, slide_of(query) or 1)
    expected = in_order({t: result[t] for t in instants})
    assert sent(f"RSTREAM({query.cql})", given_) == expected


row_slides = st.builds(
    Window, st.just("ROWS"), st.integers(1, 4), st.integers(1, 3), st.sampled_from([(), ("k",)])
)


OVER_ONE_WINDOW = (
    "SELECT k, v FROM s [{}]",
    "SELECT COUNT(*) AS n FROM s [{}]",
    "SELECT DISTINCT c FROM s [{}]",
    "SELECT a.k, r.v FROM s [{}] a JOIN r ON a.k = r.k",
    "SELECT a.k, r.v FROM s [{}] a LEFT JOIN r ON a.k = r.k",
    "SELECT a.k, r.v FROM s [{}] a FULL JOIN r ON a.k = r.k",
    "SELECT a.k, r.v FROM r RIGHT JOIN s [{}] a ON a.k < r.k WHERE r.v IS NULL OR a.k > 0",
)


@few
@given(row_slides, inputs(), st.sampled_from(OVER_ONE_WINDOW))
def test_rstream_over_sliding_rows_sends_all_when_a_slide_is_full(
    window: Window, given_: Inputs, query: str
) -> None:
    text = query.format(window)
    full = full_slides(window, in_order_of_time(given_.streams["s"]))
    result = results(text, given_)
    assert sent(f"RSTREAM({text})", given_) == in_order({t: result[t] for t in full})
    plain = results(query.format(window.without_slide()), given_)
    news: Results = {}
    for before, t in pairwise([INSTANTS[0], *full]):
        news[t] = total(entered(plain)[u] for u in range(before + 1, t + 1))
    assert sent(f"ISTREAM RESTORE ({text})", given_) == in_order(news)
    expected = in_order({t: plain[t] | news[t] for t in full})
    assert sent(f"RSTREAM RESTORE ({text})", given_) == expected


def full_slides(window: Window, arrivals: list[Row]) -> list[int]:
    """When the rows numbered m, 2m, ... arrive, of each partition by k."""
    step = window.slide or 1
    found = set()
    for key in {row[1] if window.by else None for row in arrivals}:
        members = [row for row in arrivals if not window.by or row[1] == key]
        found |= {time_of(row) for row in members[step - 1 :: step]}
    return sorted(found)


@few
@given(periodic_queries(), inputs())
def test_restore_brings_back_what_came_and_went_between_slides(
    query: Query, given_: Inputs
) -> None:
    slide = slide_of(query) or 1
    plain = results(query.with_windows(Window.without_slide).cql, given_)
    news = restored(plain, slide)
    assert sent(f"ISTREAM RESTORE ({query.cql})", given_) == in_order(news)
    # Rows that live too short to meet a slide may come after the last moved interval.
    first = min(times(query, given_), default=INSTANTS[-1] + 1)
    instants = {*slides(query, given_, slide), *(t for t in news if news[t] and t >= first)}
    expected = in_order({t: plain[t] | news[t] for t in instants})
    assert sent(f"RSTREAM RESTORE ({query.cql})", given_) == expected


@few
@given(
    st.one_of(queries(depth=1), periodic_queries()),
    inputs(),
    windows(),
    st.sampled_from(["{0} OUTPUT [{1}]", "SELECT * FROM {2}({0}) [{1}] AS z"]),
)
def test_output_is_a_window_over_what_is_sent_out(
    query: Query, given_: Inputs, window: Window, text: str
) -> None:
    word = "RSTREAM" if is_periodic(query) else "ISTREAM"
    columns = ["at", *(f"c{i}" for i in range(len(query.types)))]
    by = tuple(columns[1 + number % len(query.types)] for number in range(len(window.by)))
    window = Window(window.kind, window.length, window.slide, by, window.end)
    arrivals = [(t, *row) for t, row in sent(f"{word}({query.cql})", given_)]
    result = results(text.format(query.cql, window, word), given_)
    for t in INSTANTS:
        held = window.held(arrivals, t, columns)
        assert result[t] == Counter(arrivals[i][1:] for i in held), f"at {t}"


def is_periodic(query: Query) -> bool:
    found = [one.window for one in query.sources if one.window]
    if len(found) == 1 and found[0].kind == "ROWS":
        return found[0].slide is not None
    kinds = {(one.kind, one.slide) for one in found}
    return len(kinds) == 1 and all(kind == "RANGE" and slide for kind, slide in kinds)


# INTERNAL

CONDITIONS: dict[str, Callable[[Any, Any], bool]] = {
    "TRUE": lambda left, right: True,
    "a.k = b.k": lambda left, right: left[1] is not None and left[1] == right[1],
    "a.v < b.v": lambda left, right: None not in (left[2], right[2]) and left[2] < right[2],
}


@few
@given(plain_windows, plain_windows, inputs(), st.sampled_from(sorted(CONDITIONS)))
def test_internal_join_keeps_every_pair_whose_intervals_overlap(
    first: Window, second: Window, given_: Inputs, condition: str
) -> None:
    text = f"""SELECT a.k, b.v, b.c FROM s [{first} INTERNAL] a, t [{second} INTERNAL] b
        WHERE {condition}"""
    ours, others = (in_order_of_time(given_.streams[name]) for name in "st")
    held = {t: (first.held(ours, t), second.held(others, t)) for t in INSTANTS}
    since: dict[tuple[int, int], int] = {}
    for t, (in_first, in_second) in held.items():
        for pair in ((i, j) for i in in_first for j in in_second):
            since.setdefault(pair, t)
    result = results(text, given_)
    for t in INSTANTS:
        expected: Bag = Counter()
        for (i, j), start in since.items():
            if start <= t and CONDITIONS[condition](ours[i], others[j]):
                expected[ours[i][1], *others[j][2:]] += 1
        assert result[t] == expected, f"at {t}"


AGGREGATES = (
    "SELECT COUNT(*) AS n, MAX(v) AS m FROM s [{0}]",
    "SELECT k, COUNT(*) AS n, SUM(v) AS m FROM s [{0}] WHERE v > 0 GROUP BY k",
    "SELECT a.k, COUNT(*) AS n FROM s [{0}] a, t [{1}] b WHERE a.k = b.k GROUP BY a.k",
)


@few
@given(plain_windows, plain_windows, inputs(), st.sampled_from(AGGREGATES))
def test_internal_aggregates_keep_every_insertion(
    first: Window, second: Window, given_: Inputs, text: str
) -> None:
    news = entered(results(text.format(first, second), given_))
    result = results(text.format(f"{first} INTERNAL", f"{second} INTERNAL"), given_)
    for t in INSTANTS:
        assert result[t] == total(bag for u, bag in news.items() if u <= t), f"at {t}"


@few
@given(
    st.integers(1, 5), st.integers(1, 5), st.integers(2, 4), inputs(), st.sampled_from(AGGREGATES)
)
def test_internal_aggregates_with_slide_keep_the_rows_of_every_slide(
    first: int, second: int, slide: int, given_: Inputs, text: str
) -> None:
    over = [Window("RANGE", length, slide) for length in (first, second)]
    names = "st" if "{1}" in text else "s"
    sources = tuple(Source(name, window) for name, window in zip(names, over, strict=False))
    query = Query(text.replace("s [{0}]", "{0}").replace("t [{1}]", "{1}"), (), sources)
    plain = results(query.cql, given_)
    result = results(text.format(*(f"{window} INTERNAL" for window in over)), given_)
    for t in INSTANTS:
        past = (u for u in slides(query, given_, slide) if u <= t)
        assert result[t] == total(plain[u] for u in past), f"at {t}"
