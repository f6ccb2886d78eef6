"""What was made of files, asked for and let go of by several threads."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import TYPE_CHECKING

import pytest

from penstock.store.made_of_files import MadeOfFiles

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def many_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def read(path: Path) -> str:
    return path.read_text()


@pytest.mark.usefixtures("many_switches")
def test_threads_may_ask_while_others_let_go(tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(100)]
    for one in paths:
        one.write_text(one.name)
    made: MadeOfFiles[str] = MadeOfFiles(read)

    for one in paths:
        made.of(one)

    def work(seed: int) -> None:
        random = Random(seed)
        for _ in range(300):
            one = random.choice(paths)
            made.forget([one, random.choice(paths)])
            assert made.of(one) == one.name

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(work, seed) for seed in range(4)]:
            done.result()
