"""What docs/users/stream_tests.md shows is what happens."""

from __future__ import annotations

import re
from pathlib import Path

from penstock.cli.test import failure_text
from penstock.testing.blocks import BODY
from penstock.testing.engines import OracleEngine
from penstock.testing.format import parse_test
from penstock.testing.runner import run_case

TEXT = (Path(__file__).parents[3] / "docs" / "users" / "stream_tests.md").read_text("utf-8")


def shown(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def test_the_example_passes() -> None:
    (example,) = shown("stream")
    for case in parse_test(example, "example.stream").cases:
        assert run_case(case, OracleEngine()).text == ""


def test_the_failure_shown_is_the_one_that_is_printed() -> None:
    (example,) = shown("stream")
    wrong = example.replace("@4   kitchen | 20.0", "@4   kitchen | 21.0")
    case = parse_test(wrong, "example.stream").cases[0]
    assert failure_text(run_case(case, OracleEngine())).strip() == shown("text")[0].strip()


def test_every_block_is_described() -> None:
    described = set(re.findall(r"^\| `(\w+)", TEXT, re.MULTILINE))
    assert set(BODY) <= described
