"""The metrics are well-formed, have the values of the facts, and survive any name."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from penstock.observe.facts import SourceFacts
from penstock.observe.observation import Observer
from penstock.observe.prometheus import ERROR_LENGTH, exposition
from penstock.observe.status import Durations
from store.driving import Driver

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from penstock.observe.facts import Facts

STATEMENTS = (
    "CREATE STREAM cars (lane INT, word STRING, passed TIMESTAMP, "
    "WATERMARK FOR passed AS passed - INTERVAL 5 SECONDS)",
    "CREATE STREAM hits (at BIGINT, WATERMARK FOR at AS at)",
    "CREATE QUERY numbers AS SELECT lane, CAST(word AS INT) AS n FROM cars [RANGE 9 SECONDS]",
    "CREATE QUERY same AS SELECT COUNT(*) AS n FROM hits [RANGE 9]",
    "CREATE QUERY idle AS SELECT at FROM hits [NOW]",
)
SAMPLE = re.compile(r'(penstock_\w+)(?:\{((?:\w+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (-?[\d.]+)')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
UNESCAPED = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}

Sample = tuple[str, frozenset[tuple[str, str]]]


def read(text: str) -> dict[Sample, float]:
    """Read metrics as strictly as the format is defined; every sample is declared just before."""
    found: dict[Sample, float] = {}
    declared: list[str] = []
    current = kind = ""
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            current = line.split(" ")[2]
            assert current not in declared, "a metric stands in one place"
            declared.append(current)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == current
            assert kind in ("counter", "gauge", "histogram")
            assert (kind == "counter") == name.endswith("_total")
        else:
            match = SAMPLE.fullmatch(line)
            assert match is not None, line
            name, labels, number = match.groups()
            suffix = name.removeprefix(current)
            assert suffix in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",))
            pairs = [
                (key, re.sub(r"\\.", lambda one: UNESCAPED[one[0]], content))
                for key, content in LABEL.findall(labels or "")
            ]
            sample = (name, frozenset(pairs))
            assert sample not in found, "samples of a metric differ in their labels"
            found[sample] = float(number)
    return found


@pytest.fixture
def facts(tmp_path: Path) -> Iterator[Facts]:
    with Driver(tmp_path / "home", STATEMENTS, ["numbers", "same"], lanes=2) as driver:
        at = [1_000_000, 2_000_000, 30_000_000]
        words = ["1", "x", "2"]
        rows = [{"lane": 1, "word": w, "passed": t} for w, t in zip(words, at, strict=True)]
        driver.batch({"cars": [dict(row) for row in rows], "hits": [{"at": 3}]})
        driver.batch({"cars": [dict(row) for row in rows[:1]]})
        driver.write_status(seconds={"job": 0.25, "commit": 0.0005}, errors=[(5.5, "no room")])
        yield Observer(driver.home).look()


def value(found: dict[Sample, float], name: str, **labels: str) -> float | None:
    return found.get((f"penstock_{name}", frozenset(labels.items())))


def test_metrics_have_the_values_of_the_facts(facts: Facts) -> None:
    found = read(exposition(facts))
    assert value(found, "running") == 1
    assert value(found, "taking_rows") == 1
    assert value(found, "record_number") == facts.record
    assert value(found, "last_error_timestamp_seconds") == 5.5
    assert value(found, "last_error_info", text="no room") == 1
    assert value(found, "stream_rows_total", stream="cars") == 4
    assert value(found, "stream_late_rows_total", stream="cars") == 1
    assert value(found, "stream_watermark_timestamp_seconds", stream="cars") == 25
    lag = value(found, "stream_watermark_lag_seconds", stream="cars")
    assert lag == pytest.approx(facts.seen_at - 25)
    assert value(found, "batch_seconds", part="job") == 0.25
    assert value(found, "batch_seconds", part="commit") == 0.0005
    assert value(found, "query_failures_total", query="numbers", function="cast") == 1
    assert value(found, "disk_files", kind="log") == facts.disk["log"].files > 0
    lags = {one.name: one.lag for one in facts.queries}
    assert value(found, "query_event_lag", query="same", unit="tick") == lags["same"] == 0


def test_durations_of_batches_are_counted_by_bounds(facts: Facts) -> None:
    durations = Durations()
    for seconds in (0.04, 0.05, 0.3, 99.0):
        durations.add(seconds)
    found = read(exposition(replace(facts, durations=durations)))

    def count(bound: str) -> float | None:
        return value(found, "batch_duration_seconds_bucket", le=bound)

    assert [count(one) for one in ("0.05", "0.2", "0.5", "60", "+Inf")] == [2, 2, 3, 3, 4]
    assert value(found, "batch_duration_seconds_count") == 4
    assert value(found, "batch_duration_seconds_sum") == pytest.approx(99.39)


def test_state_is_told_for_every_operator_of_every_lane(facts: Facts) -> None:
    found = read(exposition(facts))
    for name in (
        "rows_in_total",
        "rows_out_total",
        "withdrawn_rows_total",
        "seconds_total",
        "state_rows",
        "state_bytes",
    ):
        assert sum(key[0] == f"penstock_operator_{name}" for key in found) == len(facts.operators)
    own = [v for key, v in found.items() if key[0] == "penstock_operator_state_bytes"]
    assert sum(own) == sum(one.state_bytes for one in facts.operators) > 0


def test_what_was_measured_is_told(facts: Facts) -> None:
    operator = replace(facts.operators[0], rate=2.5, per="second", selectivity=0.25)
    stream = replace(facts.streams[0], name="cars", rate=3.5, values={"lane": 3})
    found = read(exposition(replace(facts, streams=(stream,), operators=(operator,))))
    rates = {key: v for key, v in found.items() if key[0] == "penstock_operator_rate"}
    assert list(rates.values()) == [2.5]
    assert all(("per", "second") in key[1] for key in rates)
    assert 0.25 in [v for key, v in found.items() if key[0] == "penstock_operator_selectivity"]
    assert value(found, "stream_rate", stream="cars") == 3.5
    assert value(found, "stream_column_values", stream="cars", column="lane") == 3


def test_offsets_are_told_as_numbers(facts: Facts) -> None:
    sources = (
        SourceFacts("files", {"logOffset": 5}),
        SourceFacts("topics", {"a/b": {"0": 12, "1": 9_007_199_254_740_993}, "c": {"0": 3}}),
        SourceFacts("ticks", 13),
        SourceFacts("others", {"id": "x", "isLast": True, "list": [1]}),
        SourceFacts("folder", None, 7, 2),
        SourceFacts("quiet", None, 1),
    )
    text = exposition(replace(facts, sources=sources))
    found = read(text)
    assert value(found, "source_offset", source="files", part="logOffset") == 5
    assert value(found, "source_offset", source="topics", part="a/b/0") == 12
    assert value(found, "source_offset", source="topics", part="c/0") == 3
    assert 'part="a/b/1"} 9007199254740993\n' in text
    assert value(found, "source_offset", source="ticks") == 13
    assert sum(key[0] == "penstock_source_offset" for key in found) == 5
    assert value(found, "source_files_read_total", source="folder") == 7
    assert value(found, "source_files_waiting", source="folder") == 2
    assert value(found, "source_files_read_total", source="quiet") == 1
    assert value(found, "source_files_waiting", source="quiet") is None
    assert value(found, "source_files_read_total", source="files") is None


def test_the_last_error_is_told_with_its_text_on_a_line_that_is_not_too_long(facts: Facts) -> None:
    errors = ((4.5, "an older one"), (5.5, 'no "room"\r\nleft on C:\\data'))
    found = read(exposition(replace(facts, errors=errors)))
    assert value(found, "last_error_info", text='no "room" left on C:\\data') == 1
    long = read(exposition(replace(facts, errors=((5.5, "\\ word\n" * 10_000),))))
    ((_, labels),) = [key for key in long if key[0] == "penstock_last_error_info"]
    ((_, text),) = labels
    assert len(text) == ERROR_LENGTH
    assert text.endswith("...")


def test_what_is_not_known_is_left_out(facts: Facts) -> None:
    found = read(exposition(facts))
    assert value(found, "stream_watermark_lag_seconds", stream="hits") is None
    assert value(found, "query_event_lag_seconds", query="same") is None
    assert value(found, "query_event_lag", query="idle", unit="tick") is None
    assert value(found, "query_running", query="idle") == 0
    silent = read(exposition(replace(facts, errors=(), operators=(), takes_rows=None)))
    assert not any("operator" in key[0] or "error" in key[0] for key in silent)
    assert value(silent, "taking_rows") is None


@pytest.mark.parametrize("name", ['say "hi"', "back\\slash", "two\nlines", "\\n", 'a\\"b', "{,}="])
def test_any_name_is_escaped(facts: Facts, name: str) -> None:
    stream = replace(facts.streams[0], name=name)
    operator = replace(facts.operators[0], label=name)
    found = read(exposition(replace(facts, streams=(stream,), operators=(operator,))))
    assert value(found, "stream_rows_total", stream=name) == stream.rows
    assert any(("operator", name) in key[1] for key in found)
