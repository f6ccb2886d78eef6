"""The plans for the windows that the benchmark of multi-joins joins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from penstock.planner.optimizing import plans_to_run
from penstock.planner.physical.building import Choices
from penstock.planner.physical.multiway_choice import MultiwayChoices
from penstock.planner.statistics.statistics import Statistics
from penstock.session import Session

if TYPE_CHECKING:
    from penstock_bench.multijoin_traffic import StreamTraffic

Planned = Literal["tree", "n-way", "in parts"]


def planned(traffic: StreamTraffic) -> Planned:
    """The plan of a join of the windows, by the true rates and numbers of values.

    >>> from penstock_bench.multijoin_traffic import alike
    >>> planned(alike(3, 1000, 100, 50))
    'n-way'
    """
    names = [f"s{number}" for number in range(len(traffic.rates))]
    session = Session()
    for name in names:
        session.execute(f"CREATE STREAM {name} (ts BIGINT, k BIGINT, WATERMARK FOR ts AS ts)")
    windows = zip(names, traffic.lengths, strict=True)
    keys = zip(names[1:], names, strict=False)
    query = (
        f"SELECT {', '.join(f'{name}.k AS {name}, {name}.ts AS at_{name}' for name in names)}"
        f" FROM {', '.join(f'{name} [RANGE {length}] {name}' for name, length in windows)}"
        f" WHERE {' AND '.join(f'{one}.k = {other}.k' for one, other in keys)}"
    )
    known = Statistics(
        {name: rate / traffic.unit for name, rate in zip(names, traffic.rates, strict=True)},
        {(name, "k"): float(count) for name, count in zip(names, traffic.values, strict=True)},
    )
    choices = Choices()
    (plan,) = plans_to_run({"": session.bind(query).plan}, known, choices).values()
    ways = MultiwayChoices([plan], choices, known).all_of(plan)
    if not any(way.is_chosen for way in ways):
        return "tree"
    return "n-way" if ways[0].is_chosen and ways[0].kept is None else "in parts"
