"""Spark drivers start with a class archive, despite another Spark installation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.processes.processes import Processes
from onceproof.harness.processes.sweep import new_marker
from onceproof.harness.subjects.spark import classes as spark_classes
from onceproof.harness.subjects.spark.classes import with_classes
from onceproof.harness.subjects.spark.driver import JVM, start_driver
from onceproof.harness.tools.setup import ensure
from onceproof.harness.wait import Interrupted, Stop
from tests.end_to_end.catalogue import LATER
from tests.integration.staging import eventually, marked_processes

pytestmark = pytest.mark.integration
MARKER = new_marker()
INSPECTION = """
from pathlib import Path
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
maps = Path(f"/proc/{spark.sparkContext._gateway.proc.pid}/maps").read_text()
print("mapped", "classes.jsa" in maps, spark.conf.get("spark.sql.shuffle.partitions"))
spark.stop()
"""


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[PipelineParts]:
    processes = Processes(MARKER, tmp_path)
    made = SimpleNamespace(
        work=tmp_path / "a folder",
        address="127.0.0.1",
        tools=ensure(),
        processes=processes,
        stop=Stop(),
    )
    made.work.mkdir()
    yield cast("PipelineParts", made)
    processes.kill_all("the test is over")
    assert marked_processes(MARKER) == {}


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "spark"


@LATER
def test_driver_maps_the_class_archive(
    parts: PipelineParts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hadoop").mkdir()
    (tmp_path / "hadoop" / "core-site.xml").write_text("no XML")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path / "hadoop"))
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "another"))
    job = tmp_path / "looks.py"
    job.write_text(INSPECTION)
    options = with_classes(parts)
    assert options[: len(JVM)] == JVM != options
    driver = start_driver(parts, parts.processes, [str(job)], options=options)
    eventually(lambda: not driver.alive(), "the job to end", seen=driver.tail)
    assert "mapped True 2" in driver.log.read_text()


def test_failed_recording_is_retried(
    parts: PipelineParts, empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = tmp_path / "fails.py"
    job.write_text("raise SystemExit(3)")
    monkeypatch.setattr(spark_classes, "JOB", job)
    for _ in range(2):
        assert with_classes(parts) == JVM
    assert [f for f in empty_cache.iterdir() if f.suffix != ".lock"] == []


def test_jvm_without_archive_is_not_retried(
    parts: PipelineParts, empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = tmp_path / "writes_none.py"
    job.write_text(f"open({str(tmp_path / 'asked')!r}, 'a').write('once ')")
    monkeypatch.setattr(spark_classes, "JOB", job)
    for _ in range(2):
        assert with_classes(parts) == JVM
    assert (tmp_path / "asked").read_text() == "once "


def test_interrupted_recording_leaves_no_files(parts: PipelineParts, empty_cache: Path) -> None:
    parts.stop.set("SIGINT received")
    with pytest.raises(Interrupted, match="SIGINT received"):
        with_classes(parts)
    assert [f for f in empty_cache.iterdir() if f.suffix != ".lock"] == []
