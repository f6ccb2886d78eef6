"""The facts about a pipeline are those of its records, its lanes and its files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from penstock.errors import DataError
from penstock.observe.observation import Observer
from penstock.observe.status import Status, read_status, write_status
from penstock.planner.statistics.measuring import measured
from penstock.store.layout import Home
from penstock.store.records import FilesRead
from penstock.store.result_files import result_blocks
from store.driving import Driver

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from penstock.observe.facts import Facts, QueryFacts
    from store.driving import Rows

SECOND = 1_000_000
STATEMENTS = (
    "CREATE STREAM cars (lane INT, speed DOUBLE, passed TIMESTAMP, "
    "WATERMARK FOR passed AS passed - INTERVAL 5 SECONDS)",
    "CREATE STREAM hits (word STRING, at BIGINT, WATERMARK FOR at AS at - 3)",
    "CREATE QUERY average AS\n  SELECT lane, AVG(speed) AS average\n  FROM cars [RANGE 1 MINUTE] "
    "GROUP BY lane",
    "CREATE QUERY numbers AS SELECT CAST(word AS INT) AS number FROM hits [range 10]",
    "CREATE QUERY idle AS SELECT lane FROM cars [NOW]",
)
HOLDER = """
import sys, time
from pathlib import Path
from penstock.store.layout import Home
home = Home(Path(sys.argv[1]))
home.open()
print("open", flush=True)
time.sleep(60)
"""


def cars(*seconds: int | None) -> Rows:
    """A car at each instant; None is a row without time."""
    return [
        {"lane": n % 3, "speed": 20.0, "passed": None if at is None else at * SECOND}
        for n, at in enumerate(seconds)
    ]


def hits(*words: str) -> Rows:
    return [{"word": word, "at": at} for at, word in enumerate(words)]


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[Driver]:
    """Two queries on two streams have run for two batches; a third is only declared."""
    with Driver(tmp_path / "home", STATEMENTS, ["average", "numbers"], lanes=2) as made:
        made.batch({"cars": cars(10, 20, None, 30), "hits": hits("1", "x", "2", "y", "3")})
        made.batch({"cars": cars(24, 25, 40)})
        yield made


def look(driver: Driver) -> Facts:
    return Observer(Home(driver.home.path)).look()


def query(facts: Facts, name: str) -> QueryFacts:
    return next(one for one in facts.queries if one.name == name)


def test_streams_have_counts_and_instants_in_their_unit(driver: Driver) -> None:
    by_name = {one.name: one for one in look(driver).streams}
    one = by_name["cars"]
    # 24 s is before the watermark of the first batch, 30 s - 5 s.
    assert (one.unit, one.rows, one.late, one.aside) == ("timestamp", 7, 1, 1)
    assert (one.watermark.number, one.latest.number) == (35 * SECOND, 40 * SECOND)
    assert (one.latest.time, one.latest.seconds) == ("1970-01-01 00:00:40", 40.0)
    other = by_name["hits"]
    assert (other.unit, other.rows, other.late, other.aside) == ("tick", 5, 0, 0)
    assert (other.watermark.number, other.watermark.time, other.watermark.seconds) == (
        1,
        None,
        None,
    )


def test_queries_have_text_clock_and_lag(driver: Driver) -> None:
    facts = look(driver)
    average = query(facts, "average")
    assert average.text == (
        "SELECT lane, AVG(speed) AS average FROM cars [RANGE 1 MINUTE] GROUP BY lane"
    )
    assert average.lanes == 2
    assert average.clock.number == driver.ledger.record.clocks["average"]
    assert average.lag == 40 * SECOND - average.clock.number
    assert average.lag_seconds == average.lag / SECOND
    numbers = query(facts, "numbers")
    assert (numbers.unit, numbers.clock.number, numbers.lag_seconds) == ("tick", 1, None)
    assert numbers.lag == 4 - 1
    assert [average.group, numbers.group] == [
        number
        for name in ("average", "numbers")
        for number, group in driver.ledger.plan.groups.items()
        if name in group.plans
    ]


def test_failures_of_expressions_are_counted(driver: Driver) -> None:
    driver.flush()
    assert query(look(driver), "numbers").failures == {"cast": 2}
    assert query(look(driver), "average").failures == {}


def test_a_query_that_is_only_declared_does_not_run(driver: Driver) -> None:
    idle = query(look(driver), "idle")
    assert (idle.group, idle.lanes, idle.clock.text, idle.lag) == (None, 0, "start", None)


def test_after_the_end_of_the_input_no_query_is_behind(driver: Driver) -> None:
    driver.flush()
    facts = look(driver)
    assert facts.kind == "flush"
    average = query(facts, "average")
    assert (average.clock.text, average.clock.number, average.lag) == ("end", None, 0)


def test_a_home_without_rows_has_facts_too(tmp_path: Path) -> None:
    with Driver(tmp_path / "home", STATEMENTS, ["average"]) as driver:
        facts = look(driver)
    assert (facts.kind, facts.record, facts.operators) == ("change", 1, ())
    assert query(facts, "average").lag is None
    assert [one.watermark.text for one in facts.streams] == ["start"]


def test_new_results_are_those_of_the_newest_record(driver: Driver) -> None:
    def written(name: str) -> int:
        return sum(map(len, result_blocks(driver.home, driver.ledger.record, name)))

    driver.batch({"cars": cars(100, 110, 120)})
    assert query(look(driver), "average").new_results == written("average") > 0
    assert query(look(driver), "numbers").new_results == 0
    driver.batch({"hits": hits(*["7"] * 9)[6:]})
    assert query(look(driver), "numbers").new_results == written("numbers") > 0


def test_results_that_were_removed_meanwhile_are_not_counted(driver: Driver) -> None:
    driver.batch({"cars": cars(100)})
    assert driver.ledger.record.results
    for name in driver.ledger.record.results:
        (driver.home.segments / name).unlink()
    assert query(look(driver), "average").new_results is None


def test_operators_are_those_of_every_lane(driver: Driver) -> None:
    driver.write_status()
    facts = look(driver)
    for name, reports in driver.operators.items():
        own = [one for one in facts.operators if f"{one.group}.{one.fragment}.{one.lane}" == name]
        assert [one.number for one in own] == list(range(len(reports)))
        for one, report in zip(own, reports, strict=True):
            unlike = ("waiting", "parts", "stream", "reads", "pairs", "meeting", "probes")
            shown = [key for key in report if key not in unlike]
            assert all(getattr(one, key) == report[key] for key in shown)
            assert (one.pairs_tested, one.pairs_held) == (report["pairs"] or (None, None))
    assert len(facts.operators) == sum(map(len, driver.operators.values())) > 0


def test_operators_and_streams_have_rates_in_their_unit(driver: Driver) -> None:
    driver.batch({"cars": cars(*range(50, 90)), "hits": hits(*["7"] * 105)[5:]})
    driver.write_status()
    facts = look(driver)
    streams = {one.name: one for one in facts.streams}
    # Of the cars, one was late and one had no time; they came from second 10 to 89.
    assert streams["cars"].rate == pytest.approx(45 / 79, rel=0.01)
    assert streams["cars"].values["lane"] == 3
    assert streams["hits"].rate == pytest.approx(1.0)
    assert streams["hits"].values["word"] == 6
    entries = [one for one in facts.operators if one.label.startswith("Stream hits")]
    assert {(one.per, one.selectivity, one.withdrawn_share) for one in entries} == {
        ("tick", 1.0, 0.0)
    }
    assert sum(one.rate or 0 for one in entries) == pytest.approx(1.0, abs=0.1)
    grouped = [one for one in facts.operators if one.label.startswith("Aggregate")]
    assert {one.per for one in grouped} == {"second"}
    assert all(one.withdrawn_share == one.withdrawn / one.rows_out for one in grouped)


def test_what_a_pipeline_reports_makes_statistics(driver: Driver) -> None:
    statements = (*STATEMENTS, "CREATE QUERY fast AS SELECT lane FROM cars [NOW] WHERE speed > 21")
    driver.run(statements, ["fast"], lanes=2)
    at = range(200, 700)
    rows: Rows = [
        {"lane": n % 9, "speed": 18.0 + n % 10, "passed": one * SECOND} for n, one in enumerate(at)
    ]
    driver.batch({"cars": rows})
    found = measured(driver.operators)
    assert found.rates["cars"] * SECOND == pytest.approx(1.0, rel=0.01)
    assert found.values["cars", "lane"] == pytest.approx(9, abs=1.5)
    assert found.values["cars", "speed"] == pytest.approx(10, abs=1.5)
    assert found.selectivities == {"(cars.speed > 21.0)": pytest.approx(0.6, rel=0.02)}
    # What was written to the status and read again says the same.
    driver.write_status()
    status = read_status(driver.home)
    assert status is not None
    assert measured(status.operators) == found


def test_the_status_tells_of_the_last_batch(driver: Driver) -> None:
    driver.write_status(seconds={"job": 0.5}, errors=[(7.0, "no room")])
    written = driver.ledger.record.number
    driver.batch({"cars": cars(50)})
    facts = look(driver)
    assert (facts.status_record, facts.record) == (written, written + 1)
    assert (facts.batch_rows, facts.batch_seconds) == (3, {"job": 0.5})
    assert facts.errors == ((7.0, "no room"),)


def test_offsets_are_those_of_the_newest_record(driver: Driver) -> None:
    offsets = {"cars": {"logOffset": 3}, "hits": 12}
    driver.batch({"cars": cars(50)}, offsets)
    driver.flush()
    driver.close()
    found = {one.stream: one.offset for one in look(driver).sources}
    assert found == offsets


def test_a_batch_whose_offsets_are_not_known_leaves_no_old_ones(driver: Driver) -> None:
    driver.batch({"cars": cars(50)}, {"cars": {"logOffset": 3}})
    driver.batch({"cars": cars(60)})
    assert look(driver).sources == ()


def test_a_stream_that_is_not_declared_any_more_has_no_offset(driver: Driver) -> None:
    driver.batch({"cars": cars(50)}, {"cars": {"logOffset": 3}, "hits": 12})
    driver.run([STATEMENTS[0], "CREATE QUERY more AS SELECT speed FROM cars [NOW]"], ["more"])
    assert [one.stream for one in look(driver).sources] == ["cars"]
    assert set(driver.ledger.record.offsets) == {"cars"}


def test_files_wait_that_were_found_and_not_read_since(driver: Driver) -> None:
    driver.write_status(found={"cars": 5, "hits": 1})
    before = driver.ledger.record
    found = {one.stream: (one.files_read, one.files_waiting) for one in look(driver).sources}
    assert found == {"cars": (0, 5), "hits": (0, 1)}
    # Of the status nothing changes until somebody writes it.
    files = {"cars": FilesRead(("more",), ("d",), 3), "hits": FilesRead((), ("e", "f"), 2)}
    driver.home.chain.publish(before.next("change", files=files))
    found = {one.stream: (one.files_read, one.files_waiting) for one in look(driver).sources}
    assert found == {"cars": (3, 2), "hits": (2, 0)}
    (driver.home.path / "status.json").unlink()
    assert [one.files_waiting for one in look(driver).sources] == [None, None]


def test_a_strange_status_is_no_obstacle(driver: Driver) -> None:
    (driver.home.path / "status.json").write_text('{"version": 99}', "utf-8")
    facts = look(driver)
    assert facts.status_at is None
    assert facts.notes == ("the status cannot be read: another version of Penstock wrote it",)
    assert query(facts, "average").lanes == 2


def test_whoever_has_the_home_runs(driver: Driver) -> None:
    assert (look(driver).is_taken, look(driver).process, look(driver).takes_rows) == (
        True, None, None,
    )  # fmt: skip
    driver.write_status()
    facts = look(driver)
    assert (facts.process, facts.takes_rows) == (os.getpid(), True)
    driver.close()
    facts = look(driver)
    assert (facts.is_taken, facts.process, facts.takes_rows) == (False, None, None)


def test_a_killed_process_does_not_run_any_more(driver: Driver) -> None:
    driver.close()
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, driver.home.path], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        assert look(driver).is_taken
        write_status(driver.home, Status(process.pid, True, 0.0, 0.0, 1))
        assert (look(driver).process, look(driver).takes_rows) == (process.pid, True)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert (look(driver).is_taken, look(driver).process) == (False, None)
        # The next one has not said anything yet.
        driver.home.open()
        assert (look(driver).is_taken, look(driver).process) == (True, None)


def test_looking_takes_nothing_and_writes_nothing(driver: Driver) -> None:
    driver.close()
    before = {path: path.stat().st_mtime_ns for path in driver.home.path.rglob("*")}
    observer = Observer(Home(driver.home.path))
    observer.look()
    assert {path: path.stat().st_mtime_ns for path in driver.home.path.rglob("*")} == before
    driver.home.open()


def test_looking_again_sees_what_came_meanwhile(driver: Driver) -> None:
    observer = Observer(Home(driver.home.path))
    first = observer.look()
    driver.run([*STATEMENTS, "CREATE QUERY more AS SELECT speed FROM cars [NOW]"], ["more"])
    driver.batch({"cars": cars(60)})
    second = observer.look()
    assert second.record == first.record + 2
    assert query(second, "more").clock.number == 55 * SECOND
    assert query(second, "average").group is None


def test_disk_use_is_that_of_the_files(driver: Driver) -> None:
    disk = look(driver).disk
    segments = list(driver.home.segments.iterdir())
    assert {one.suffix[1:] for one in segments} | {"records", "plans"} == set(disk)
    logs = [one for one in segments if one.suffix == ".log"]
    assert (disk["log"].files, disk["log"].bytes) == (2, sum(one.stat().st_size for one in logs))
    assert disk["records"].files == driver.ledger.record.number + 1


def test_a_folder_that_is_no_home_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no folder .*/nowhere"):
        Observer(Home(tmp_path / "nowhere")).look()
    with pytest.raises(DataError, match="is not the home of a pipeline"):
        Observer(Home(tmp_path)).look()


def test_a_home_that_cannot_be_understood_is_refused(driver: Driver) -> None:
    plan = driver.home.plans / driver.ledger.record.plan
    content = plan.read_text("utf-8")
    plan.write_text(content[:20], "utf-8")
    with pytest.raises(DataError, match=r"the plan .* cannot be read"):
        look(driver)
    plan.unlink()
    with pytest.raises(DataError, match=r"the home .* cannot be read: .*No such file"):
        look(driver)
    plan.write_text(content, "utf-8")
    record = driver.home.path / "records" / f"{driver.ledger.record.number:012d}.json"
    values = json.loads(record.read_bytes())
    record.write_text(json.dumps({**values, "format": 99}), "utf-8")
    with pytest.raises(DataError, match="the home has format 99"):
        look(driver)
