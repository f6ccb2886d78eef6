"""Build the virtual environment `.venv` of a checkout from its requirements.lock.

Called by bootstrap.sh with the checkout's folder; runs on a bare Python, before anything is
installed. The copy of the lock inside `.venv` is written last and removed first: while it is
missing or different, the environment counts as unbuilt and the next start builds it again.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


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
    install(venv / "bin" / "python", root / "requirements.lock", venv / "set-up.log")
    make_importable(venv)
    stamp.write_bytes(wanted)
    say("set-up complete")


def install(python: Path, lock: Path, log: Path) -> None:
    """Install the locked packages; pip's chatter goes to the log, the slow steps to the user."""
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    command = [*pip, "--require-hashes", "--progress-bar=off", "--requirement", str(lock)]
    with (
        log.open("w", encoding="utf-8") as copy,
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
