"""Start Spark with the settings that Penstock relies on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.spark.java import find_java
from penstock.spark.java_archive import archive_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyspark.sql import SparkSession

DEFAULT_MASTER = "local[*,4]"
"""All cores of this machine; a task is tried four times (plain `local[*]` never retries)."""

JAVA_ENDS_SECONDS = 5.0
"""How long Java may take to end after its connections have."""

_HERE = Path(__file__).parent
_PACKAGES = _HERE.parents[1]
"""The folder that this package was imported from."""

_OPTIONS = "spark.driver.extraJavaOptions"
SETTINGS: dict[str, str] = {
    "spark.sql.session.timeZone": "UTC",
    # The plan of a micro-batch is ours: one shuffle of known width. Re-planning only costs time.
    "spark.sql.adaptive.enabled": "false",
    # On a cluster a task waits so long for the executor where its lanes live, which may be busy
    # with another task of the batch; moving lanes takes longer. Elsewhere nothing is preferred.
    "spark.locality.wait": "1s",
    # Over loopback TCP each Python stage waits some 40 ms for a delayed acknowledgement.
    "spark.python.unix.domain.socket.enabled": "true",
    # Workers are forked with everything loaded.
    "spark.python.daemon.module": "penstock.spark.daemon",
    # As for tasks of DataFrames, so that jobs of both kinds are done by the same workers.
    "spark.executorEnv.SPARK_SIMPLIFIED_TRACEBACK": "1",
    # A checkpoint on a local disk needs no renaming through Hadoop, and no second checksum.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing."
        "FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    # Spark writes down again which files it has ever read, every 10 batches, and keeps that for 10
    # minutes. On a local disk nobody needs it for so long.
    "spark.sql.streaming.fileSource.log.compactInterval": "100",
    "spark.sql.streaming.fileSource.log.cleanupDelay": "60s",
    # Streams come and go under one checkpoint, so sources are known by name.
    "spark.sql.streaming.queryEvolution.enableSourceEvolution": "true",
    # A column that nobody reads may be what makes a row unreadable.
    "spark.sql.csv.parser.columnPruning.enabled": "false",
    # Python takes a whole task's rows at once anyway; batches of rows with long texts end by size.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000000",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    _OPTIONS: f'"-Dlog4j2.configurationFile={_HERE / "log4j2.properties"}"',
}
"""Spark's configuration unless the caller says otherwise."""


def start_session(
    app_name: str = "penstock",
    *,
    master: str = DEFAULT_MASTER,
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """Start Spark, or return the session that already runs in this process.

    Args:
        app_name: what Spark calls the application.
        master: Spark's master URL; local by default.
        settings: Spark configuration, on top of `SETTINGS` and stronger than it.
    """
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(app_name).master(master)
    variables = launch_environment(master)
    home = Path(variables["SPARK_HOME"])
    own = {**SETTINGS}
    own[_OPTIONS] += f" {archive_options(Path(variables['PENSTOCK_JAVA']), home)}"
    for key, value in {**own, **(settings or {})}.items():
        builder = builder.config(key, value)
    with _environment(variables), _plain_ctrl_c():
        return builder.getOrCreate()


def end_java(seconds: float) -> None:
    """Stop Spark, and wait for the end of its Java.

    Raises:
        TimeoutExpired: It has not ended in time.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    session, gateway = SparkSession.getActiveSession(), SparkContext._gateway
    if session is not None:
        session.stop()
    process: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    if process is None or gateway is None:
        return
    gateway.shutdown()
    if process.stdin is not None:
        # It ends when nobody is there any more.
        process.stdin.close()
    process.wait(seconds)


def running_master() -> str | None:
    """The master of the Spark that runs in this process; None if there is none."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    return None if session is None else str(session.sparkContext.master)


def java_end(fault: BaseException | None = None) -> str | None:
    """The end of the Java that Spark runs in, as a sentence; None as long as it runs.

    With a fault that says so, it is waited for: a connection ends a moment before the process.
    """
    from py4j.protocol import Py4JNetworkError
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    process: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    if process is None:
        return None  # There is none, or it is not ours.
    if isinstance(fault, Py4JNetworkError | ConnectionError):
        with suppress(subprocess.TimeoutExpired):
            process.wait(JAVA_ENDS_SECONDS)
    code = process.poll()
    if code is None:
        return None
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    return f"the Java process that runs Spark {how}"


def when_java_ends(act: Callable[[str], None]) -> None:
    """Call something when the Java that Spark runs in has ended, in a thread of its own."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    process: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    if process is None:
        return

    def wait() -> None:
        process.wait()
        act(java_end() or "")

    threading.Thread(target=wait, name="penstock java", daemon=True).start()


def launch_environment(master: str) -> dict[str, str]:
    """The variables under which Spark has to be started, on top of the ones we have."""
    import pyspark

    variables = {
        # The Spark of the locked wheel, even where another one is installed.
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "JAVA_HOME": str(_HERE / "jdk"),
        "PENSTOCK_JAVA": str(find_java().executable),
    }
    if master.startswith("local"):
        # Workers would run whatever `python3` is on PATH, and listeners be open to the network.
        variables["PYSPARK_PYTHON"] = sys.executable
        # What this process imports, however it found it, its workers import, too.
        others = os.environ.get("PYTHONPATH")
        variables["PYTHONPATH"] = os.pathsep.join([str(_PACKAGES), *([others] if others else [])])
        variables["SPARK_LOCAL_IP"] = os.environ.get("SPARK_LOCAL_IP", "127.0.0.1")
    else:
        # Nodes of a cluster have their own paths, and must be able to reach this machine.
        variables["PYSPARK_PYTHON"] = os.environ.get("PYSPARK_PYTHON", sys.executable)
    return variables


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables while Spark starts (it copies them), and then put back what was there."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _plain_ctrl_c() -> Iterator[None]:
    """Put Ctrl-C off until Spark is up, and keep it a plain KeyboardInterrupt from then on.

    A start that is cut off leaves a Java process behind that never ends. Later on, Spark's own
    handler would call Java in the middle of another call, which fails with pages of traceback.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Signals are the main thread's business, for Spark as for us.
        return
    pressed = False

    def wait(_signal: int, _frame: object) -> None:
        nonlocal pressed
        if pressed:  # Twice: the user will not wait.
            raise KeyboardInterrupt
        pressed = True

    before = signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt
