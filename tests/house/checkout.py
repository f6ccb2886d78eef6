"""Copies of this checkout to start the two commands in, and the environment to do so."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

TOOLS = ("sh", "bash", "env", "dirname", "basename", "readlink", "cmp", "uname", "ps", "cat", "id")
"""What our start scripts and Spark's call. There is no Java among them."""

TALKING_STUB = """\
import os, sys
print("started", *sys.argv[1:], "in", os.getcwd())
"""


@dataclass(frozen=True)
class Checkout:
    """A folder with the two commands in it, and the environment to call them in."""

    root: Path
    environment: dict[str, str]

    def popen(self, *command: str | Path, cwd: Path | None = None) -> subprocess.Popen[str]:
        """Start a command, by default in the checkout and `./penstock`; its own process group."""
        return subprocess.Popen(
            command or [self.root / "penstock"],
            cwd=cwd or self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *command: str | Path, cwd: Path | None = None) -> tuple[int, str, str]:
        """Run a command to its end; exit code, stdout and stderr."""
        with self.popen(*command, cwd=cwd) as process:
            output, errors = process.communicate()
        return process.returncode, output, errors

    def lock_packages(self, *names: str) -> None:
        """Make the lock name just these packages, with the versions of the real one."""
        entries = re.split(r"\n(?=\w)", (ROOT / "requirements.lock").read_text("utf-8"))
        wanted = [entry for entry in entries if entry.split("==")[0] in names]
        (self.root / "requirements.lock").write_text("\n".join([*wanted, ""]), "utf-8")

    def warm_up_with(self, code: str) -> None:
        """Let the warm-up of a small checkout be this."""
        path = self.root / "src" / "penstock" / "connection" / "engines" / "local" / "warm_up.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{code}\n", "utf-8")


def full_checkout(root: Path, environment: dict[str, str]) -> Checkout:
    """What a clone would hold if the working tree were committed."""
    listing = ["git", "-C", str(ROOT), "ls-files", "-z", "-co", "--exclude-standard"]
    for name in subprocess.check_output(listing, text=True).split("\0"):
        if name and (ROOT / name).exists():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, root / name)
    return Checkout(root, environment)


def link_packages(checkout: Checkout) -> None:
    """Let a checkout have the packages of this environment, and an environment of its own."""
    made = checkout.root / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(made)], check=True)
    [packages] = made.glob("lib/python3*/site-packages")
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if entry.name != "penstock.pth":
            (packages / entry.name).symlink_to(entry)
    (packages / "penstock.pth").write_text("../../../../src\n", "utf-8")
    shutil.copy2(checkout.root / "requirements.lock", made)


def small_checkout(root: Path) -> Checkout:
    """The real start scripts around a lock of one small package and a command that only talks."""
    shutil.copytree(ROOT / "bin", root / "bin", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "penstock", root)
    package = root / "src" / "penstock"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(TALKING_STUB, "utf-8")
    checkout = Checkout(root, dict(os.environ))
    checkout.warm_up_with("print('penstock: compiled what there is')")
    checkout.lock_packages("iniconfig")
    return checkout


def environment_without_java(folder: Path) -> dict[str, str]:
    """This environment, but with a PATH that holds links to a few tools and this Python only."""
    folder.mkdir()
    for tool in TOOLS:
        if found := shutil.which(tool):
            (folder / tool).symlink_to(found)
    version = f"python3.{sys.version_info.minor}"
    (folder / "python3").symlink_to(Path(sys.base_prefix) / "bin" / version)
    hidden = ("JAVA_HOME", "SPARK_HOME", "PYTHONPATH", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return {**kept, "PATH": str(folder)}


def write_script(path: Path, text: str) -> Path:
    """An executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(0o755)
    return path
