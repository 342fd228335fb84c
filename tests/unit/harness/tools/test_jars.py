"""Jar sets: downloaded once, and checked against the lock file."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from onceproof.harness.tools import ivy, jar_lock, jars
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.ivy import Coordinate, Count
from onceproof.harness.tools.jar_lock import JarSet, PySpark
from onceproof.harness.tools.progress import Step

CONTENT = {"org.a:one:1.0": b"first", "org.b:two_2.13:2.0-rc1": b"second"}


@pytest.fixture
def jar_set() -> JarSet:
    sums = {Coordinate.parse(c): hashlib.sha256(b).hexdigest() for c, b in CONTENT.items()}
    return JarSet(name="demo", version="1.0", sums=sums)


class FakeRepository:
    """Serves jars as Ivy would, and counts the downloads."""

    def __init__(self, content: Mapping[str, bytes] = CONTENT) -> None:
        self.content = content
        self.downloads = 0

    def __call__(
        self, wanted: list[Coordinate], folder: Path, count: Count
    ) -> dict[Coordinate, Path]:
        self.downloads += 1
        time.sleep(0.05)
        files = {}
        for number, coordinate in enumerate(wanted):
            if (content := self.content.get(str(coordinate))) is not None:
                files[coordinate] = folder / f"{number}.jar"
                files[coordinate].write_bytes(content)
                count(1)
        return files


def test_jar_set_is_downloaded_once(tmp_path: Path, jar_set: JarSet) -> None:
    repository = FakeRepository()
    folder = jars.ensure(jar_set, cache_folder=tmp_path, fetch=repository)
    assert jars.ensure(jar_set, cache_folder=tmp_path, fetch=repository) == folder
    assert repository.downloads == 1
    assert sorted(f.name for f in folder.glob("*.jar")) == ["one-1.0.jar", "two_2.13-2.0-rc1.jar"]
    assert jars.damage(jar_set, folder, thorough=True) == []


def test_concurrent_ensure_downloads_once(tmp_path: Path, jar_set: JarSet) -> None:
    repository = FakeRepository()
    threads = [
        threading.Thread(
            target=jars.ensure,
            args=(jar_set,),
            kwargs={"cache_folder": tmp_path, "fetch": repository},
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert repository.downloads == 1


def test_jar_with_wrong_checksum_is_named_and_not_installed(
    tmp_path: Path, jar_set: JarSet
) -> None:
    repository = FakeRepository({**CONTENT, "org.a:one:1.0": b"forged"})
    with pytest.raises(SetupError) as caught:
        jars.ensure(jar_set, cache_folder=tmp_path, fetch=repository)
    message = str(caught.value)
    assert "one-1.0.jar (org.a:one:1.0)" in message
    assert hashlib.sha256(b"forged").hexdigest() in message
    assert jar_set.sums[Coordinate.parse("org.a:one:1.0")] in message
    assert not list(tmp_path.rglob("*.jar"))


def test_missing_download_is_named(tmp_path: Path, jar_set: JarSet) -> None:
    repository = FakeRepository({"org.a:one:1.0": b"first"})
    with pytest.raises(SetupError, match=r"org.b:two_2.13:2.0-rc1 was not downloaded"):
        jars.ensure(jar_set, cache_folder=tmp_path, fetch=repository)


def test_damaged_jar_set_is_downloaded_again(tmp_path: Path, jar_set: JarSet) -> None:
    repository = FakeRepository()
    folder = jars.ensure(jar_set, cache_folder=tmp_path, fetch=repository)
    (folder / "one-1.0.jar").write_bytes(b"cut")
    jars.ensure(jar_set, cache_folder=tmp_path, fetch=repository)
    assert repository.downloads == 2
    assert (folder / "one-1.0.jar").read_bytes() == b"first"


def test_damage_lists_unexpected_missing_and_changed_jars(tmp_path: Path, jar_set: JarSet) -> None:
    folder = jars.ensure(jar_set, cache_folder=tmp_path, fetch=FakeRepository())
    (folder / "one-1.0.jar").write_bytes(b"FIRST")
    (folder / "two_2.13-2.0-rc1.jar").unlink()
    (folder / "stray.jar").touch()
    assert jars.damage(jar_set, folder) == [
        "stray.jar is unexpected",
        "two_2.13-2.0-rc1.jar is missing",
    ]
    assert "the sha256 of one-1.0.jar differs from the lock file" in jars.damage(
        jar_set, folder, thorough=True
    )


def test_folder_name_depends_on_the_checksums(jar_set: JarSet) -> None:
    other = JarSet(name="demo", version="1.0", sums=dict.fromkeys(jar_set.sums, "0" * 64))
    assert other.folder_name != jar_set.folder_name


def test_progress_counts_jars(tmp_path: Path, jar_set: JarSet) -> None:
    steps: list[Step] = []
    jars.ensure(jar_set, cache_folder=tmp_path, fetch=FakeRepository(), progress=steps.append)
    assert [s.done for s in steps] == [0, 1, 2, None]
    assert steps[-1].finished


def test_lock_survives_save_and_load(tmp_path: Path, jar_set: JarSet) -> None:
    file = tmp_path / "lock.json"
    jar_lock.save([jar_set], lock=file)
    assert jar_lock.load("demo", "1.0", lock=file) == jar_set


def test_unlocked_version_error_suggests_make_lock_jars(tmp_path: Path, jar_set: JarSet) -> None:
    file = tmp_path / "lock.json"
    jar_lock.save([jar_set], lock=file)
    with pytest.raises(SetupError, match=r"no checksums for demo 2.0.*make lock-jars"):
        jar_lock.load("demo", "2.0", lock=file)


@pytest.mark.parametrize("content", ["", "[]", '{"demo 1.0": {"nonsense": "0"}}'])
def test_broken_lock_error_suggests_restoring_it(tmp_path: Path, content: str) -> None:
    file = tmp_path / "lock.json"
    file.write_text(content)
    with pytest.raises(SetupError, match=r"cannot be read.*Restore it"):
        jar_lock.load("demo", "1.0", lock=file)


def test_shipped_lock_is_consistent() -> None:
    sets = json.loads(jar_lock.LOCK.read_text())
    kafka = sets[f"kafka {jar_lock.KAFKA}"]
    assert all(str(root) in kafka for root in jar_lock.kafka_roots())
    connect = sets[f"kafka-connect {jar_lock.KAFKA}"]
    assert all(str(root) in connect for root in jar_lock.connect_roots())
    assert not connect.keys() & kafka.keys(), "they share a class path"
    log4j = {c.split(":")[2] for c in kafka if c.startswith("org.apache.logging.log4j:")}
    assert log4j == {jar_lock.LOG4J}
    assert all(len(digest) == 64 for jars_ in sets.values() for digest in jars_.values())
    assert [name for name in sets if name.startswith("spark-kafka ")]


def test_connector_version_follows_the_installed_pyspark(tmp_path: Path) -> None:
    for name in ("scala-library-2.12.18.jar", "snappy-java-1.1.10.jar", "ivy-2.5.1.jar"):
        (tmp_path / name).touch()
    pyspark = PySpark(version="3.4.7", jars=tmp_path)
    (root,) = jar_lock.spark_kafka_roots(pyspark)
    assert str(root) == "org.apache.spark:spark-sql-kafka-0-10_2.12:3.4.7"
    assert pyspark.ivy.name == "ivy-2.5.1.jar"
    assert pyspark.bundles("snappy-java")
    assert not pyspark.bundles("snappy")


def test_table_format_jars_follow_the_pyspark_version(tmp_path: Path) -> None:
    (tmp_path / "scala-library-2.13.16.jar").touch()
    roots = jar_lock.spark_kafka_roots(PySpark(version="4.0.7", jars=tmp_path))
    assert [str(root) for root in roots] == [
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.7",
        f"io.delta:delta-spark_2.13:{jar_lock.DELTA['4.0']}",
        f"org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:{jar_lock.ICEBERG['4.0']}",
    ]


def test_pyspark_without_ivy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="lacks ivy"):
        _ = PySpark(version="4.0.0", jars=tmp_path).ivy


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("\tHost repo.example not found. url=x\n\t:: a#b;1: not found", "no Maven repository can"),
        ("java.net.ConnectException: Connection refused", "no Maven repository can"),
        ("\t\t:: org.a#one;1.0: not found\n", "does not have org.a:one:1.0"),
        ("java.io.IOException: No space left on device", "disk is full"),
        ("Exception in thread main: odd\n\t... 6 more", "Exception in thread main: odd"),
        ("", "it printed nothing"),
    ],
)
def test_explain_turns_ivy_output_into_a_message(output: str, message: str) -> None:
    assert message in ivy.explain(output, name="demo 1.0")
