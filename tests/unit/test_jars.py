"""Jars that a start of Spark loads: few where they are enough, all where others may be needed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pyspark
import pytest

from penstock.errors import QueryError
from penstock.spark import jars
from penstock.spark.jars import CLASS_PATH, SETTING, class_path, needs_all

SPARK = Path(pyspark.__file__).parent
JAVA = Path(jars.__file__).parent / "jdk" / "bin" / "java"
FEW = {SETTING: "few"}


@pytest.mark.parametrize(
    ("master", "settings", "environment", "expected"),
    [
        ("local", FEW, {}, False),
        ("local[*,4]", {**FEW, "spark.driver.memory": "4g"}, {"SPARK_CONF_DIR": ""}, False),
        ("local", {}, {}, True),
        ("local", {SETTING: "all"}, {}, True),
        ("local-cluster[2,1,1024]", FEW, {}, True),
        ("spark://elsewhere:7077", FEW, {}, True),
        ("local", {**FEW, "spark.jars.packages": "a:b:1"}, {}, True),
        ("local", {**FEW, "spark.penstock.formats": "jdbc"}, {}, True),
        ("local", {**FEW, "spark.ui.enabled": "true"}, {}, True),
        ("local", FEW, {"PYSPARK_SUBMIT_ARGS": "--packages a:b:1 pyspark-shell"}, True),
        ("local", FEW, {"SPARK_CONF_DIR": "/etc/spark"}, True),
    ],
)
def test_few_jars_are_enough_where_nothing_else_is_named(
    master: str, settings: dict[str, str], environment: dict[str, str], expected: bool
) -> None:
    assert needs_all(master, settings, environment, SPARK) is expected


def test_a_spark_with_a_configuration_of_its_own_has_all_jars(tmp_path: Path) -> None:
    assert not needs_all("local", FEW, {}, tmp_path)
    (tmp_path / "conf").mkdir()
    assert needs_all("local", FEW, {}, tmp_path)


def test_another_choice_is_refused() -> None:
    with pytest.raises(QueryError, match="jars is 'some', but must be"):
        needs_all("local", {SETTING: "some"}, {}, SPARK)


def test_few_jars_stand_before_all_others_and_none_is_forgotten() -> None:
    few = class_path(SPARK, with_all=False).split(os.pathsep)
    every = class_path(SPARK, with_all=True).split(os.pathsep)
    assert every[: len(few)] == few
    assert sorted(every) == sorted(map(str, (SPARK / "jars").glob("*.jar")))
    names = [Path(one).name for one in every]
    for families in jars._LEFT_OUT.values():
        for start in families:
            assert any(name.startswith(start) for name in names), f"no jar begins with {start}"
    assert 1.5 * len(few) < len(every)


def test_paths_that_are_too_long_for_a_variable_leave_all_jars(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(15):
        folder /= "d" * 200
    (folder / "jars").mkdir(parents=True)
    for number in range(40):
        (folder / "jars" / f"{number}.jar").touch()
    assert class_path(folder, with_all=False) == ""


@pytest.mark.parametrize("chosen", ["", "/x/one.jar:/x/two.jar"])
def test_java_loads_the_jars_that_were_chosen(tmp_path: Path, chosen: str) -> None:
    home = str(tmp_path / "a home")
    environment = {**os.environ, "SPARK_HOME": home, "PENSTOCK_JAVA": "/usr/bin/env"}
    every = f"{home}/conf:{home}/jars/*"
    # `env` runs what it is given: a program that prints its arguments and what it has of them.
    shown = ["sh", "-c", f'printf "%s\\n" "$@" "${{{CLASS_PATH}:-}}"', "sh", "-cp", every]
    done = subprocess.run(
        [JAVA, *shown, "--add-modules=jdk.incubator.vector", "Main", "a b"],
        env={**environment, CLASS_PATH: chosen},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = f"{home}/conf:{chosen}" if chosen else every
    assert done.stdout.splitlines() == ["-cp", loaded, "Main", "a b", ""]
