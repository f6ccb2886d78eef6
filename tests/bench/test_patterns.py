"""The benchmark of update patterns: its traffic is as it says, its strategies agree."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from penstock.algebra.patterns import Strategy
from penstock.errors import UnknownName
from penstock_bench.patterns import experiments
from penstock_bench.patterns_cases import CASES, DOWN, UP, PatternCase
from penstock_bench.patterns_plot import write_picture
from penstock_bench.patterns_run import QUICK, StrategyEffort, measure, verify
from penstock_bench.patterns_traffic import LINKS, PROTOCOLS, PacketTraffic

STRATEGIES = list(get_args(Strategy))
TINY = StrategyEffort(
    (200,), batch_rows=300, rounds=2, seconds=0.0, most_batches=2, batches=(100, 300)
)
EXAMPLE = Path(__file__).parents[2] / "examples" / "seeds" / "packets.cql"
Figures = dict[str, Any]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_all_strategies_agree_on_every_form(case: PatternCase) -> None:
    assert len({verify(case, form) for form in case.forms if not case.optimized}) <= 1
    assert all(verify(case, form) > 10 for form in case.forms)


def test_there_are_figures_of_every_strategy_and_a_picture(tmp_path: Path) -> None:
    # A case of each kind: with an answer that is kept, over DISTINCT, in two forms.
    chosen = ["q1_ftp", "q2_sources", "q4_few", "batches"]
    outcomes = [one.measure(lambda: None) for one in experiments(TINY, chosen)]
    assert [one.name for one in outcomes] == chosen
    found: Figures = json.loads(json.dumps({one.name: one.figures for one in outcomes}))
    for case in [one for one in CASES if one.name in chosen]:
        for form in case.forms:
            one = found[case.name][f"{form} 200"]
            assert list(one["strategies"]) == STRATEGIES
            for cost in one["strategies"].values():
                assert 0 < cost["ms_per_1000"] <= cost["highest"]
                assert cost["state_bytes"] > 0
                assert (cost["answer_bytes"] > 0) == (form == "kept")
            assert sorted(one["to_upa"]) == sorted(set(STRATEGIES) - {"upa"})
    assert {one["batch_rows"] for one in found["batches"].values()} == {*TINY.batches}
    picture = tmp_path / "all.png"
    write_picture(outcomes, picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_command_prints_one_object_and_writes_the_picture(tmp_path: Path) -> None:
    picture = tmp_path / "one.png"
    arguments = ["patterns", "--quick", "--only", "q4_few", "--out", str(picture)]
    whole = [sys.executable, "-P", "-m", "penstock", "bench", *arguments]
    answer = subprocess.run(whole, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    found: Figures = json.loads(answer.stdout.splitlines()[-1])
    assert found["benchmark"] == "patterns"
    assert found["strategies"] == STRATEGIES
    assert found["batch_rows"] == QUICK.batch_rows
    assert list(found["q4_few"]["pushed_down_to_pulled_up"]["1000"]) == STRATEGIES
    for form in (DOWN, UP):
        assert found["q4_few"][f"{form} 1000"]["optimizer_runs"]["measured"] == DOWN
    assert picture.exists()
    nowhere = [*whole[:-1], str(tmp_path / "none" / "one.png")]
    refused = subprocess.run(nowhere, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert "no folder" in refused.stderr


def test_a_turn_has_only_tuples_of_full_windows_and_distinct_keeps_its_output() -> None:
    (case,) = [one for one in CASES if one.name == "q2_sources"]
    (found,) = measure(case, ["sent"], 2000, replace(TINY, seconds=10.0))
    assert found.tuples == TINY.batch_rows * TINY.most_batches
    assert 100 < found.output_rows < 2000
    bytes_of = {name: cost.state_bytes for name, cost in found.costs.items()}
    assert bytes_of["upa"] < bytes_of["negative"]


def test_the_share_of_premature_expirations_goes_from_none_to_almost_all() -> None:
    names = ["q3_apart", "q3", "q3_often", "q3_very_often"]
    cases = {case.name: case for case in CASES}
    effort = replace(TINY, most_batches=10, seconds=10.0)
    shares = [measure(cases[name], ["sent"], 1000, effort)[0].premature for name in names]
    assert shares[0] == 0
    assert shares == sorted(shares)
    assert shares[-1] > 0.9


def test_the_queries_are_those_of_the_example() -> None:
    text = EXAMPLE.read_text("utf-8")
    ours = {
        f"{case.name}{suffix}": case.query(form, 10_000)
        for case in CASES
        for form, suffix in (("sent", ""), (DOWN, "_pushed_down"), (UP, "_pulled_up"))
        if form in case.forms
    }
    known = re.findall(r"CREATE QUERY (\w+) AS\s+(.*?);", text, re.DOTALL)
    assert known
    for name, query in known:
        mine = ours[name.replace("q4_", "q4_few_")]
        assert query.split() == mine.split()


def test_links_are_equally_busy_and_divided_by_destination() -> None:
    packets = PacketTraffic().packets(10_000, LINKS).streams
    destinations = [set(packets[link]["destination"].to_pylist()) for link in LINKS]
    assert not destinations[0] & destinations[1]
    assert not destinations[1] & destinations[2]
    for link in LINKS:
        assert 9_500 < len(packets[link]) < 10_500
        assert bool((np.diff(packets[link]["ts"].to_numpy()) >= 0).all())


def test_telnet_joins_ten_times_as_often_as_ftp() -> None:
    assert 9 < (PROTOCOLS["telnet"] / PROTOCOLS["ftp"]) ** 2 < 11
    assert sum(PROTOCOLS.values()) == pytest.approx(1)


@pytest.mark.parametrize("common", [0.0, 0.25, 1.0])
def test_links_have_so_many_sources_in_common(common: float) -> None:
    first, second = (set(PacketTraffic(100, common=common).names(link)) for link in LINKS[:2])
    assert len(first & second) == 100 * common


def test_only_what_is_wanted_is_measured() -> None:
    assert [one.name for one in experiments(QUICK, ["q1_ftp"])] == ["q1_ftp"]
    with pytest.raises(UnknownName, match="q1_fpt"):
        experiments(QUICK, ["q1_fpt"])
