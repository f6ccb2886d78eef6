"""Settings of Spark that the surroundings of this process give: spark-submit, variables, files."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MASTER = "spark.master"
_DEFAULTS_LINE = re.compile(r"\s*([^#!\s=:][^\s=:]*)\s*[=:\s]\s*(\S.*?)\s*$")


def is_submitted() -> bool:
    """This process was started by spark-submit: its Java runs already."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def names_remote(environment: Mapping[str, str]) -> bool:
    """Variables say that sessions are those of Spark Connect."""
    return any(environment.get(name) for name in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"))


def given_settings() -> dict[str, str]:
    """The configuration that Spark would start with if a program said nothing."""
    if not is_submitted():
        return settings_of(os.environ)
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())


def settings_of(environment: Mapping[str, str]) -> dict[str, str]:
    """The configuration that variables give; as for spark-submit, the first is the strongest.

    These are PYSPARK_SUBMIT_ARGS, the file `spark-defaults.conf` in SPARK_CONF_DIR, and MASTER.

    >>> settings_of({"PYSPARK_SUBMIT_ARGS": "--master yarn --conf spark.ui.port=1 pyspark-shell"})
    {'spark.ui.port': '1', 'spark.master': 'yarn'}
    >>> settings_of({"MASTER": "local[3]"})
    {'spark.master': 'local[3]'}
    """
    named = {MASTER: environment["MASTER"]} if environment.get("MASTER") else {}
    folder = environment.get("SPARK_CONF_DIR")
    defaults = _in_file(Path(folder, "spark-defaults.conf")) if folder else {}
    return named | defaults | _submitted(shlex.split(environment.get("PYSPARK_SUBMIT_ARGS", "")))


def _in_file(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    lines = map(_DEFAULTS_LINE.match, path.read_text("utf-8").splitlines())
    return {one[1]: one[2] for one in lines if one}


def _submitted(arguments: list[str]) -> dict[str, str]:
    """The options of spark-submit that are settings; `--master` is stronger than `--conf`."""
    settings, master = {}, {}
    words = iter(arguments)
    for word in words:
        option, has_value, value = word.partition("=")
        if option in ("--master", "--conf", "-c"):
            text = value if has_value else next(words, "")
            if option == "--master":
                master = {MASTER: text}
            else:
                key, _, setting = text.partition("=")
                settings[key] = setting
    return settings | master
