"""The archive of Java's classes: used where it is, written where that is wanted, else nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from penstock.spark import java_archive
from penstock.spark.java_archive import WRITE, archive_of, archive_options

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of Spark, beside a Java and a cache."""
    monkeypatch.setattr(java_archive, "folder", lambda: tmp_path / "cache" / "loops")
    monkeypatch.delenv(WRITE, raising=False)
    (tmp_path / "java").write_text("")
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    (tmp_path / "spark" / "jars" / "a.jar").write_text("a")
    return tmp_path / "spark"


def test_an_archive_is_used_if_it_is_there(spark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = spark.parent / "java"
    archive = archive_of(java, spark)
    assert archive is not None
    assert archive_options(java, spark) == ""
    monkeypatch.setenv(WRITE, "1")
    assert archive_options(java, spark).startswith('"-XX:ArchiveClassesAtExit=')
    monkeypatch.delenv(WRITE)
    archive.write_text("classes")
    assert archive_options(java, spark).startswith(f'"-XX:SharedArchiveFile={archive}"')


def test_another_spark_or_java_has_another_archive(spark: Path) -> None:
    java = spark.parent / "java"
    before = archive_of(java, spark)
    (spark / "jars" / "b.jar").write_text("b")
    assert archive_of(java, spark) != before


def test_without_a_folder_there_is_none(spark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java_archive, "folder", lambda: None)
    assert archive_options(spark.parent / "java", spark) == ""
