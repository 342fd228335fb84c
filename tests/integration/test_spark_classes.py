"""Spark drivers start with classes that one has loaded, wherever the machine's own Spark is."""

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
from tests.integration.staging import eventually, marked

pytestmark = pytest.mark.integration
MARKER = new_marker()
LOOKS = """
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
    assert marked(MARKER) == {}


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "spark"


def test_a_driver_has_mapped_the_classes(
    parts: PipelineParts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hadoop").mkdir()
    (tmp_path / "hadoop" / "core-site.xml").write_text("no XML")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path / "hadoop"))
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "another"))
    job = tmp_path / "looks.py"
    job.write_text(LOOKS)
    options = with_classes(parts)
    assert options[: len(JVM)] == JVM != options
    driver = start_driver(parts, parts.processes, [str(job)], options=options)
    eventually(lambda: not driver.alive(), "the job to end", seen=driver.tail)
    assert "mapped True 2" in driver.log.read_text()


def test_a_recording_that_fails_is_gone_without_and_tried_again(
    parts: PipelineParts, fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = tmp_path / "fails.py"
    job.write_text("raise SystemExit(3)")
    monkeypatch.setattr(spark_classes, "JOB", job)
    for _ in range(2):
        assert with_classes(parts) == JVM
    assert [f for f in fresh.iterdir() if f.suffix != ".lock"] == []


def test_a_jvm_that_writes_none_is_not_asked_again(
    parts: PipelineParts, fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = tmp_path / "writes_none.py"
    job.write_text(f"open({str(tmp_path / 'asked')!r}, 'a').write('once ')")
    monkeypatch.setattr(spark_classes, "JOB", job)
    for _ in range(2):
        assert with_classes(parts) == JVM
    assert (tmp_path / "asked").read_text() == "once "


def test_recording_can_be_interrupted_and_leaves_nothing(parts: PipelineParts, fresh: Path) -> None:
    parts.stop.set("SIGINT received")
    with pytest.raises(Interrupted, match="SIGINT received"):
        with_classes(parts)
    assert [f for f in fresh.iterdir() if f.suffix != ".lock"] == []
