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

from penstock.spark.child_session import child_session, running_session
from penstock.spark.given_settings import MASTER, given_settings, is_submitted
from penstock.spark.jars import CLASS_PATH, class_path, needs_all
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
    # On a cluster a task waits so long for the executor where its lanes live, which may be busy
    # with another task of the batch; moving lanes takes longer. Elsewhere nothing is preferred.
    "spark.locality.wait": "1s",
    # Over loopback TCP each Python stage waits some 40 ms for a delayed acknowledgement.
    "spark.python.unix.domain.socket.enabled": "true",
    # Workers are forked with everything loaded.
    "spark.python.daemon.module": "penstock.spark.daemon",
    # As for tasks of DataFrames, so that jobs of both kinds are done by the same workers.
    "spark.executorEnv.SPARK_SIMPLIFIED_TRACEBACK": "1",
    # Jobs of questions take the cores that micro-batches leave free.
    "spark.scheduler.mode": "FAIR",
    "spark.scheduler.allocation.file": f"file://{_HERE / 'pools.xml'}",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    _OPTIONS: f'"-Dlog4j2.configurationFile={_HERE / "log4j2.properties"}"',
}
"""The configuration that Spark is started with, unless caller or surroundings say otherwise.

What holds for a session only is in `SESSION_SETTINGS`.
"""


def start_session(
    app_name: str = "penstock",
    *,
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """A session of our own, of the Spark that runs in this process, or of one that is started.

    Args:
        app_name: what Spark calls the application, if it is started.
        master: Spark's master URL, if it is started; the one that the surroundings give by default,
            else this machine.
        settings: Spark configuration, stronger than ours.

    Raises:
        QueryError: Spark runs, and a setting cannot be changed any more.
    """
    running = running_session()
    if running is not None:
        return child_session(running, settings)
    return child_session(_started(app_name, master, settings or {}), settings, is_new=True)


def _started(app_name: str, master: str | None, settings: Mapping[str, str]) -> SparkSession:
    """The first session of a Spark that is started."""
    from pyspark.sql import SparkSession

    chosen = master or default_master()
    own = {**SETTINGS}
    if is_submitted():
        # Java runs already, without our variables; its workers are to import the same.
        variables = worker_environment(chosen)
        del own[_OPTIONS]
        if "PYTHONPATH" in variables:
            own["spark.executorEnv.PYTHONPATH"] = variables["PYTHONPATH"]
    else:
        variables = launch_environment(chosen)
        java, home = Path(variables["PENSTOCK_JAVA"]), Path(variables["SPARK_HOME"])
        with_all = needs_all(chosen, settings, os.environ, home)
        variables[CLASS_PATH] = class_path(home, with_all=with_all)
        own[_OPTIONS] += f" {archive_options(java, home)}"
    given = given_settings()
    own = {key: value for key, value in own.items() if key not in given}
    builder = SparkSession.builder.master(chosen)
    if "spark.app.name" not in given:
        builder = builder.appName(app_name)
    for key, value in {**own, **settings}.items():
        builder = builder.config(key, value)
    with _environment(variables), _plain_ctrl_c():
        return builder.getOrCreate()


def default_master() -> str:
    """The master that Spark is started with if nobody names one: by the surroundings, else ours."""
    return given_settings().get(MASTER, DEFAULT_MASTER)


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

    return {
        # The Spark of the locked wheel, even where another one is installed.
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "JAVA_HOME": str(_HERE / "jdk"),
        "PENSTOCK_JAVA": str(find_java().executable),
        **worker_environment(master),
    }


def worker_environment(master: str) -> dict[str, str]:
    """The variables under which a SparkContext has to begin, for the sake of its workers."""
    variables = {}
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
