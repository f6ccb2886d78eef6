"""Users learn what went wrong, not how Java and Python passed it on."""

from __future__ import annotations

import pytest

from penstock.spark.causes import Cause, cause_of

PYTHON = """[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: Job aborted
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "/x/asking.py", line 55, in ask
    raise LaneHostFailed(found["error"])
penstock.lane_host.lane_client.LaneHostFailed: Traceback (most recent call last):
  File "/x/keeping.py", line 81, in do
ZeroDivisionError: division by zero
\tat org.apache.spark.Task.run(Task.scala:1)"""


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (PYTHON, Cause("ZeroDivisionError: division by zero")),
        (
            "penstock.lane_host.lane_client.LaneHostRefused: a.log is damaged\n  Restore it.\nat y",
            Cause("a.log is damaged", may_pass=False),
        ),
        ("x\npenstock.errors.DataError: two pipelines", Cause("two pipelines", may_pass=False)),
        (
            "Job aborted\nCaused by: java.io.FileNotFoundException: File /a does not exist",
            Cause("FileNotFoundException: File /a does not exist"),
        ),
        (
            "Job aborted\nCaused by: java.io.IOException: No space left on device",
            Cause(
                "the disk of the home, or that of Spark's own files, is full"
                " (No space left on device)"
            ),
        ),
        (
            "py4j.protocol.Py4JJavaError: An error occurred while calling o1.collect.\n"
            ": org.apache.spark.SparkException: Job aborted\n"
            "Caused by: java.io.EOFException: Unexpected end of stream",
            Cause("EOFException: Unexpected end of stream"),
        ),
        ("plain words\nmore", Cause("plain words")),
        ("", Cause("Exception")),
    ],
)
def test_the_innermost_reason_is_told(text: str, wanted: Cause) -> None:
    assert cause_of(Exception(text)) == wanted
