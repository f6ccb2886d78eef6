"""Placement: the executor that each task prefers, so that lanes stay where their process lives.

Spark gives a task to any executor with a free slot. On a cluster that is another one in each batch:
the lanes of the task would be made anew there, from their image and logs, and live on every node at
once. A task that prefers an executor runs there while it has a free slot.
"""

from __future__ import annotations

import pickle
import time
from typing import TYPE_CHECKING, Any

from penstock.spark.executors import executors, grows_on_demand, is_cluster

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark import RDD, SparkContext

LOOK_SECONDS = 1.0
"""So often it is seen which executors there are."""
SETTLED_SECONDS = 5.0
"""Tasks become more or fewer when the cores have been so for so long: lanes move with them."""


def placed(before: Mapping[int, str], executors: Sequence[str], tasks: int) -> dict[int, str]:
    """An executor for each task: the one it had, unless that is gone or has more than its share.

    >>> placed({}, ["a", "b"], 3)
    {0: 'a', 1: 'b', 2: 'a'}
    >>> placed({0: "a", 1: "b", 2: "c"}, ["a", "b", "d"], 3)
    {0: 'a', 1: 'b', 2: 'd'}
    """
    if not executors:
        return {}
    share = -(-tasks // len(executors))
    given: dict[str, int] = dict.fromkeys(executors, 0)
    found: dict[int, str] = {}
    for task in range(tasks):
        own = before.get(task)
        if own in given and given[own] < share:
            found[task] = own
            given[own] += 1
    for task in range(tasks):
        if task not in found:
            least = min(executors, key=given.__getitem__)
            found[task] = least
            given[least] += 1
    return dict(sorted(found.items()))


class Placement:
    """The executors that tasks prefer; none, where Spark runs in one process.

    Args:
        context: Of Spark.
        tasks: How many tasks there are to begin with.
        most: So many there are if the cluster has as many cores, or gets them when tasks wait;
            None: their number stays.

    Attributes:
        tasks: How many tasks there are.
        places: The executor of each task, as Spark writes it: `executor_HOST_ID`.
    """

    def __init__(self, context: SparkContext, tasks: int, most: int | None = None) -> None:
        self._context = context
        self._most = most
        self._is_cluster = is_cluster(context)
        self._looked = -LOOK_SECONDS
        # Tasks that wait are what Spark asks for executors for: there are as many as may run.
        self._follows = most is not None and not grows_on_demand(context)
        self.tasks = tasks if most is None or self._follows else most
        # How many tasks there should be, and since when.
        self._wanted = (self.tasks, 0.0)
        self.places: dict[int, str] = {}

    def look(self, *, may_resize: bool = False) -> bool:
        """See which executors there are, if it is time to; whether tasks or their places change."""
        now = time.monotonic()
        is_early = self.places and now - self._looked < LOOK_SECONDS
        if not self._is_cluster or is_early:
            return False
        self._looked = now
        before = self.places
        cores = executors(self._context)
        if may_resize and self._follows and cores:
            self._resize(sum(cores.values()), now)
        self.places = placed(before, list(cores), self.tasks)
        return self.places != before

    def _resize(self, cores: int, now: float) -> None:
        """Have a task for each core, once the cores have been so many for some time."""
        wanted = min(self._most or cores, cores)
        if wanted != self._wanted[0]:
            self._wanted = wanted, now
        if now - self._wanted[1] >= SETTLED_SECONDS:
            self.tasks = wanted

    def numbers(self, count: int | None = None) -> RDD[int]:
        """The numbers of the tasks, each in a partition of its own, where it is preferred.

        Args:
            count: Only so many, or more; None: those that there are now.
        """
        count = count or self.tasks
        places = dict(self.places)
        if not places:
            return self._context.parallelize(range(count), count)
        placed = {one: places[one % len(places)] for one in range(count)}
        return _with_preferences(self._context, placed)


def _with_preferences(context: SparkContext, places: Mapping[int, str]) -> RDD[int]:
    """Numbers in partitions that prefer executors; Python's own API has none for it."""
    from pyspark import RDD
    from pyspark.serializers import CPickleSerializer

    jvm: Any = context._jvm
    sequence = jvm.org.apache.spark.api.python.PythonUtils.toSeq
    pairs = [
        jvm.scala.Tuple2(bytearray(pickle.dumps(task)), sequence([place]))
        for task, place in places.items()
    ]
    of_bytes = jvm.scala.reflect.ClassTag.apply(jvm.java.lang.Class.forName("[B"))
    java: Any = context._jsc
    made = java.sc().makeRDD(sequence(pairs), of_bytes)
    return RDD(made.toJavaRDD(), context, CPickleSerializer())
