"""All schedulers, by the name that `SET scheduler` gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.scheduling.chain import Chain
from penstock.scheduling.chain_flush import ChainFlush
from penstock.scheduling.fifo import Fifo
from penstock.scheduling.greedy import Greedy
from penstock.scheduling.mixed import Mixed
from penstock.scheduling.round_robin import RoundRobin

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.scheduling.scheduler import Scheduler


@dataclass(frozen=True)
class SchedulerOption:
    """A number that a scheduler takes.

    Args:
        name: The argument.
        default: Its value where none is set.
        is_time: Seconds; else a plain number.
        says: What it is, in a few words.
    """

    name: str
    default: float
    is_time: bool
    says: str


@dataclass(frozen=True)
class ListedScheduler:
    """A scheduler that can be set.

    Args:
        name: In `SET scheduler`.
        says: What runs next, in a sentence.
        make: Makes one, of the options by their names.
        options: What it takes.
    """

    name: str
    says: str
    make: Callable[..., Scheduler]
    options: tuple[SchedulerOption, ...] = ()


SCHEDULERS: tuple[ListedScheduler, ...] = (
    ListedScheduler("fifo", "The oldest block runs through its whole path.", Fifo),
    ListedScheduler(
        "round_robin",
        "Operators have turns of a fixed time; none waits for ever.",
        RoundRobin,
        (SchedulerOption("quantum", 0.01, True, "the time of a turn"),),
    ),
    ListedScheduler("greedy", "The operator runs that frees most memory in its own time.", Greedy),
    ListedScheduler(
        "chain", "The operators run that free most memory in their time together.", Chain
    ),
    ListedScheduler(
        "chain_flush", "Chain, until a result would come later than its query allows.", ChainFlush
    ),
    ListedScheduler(
        "mixed",
        "Chain, but on the flat ends of paths the oldest block first.",
        Mixed,
        (SchedulerOption("threshold", 0.0, False, "the slope below which the end is flat"),),
    ),
)


def made_scheduler(name: str, **options: float) -> Scheduler:
    """A new scheduler of the list; options that are not given have their defaults.

    >>> made_scheduler("round_robin", quantum=0.5).choose(0.0)

    Raises:
        KeyError: The list has no such name, or the scheduler no such option.
    """
    listed = {one.name: one for one in SCHEDULERS}[name]
    values = {one.name: one.default for one in listed.options}
    for option, value in options.items():
        if option not in values:
            raise KeyError(option)
        values[option] = value
    return listed.make(**values)
