"""A connection beside the user's own use of Spark: nobody else sees that it is there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

import penstock
from penstock.errors import QueryError
from penstock.spark.given_settings import settings_of
from tiers import only_long

if TYPE_CHECKING:
    from collections.abc import Mapping

LAUNCHER = Path(pyspark.__file__).parent / "bin" / "spark-submit"

BESIDE = '''
"""Their session, their stream, and ours in one Spark; prints what is not as it should be."""
import os, sys
from pathlib import Path
from pyspark.sql import SparkSession
from penstock.spark.spark_session import launch_environment

os.environ.update(launch_environment("local[2]"))
folder = Path(sys.argv[1])
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.session.timeZone", "America/New_York")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
spark.conf.set("spark.sql.shuffle.partitions", "3")
spark.conf.set("spark.penstock.formats", "rate-of-mine")


def seen(session):
    """The whole configuration that somebody can see, and what is active."""
    rows = session.sql("SET -v").collect()
    context = dict(session.sparkContext.getConf().getAll())
    active = SparkSession.getActiveSession()._jsparkSession.toString()
    ours = "penstock" in session.sparkContext._jsc.sc().getLocalProperties().toString()
    return (
        session.conf.getAll, {row[0]: row[1] for row in rows}, context, active,
        SparkSession.active() is session, [one.name for one in session.streams.active],
        session.newSession().conf.getAll, ours,
    )


def theirs(name):
    """A stream without names of sources, which our setting would refuse."""
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / f"{name}.csv").write_text("1\\n2\\n")
    query = (
        spark.readStream.schema("v INT").csv(str(folder / "in")).groupBy().sum("v")
        .writeStream.outputMode("complete").format("memory").queryName(name).start()
    )
    query.processAllAvailable()
    return query


import penstock

early = theirs("early")
before = seen(spark)
for given in ({"spark": spark}, {}):
    with penstock.connect(home=folder / f"home{len(given)}", **given) as db:
        print("same", [a == b for a, b in zip(before, seen(spark), strict=True)])
        files = folder / f"files{len(given)}"
        files.mkdir()
        (files / "1.csv").write_text("ts,k\\n1,1\\n2,2\\n")
        # One stream that Spark's query reads, one whose rows are brought.
        db.execute(f"""
            CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts)
            USING csv OPTIONS (path '{files}', header 'true', reader 'spark');
            CREATE STREAM t (ts BIGINT, k INT, WATERMARK FOR ts AS ts);
            CREATE QUERY q AS SELECT s.k FROM s [RANGE 9], t [RANGE 9] WHERE s.k = t.k;
        """)
        db.insert("t", [(1, 1), (2, 2)])
        during = theirs(f"during{len(given)}")
        db.finish()
        entered = [one for one in db["q"].changes().to_pylist() if one["_sign"] == "+"]
        print("ours", sorted(one["k"] for one in entered))
        frame = db["q"].snapshot(at=2, format="spark")
        print("frame", frame.sparkSession is spark, frame.count())
        print("theirs", spark.table(f"during{len(given)}").collect()[0][0])
        during.stop()
    print("same", [a == b for a, b in zip(before, seen(spark), strict=True)])
for wrong in ({"spark.ui.enabled": "true"}, {"spark.sql.warehouse.dir": "/elsewhere"}):
    try:
        penstock.connect(settings=wrong)
    except penstock.errors.QueryError as error:
        print("refused", error.message)
early.stop()
other = spark.newSession()
spark.stop()
try:
    penstock.connect(spark=other)
except penstock.errors.QueryError as error:
    print("refused", error.message)
'''

SUBMITTED = """
import sys
import penstock
from penstock.spark.spark_engine import spark_engine
with penstock.connect() as db:
    db.execute('''
        CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts);
        CREATE QUERY q AS SELECT k FROM s [RANGE 5];
    ''')
    db.insert("s", [(1, 1), (9, 2)])
    db.finish()
    context = spark_engine(db).spark.sparkContext
    conf = context.getConf()
    print(context.master, context.appName, context.defaultParallelism, conf.get("spark.app.mine"))
    print(len(db["q"].changes()))
"""


def run_program(
    text: str, folder: Path, *before: str, variables: Mapping[str, str] | None = None
) -> list[str]:
    """What a program prints that runs in a process of its own."""
    program = folder / "program.py"
    program.write_text(text)
    done = subprocess.run(
        [*(before or [sys.executable, "-P"]), str(program), str(folder)],
        env={**os.environ, **(variables or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_settings_sessions_and_streams_of_others_stay_as_they_are(tmp_path: Path) -> None:
    ours = [f"same {[True] * 8}", "ours [1, 2]", "frame True 2", "theirs 6", f"same {[True] * 8}"]
    assert run_program(BESIDE, tmp_path) == [
        *ours,
        *(one.replace("theirs 6", "theirs 9") for one in ours),
        "refused Spark runs already, and cannot change spark.ui.enabled any more",
        "refused Spark runs already, and cannot change spark.sql.warehouse.dir any more",
        "refused the session has been stopped",
    ]


def test_spark_submit_says_which_master(tmp_path: Path) -> None:
    launch = [str(LAUNCHER), "--master", "local[3]", "--name", "mine", "--conf", "spark.app.mine=1"]
    variables = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    said = run_program(SUBMITTED, tmp_path, *launch, variables=variables)
    assert said == ["local[3] mine 3 1", "4"]


@only_long
def test_variables_say_which_master(tmp_path: Path) -> None:
    arguments = "--master local[1] --conf spark.app.mine=2 pyspark-shell"
    said = run_program(SUBMITTED, tmp_path, variables={"PYSPARK_SUBMIT_ARGS": arguments})
    assert said == ["local[1] penstock 1 2", "4"]


def test_the_strongest_of_what_names_a_master_is_taken(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text(
        "# spark.master  local[9]\nspark.master  local[2]\nspark.some = a b \nspark.other:c\n"
    )
    variables = {"MASTER": "local[1]"}
    assert settings_of({}) == {}
    assert settings_of(variables) == {"spark.master": "local[1]"}
    variables["SPARK_CONF_DIR"] = str(tmp_path)
    found = {"spark.master": "local[2]", "spark.some": "a b", "spark.other": "c"}
    assert settings_of(variables) == found
    variables["PYSPARK_SUBMIT_ARGS"] = "-c 'spark.some=d e' --master=local[3] pyspark-shell"
    found |= {"spark.master": "local[3]", "spark.some": "d e"}
    assert settings_of(variables) == found
    variables["PYSPARK_SUBMIT_ARGS"] += " --conf spark.master=local[4]"
    assert settings_of(variables) == found
    variables["SPARK_CONF_DIR"] = str(tmp_path / "none")
    variables["PYSPARK_SUBMIT_ARGS"] = "pyspark-shell"
    assert settings_of(variables) == {"spark.master": "local[1]"}


def test_spark_connect_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its real classes cannot be loaded here: they need gRPC. Their module is what is looked at.
    remote = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(QueryError, match="is a session of Spark Connect, which has no SparkCon"):
        penstock.connect(spark=remote)
    with pytest.raises(QueryError, match="spark is 'local', but must be a session of Spark"):
        penstock.connect(spark="local")
    monkeypatch.setenv("SPARK_REMOTE", "sc://elsewhere")
    with pytest.raises(QueryError, match="sessions are those of Spark Connect") as caught:
        penstock.connect()
    assert "without SPARK_REMOTE" in str(caught.value.hint)
