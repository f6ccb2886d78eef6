"""The executors of an application: which there are, and how many cores they will be.

Executors come some seconds after an application has begun, one by one. Who asks at once how many
cores a cluster has, is told two.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark import SparkContext

COMING_SECONDS = 2.0
"""Executors have come if no more did for so long."""
PATIENCE = 60.0
"""So old an application is not waited for: what it has not got by now may never come."""
_LOOK_SECONDS = 0.1
_DYNAMIC = "spark.dynamicAllocation."


def is_cluster(context: SparkContext) -> bool:
    """Tasks run in other processes than the driver's, which come and go."""
    return not str(context.master).startswith("local")


def executors(context: SparkContext) -> dict[str, int]:
    """The executors of an application and their cores, in an order that stays as it is."""
    # Not from the environment: py4j cannot look at a class that names what Spark does not ship.
    java: Any = context._jsc
    known = java.sc().statusStore().executorList(True).iterator()
    found = []
    while known.hasNext():
        one = known.next()
        if one.id() != "driver":
            host = str(one.hostPort()).rpartition(":")[0]
            found.append((str(one.id()), host, int(one.totalCores())))
    found.sort(key=lambda one: (len(one[0]), one))
    return {f"executor_{host}_{number}": cores for number, host, cores in found}


def cores_to_come(context: SparkContext) -> int:
    """The cores that an application will have, as far as that can be known; waits for executors.

    Where Spark asks for executors as they are needed, these are as many as it may ask for.
    """
    cores = int(context.defaultParallelism)
    if not is_cluster(context):
        return cores
    if grows_on_demand(context):
        conf = context.getConf()
        most = int(conf.get(f"{_DYNAMIC}maxExecutors", "0") or 0)
        return max(cores, most * int(conf.get("spark.executor.cores", "1") or 1))
    return max(_settled(context), 1)


def grows_on_demand(context: SparkContext) -> bool:
    """Spark asks for executors when tasks wait, and lets those go that are idle."""
    return str(context.getConf().get(f"{_DYNAMIC}enabled", "false")).lower() == "true"


def _settled(context: SparkContext) -> int:
    """The cores of the executors, once no more have come for a while."""
    began = float(context.startTime) / 1000
    found, since = sum(executors(context).values()), time.time()
    while time.time() - began < PATIENCE and not (found and time.time() - since > COMING_SECONDS):
        time.sleep(_LOOK_SECONDS)
        now = sum(executors(context).values())
        if now != found:
            found, since = now, time.time()
    return found
