"""Requests of a task to the process that keeps its lanes, and the replies; both are JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from penstock.lane_host.group_clocks import GroupClocks
from penstock.scheduling.work_rules import WorkRules
from penstock.store.records import LaneState


@dataclass(frozen=True)
class Work:
    """One stage of a micro-batch of one task.

    Args:
        home: The path of the home.
        plan: The name of the plan's file.
        record: The number that the commit record of this batch will have.
        task: Which task.
        lanes: The lanes of the task, and how the state of each is made.
        log: The segment with the rows and watermarks to be fed.
        with_reports: Whether operators are asked what they have done and remember.
        rules: How long lanes work, and in which order.
        with_images: Whether the state of all lanes is written down.
    """

    home: str
    plan: str
    record: int
    task: int
    lanes: dict[str, LaneState]
    log: str
    with_reports: bool = False
    rules: WorkRules = field(default_factory=WorkRules)
    with_images: bool = False

    @property
    def line(self) -> str:
        """As it is sent: one line, made without a copy of what all lanes have."""
        return json.dumps(vars(self), default=vars)

    @staticmethod
    def from_json(values: dict[str, Any]) -> Work:
        """As it was sent."""
        lanes = {
            name: LaneState(**{**one, "logs": tuple(one["logs"])})
            for name, one in values.pop("lanes").items()
        }
        rules = WorkRules(**values.pop("rules"))
        return Work(lanes=lanes, rules=rules, **values)


@dataclass
class StreamCounts:
    """Rows of a stream in a batch: all, late, set aside for another reason; the latest instant.

    `late_by` is by how much a row was late, at the most; `shed` counts rows that were left out.
    """

    rows: int
    late: int
    aside: int
    latest: int
    late_by: int = 0
    shed: int = 0


@dataclass
class Done:
    """The outcome of the work: files written, and what the lanes have reached.

    `lanes` says how the state of each lane is made from now on. `streams` counts each row once,
    however many lanes it went to. `clocks` are those of queries, the least of all lanes;
    `relations` has by group the greatest clock that a lane reads a relation at. `failures` counts
    by query and function what failed so far, `result_rows` the elements of each query in this
    batch. `operators` has for each lane, if that was asked, what its operators have done and
    remember. `aside` is a file with rows that were not taken in, `sent` one with what fragments
    sent in this stage, `reached` says how far each of them has come. `behind` has the bytes that
    wait in lanes that could go on, `work` what each lane tells of its queues, if that was asked.
    `notes` are sentences about processes that had to be replaced.
    `log` is the file that has the rows of the streams, and its size.
    """

    task: int
    lanes: dict[str, LaneState] = field(default_factory=dict)
    results: str | None = None
    aside: str | None = None
    sent: str | None = None
    reached: dict[str, int] = field(default_factory=dict)
    streams: dict[str, StreamCounts] = field(default_factory=dict)
    clocks: GroupClocks = field(default_factory=GroupClocks)
    relations: dict[str, dict[str, int]] = field(default_factory=dict)
    failures: dict[str, dict[str, int]] = field(default_factory=dict)
    result_rows: dict[str, int] = field(default_factory=dict)
    operators: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    behind: dict[str, int] = field(default_factory=dict)
    work: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    log: tuple[str, int] = ("", 0)

    @property
    def line(self) -> str:
        """As it is sent: one line, made without a copy of what all lanes have."""
        return json.dumps(vars(self), default=vars)

    @staticmethod
    def from_json(values: dict[str, Any]) -> Done:
        """As it was sent."""
        lanes = {
            name: LaneState(**{**one, "logs": tuple(one["logs"])})
            for name, one in values.pop("lanes").items()
        }
        streams = {name: StreamCounts(**one) for name, one in values.pop("streams").items()}
        clocks = GroupClocks(**values.pop("clocks"))
        log, size = values.pop("log")
        return Done(lanes=lanes, streams=streams, clocks=clocks, log=(log, size), **values)
