"""`./penstock bench multijoin`: joins of many windows, as in the paper, and further."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock_bench import multijoin_cases as cases
from penstock_bench.choosing import chosen
from penstock_bench.multijoin_orders import Orders
from penstock_bench.multijoin_spark import OnSpark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock_bench.multijoin_run import WayEffort
    from penstock_bench.multijoin_sections import Series
    from penstock_bench.pipeline import PipelineEffort as SparkEffort


def sections(
    effort: WayEffort, on_spark: SparkEffort, names: Sequence[str] = ()
) -> list[Orders | Series | OnSpark]:
    """The sections asked for, with the effort for those without and with Spark; by default all.

    Raises:
        UnknownName: There is no such section.
    """
    every: list[Orders | Series | OnSpark] = [
        Orders(effort),
        cases.tables(effort),
        cases.intervals(effort),
        cases.windows(effort),
        cases.buckets(effort),
        cases.lengths(effort),
        OnSpark(on_spark),
    ]
    return chosen("multijoin", every, names)
