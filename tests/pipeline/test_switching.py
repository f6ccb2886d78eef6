"""A query takes the place of another: one answer until a record, and the other from then on."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

from penstock.cql.dialect import parse_script
from penstock.pipeline.catching_up import with_catching_up
from penstock.pipeline.plans import next_of
from penstock.pipeline.result_folding import left_of_results
from penstock.pipeline.switching import switch
from penstock.reference.inputs import Inputs
from penstock.reference.oracle import Oracle
from penstock.spark.program import Program
from penstock.store.result_files import result_blocks
from penstock.testing.inline import timeline
from pipeline.beside import Beside
from pipeline.test_catching_up import drawn, taken
from store.driving import Driver

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.reference.timeline import Row

STREAMS = (
    "CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts - 4) RETAIN UNBOUNDED;",
    "CREATE STREAM t (ts BIGINT, k INT, WATERMARK FOR ts AS ts) RETAIN UNBOUNDED;",
)
VERSIONS = (
    "SELECT k, COUNT(*) AS n FROM s [RANGE 12] GROUP BY k",
    "SELECT k, COUNT(*) AS n FROM s [UNBOUNDED] WHERE v > 0 GROUP BY k",
    "SELECT k, COUNT(*) AS n FROM s [RANGE 20] GROUP BY k HAVING COUNT(*) > 1",
    "SELECT s.k, COUNT(*) AS n FROM s [RANGE 9], t [RANGE 9] WHERE s.k = t.k GROUP BY s.k",
)


class Changing:
    """A query of a driver that is created anew while batches run."""

    def __init__(self, path: Path, random: Random) -> None:
        self.driver = Driver(path)
        self.program = Program(self.driver.ledger.plan.plan, 0, 2)
        self.beside = Beside(self.driver, random)
        self.run(*STREAMS, f"CREATE QUERY q AS {VERSIONS[0]}", f"CREATE QUERY p AS {VERSIONS[2]}")

    def run(self, *texts: str) -> None:
        """Perform statements, and run what they make."""
        for text in texts:
            (statement,) = parse_script(text)
            name = getattr(statement, "name", None)
            before = None if name is None else self.program.session.catalog.get(name.text)
            (outcome,) = self.program.session.execute(text)
            span = statement.span
            self.program.take_in(outcome, text[span.start : span.end], before)  # type: ignore[arg-type]  # a query, if it is any
        self.driver.ledger.change_plan(with_catching_up(self.driver.ledger, self.program.plan()))
        self.program.groups = list(self.driver.ledger.plan.plan.groups)

    def take_place(self) -> int | None:
        """Let the new query take the place of the old one, if it can; the instant from which on."""
        self.program.groups = list(self.driver.ledger.plan.plan.groups)
        if self.program.ready != ["q"]:
            return None
        self.driver.tick()
        clock = self.driver.ledger.record.clocks["q"]
        self.program.take_place("q")
        plan = self.program.unchanged()
        assert switch(self.driver.ledger, plan, "q", next_of("q"))
        return clock


def trial(path: Path, seed: int) -> int:
    """Batches, and a query that becomes others; how often it did."""
    random = Random(seed)
    changing = Changing(path, random)
    driver = changing.driver
    seen: dict[str, list[Row]] = {"s": [], "t": []}
    versions, since = [VERSIONS[0]], [-(1 << 62)]
    for step in range(16):
        rows = drawn(random, step * 4)
        for stream, several in taken(driver, rows).items():
            seen[stream] += several
        driver.batch(rows)
        if random.random() < 0.3:
            driver.fold()
        is_idle = not driver.ledger.plan.catching_up
        if step in (4, 8) or (is_idle and random.random() < 0.1):
            versions.append(random.choice([one for one in VERSIONS if one != versions[-1]]))
            changing.run(f"CREATE OR REPLACE QUERY q AS {versions[-1]}")
        changing.beside.step()
        clock = changing.take_place()
        if clock is not None:
            since = [*since, *[clock] * (len(versions) - len(since))]
    changing.beside.finish()
    clock = changing.take_place()
    if clock is not None:
        since = [*since, *[clock] * (len(versions) - len(since))]
    driver.flush()
    judge(driver, Oracle(Inputs(seen)), versions, since, seed)
    driver.close()
    return len(versions) - 1


def judge(driver: Driver, oracle: Oracle, versions: list[str], since: list[int], seed: int) -> None:
    """At each instant the answer is that of the version which was there."""
    records = [one for one in driver.home.chain.since(0) if one.kind != "start"]
    blocks = [one for record in records for one in result_blocks(driver.home, record, "q")]
    found = timeline(blocks)
    for place, (version, start) in enumerate(zip(versions, since, strict=True)):
        plan = driver.ledger.plan.session.bind(version).plan
        wanted = oracle.timeline(plan)
        end = since[place + 1] if place + 1 < len(since) else 200
        for at in range(max(start, -20), end):
            assert found.at(at) == wanted.at(at), (seed, version, at)


def test_the_answer_is_the_old_one_until_it_is_the_new_one(tmp_path: Path) -> None:
    assert sum(trial(tmp_path / str(seed), seed) for seed in range(6)) >= 12


def test_what_is_left_of_results_is_that_of_the_new_query(tmp_path: Path) -> None:
    changing = Changing(tmp_path, Random(1))
    driver = changing.driver
    driver.batch({"s": [{"ts": at, "k": at % 3, "v": 1} for at in range(30)], "t": []})
    changing.run(f"CREATE OR REPLACE QUERY q AS {VERSIONS[1]}")
    changing.beside.finish()
    assert changing.take_place() is not None
    driver.fold()
    driver.batch({"s": [{"ts": 40, "k": 1, "v": 1}], "t": []})
    driver.tick()
    left = left_of_results(driver.home, driver.ledger.record, driver.ledger.plan)
    assert sorted(left) == ["p", "q"]
    clock = driver.ledger.record.clocks["q"]
    assert timeline([left["q"]]).at(clock - 1) == Counter({(0, 10): 1, (1, 10): 1, (2, 10): 1})
    driver.close()
