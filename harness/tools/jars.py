"""Download sets of jars into folders of the cache.

Every jar is checked against the lock before its folder appears. Later uses compare only names and
sizes (1 ms); the doctor computes all checksums.
"""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from onceproof.harness.tools import cache, jar_lock
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.ivy import Coordinate, Count, Ivy
from onceproof.harness.tools.jar_lock import JarSet, PySpark
from onceproof.harness.tools.progress import Progress, Step, silent

SIZES = "sizes.json"

Fetch = Callable[[list[Coordinate], Path, Count], Mapping[Coordinate, Path]]
"""Downloads jars into an empty folder, and returns the path of each."""


def ensure(jars: JarSet, *, cache_folder: Path, fetch: Fetch, progress: Progress = silent) -> Path:
    """Return the folder of a set, downloading the jars if necessary."""

    def build(folder: Path) -> None:
        _download(jars, folder, fetch=fetch, progress=progress)

    def waiting() -> None:
        progress(Step(tool=jars.name, message="waiting for another process to download it"))

    target = folder_of(jars, cache_folder)
    cache.install(target, build, usable=lambda t: not damage(jars, t), waiting=waiting)
    progress(Step(tool=jars.name, message=f"{jars.title} is ready", finished=True))
    return target


def folder_of(jars: JarSet, cache_folder: Path) -> Path:
    return cache_folder / "jars" / jars.folder_name


def damage(jars: JarSet, folder: Path, *, thorough: bool = False) -> list[str]:
    """Describe the differences between a cached set and the lock; compute sums if `thorough`."""
    try:
        sizes = json.loads((folder / SIZES).read_text())
    except (OSError, ValueError):
        return [f"{jars.title} is not in the cache"]
    found = {f.name: f.stat().st_size for f in folder.iterdir() if f.name != SIZES}
    wrong = [f"{name} is unexpected" for name in sorted(found.keys() - sizes.keys())]
    for coordinate, expected in jars.sums.items():
        name = coordinate.file_name
        if name not in found:
            wrong.append(f"{name} is missing")
        elif found[name] != sizes.get(name):
            wrong.append(f"{name} has {found[name]} bytes, expected {sizes.get(name)}")
        elif thorough and jar_lock.digest(folder / name) != expected:
            wrong.append(f"the sha256 of {name} differs from the lock file")
    return wrong


def _download(jars: JarSet, folder: Path, *, fetch: Fetch, progress: Progress) -> None:
    total = len(jars.sums)
    downloaded = 0
    lock = threading.Lock()

    def told(done: int) -> None:
        progress(Step(tool=jars.name, message="downloading jars", done=done, total=total))

    def count(more: int) -> None:
        nonlocal downloaded
        with lock:
            downloaded = min(total, downloaded + more)
            told(downloaded)

    told(0)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".work-") as work:
        files = fetch(sorted(jars.sums), Path(work), count)
        for coordinate, expected in jars.sums.items():
            verify(coordinate, files.get(coordinate), expected)
            files[coordinate].rename(folder / coordinate.file_name)
    sizes = {f.name: f.stat().st_size for f in sorted(folder.iterdir())}
    (folder / SIZES).write_text(json.dumps(sizes, indent=2) + "\n")


def verify(coordinate: Coordinate, file: Path | None, expected: str) -> None:
    """Raise `SetupError` if a jar is missing or differs from the lock."""
    if file is None:
        raise SetupError(f"{coordinate} was not downloaded. Try again.")
    actual = jar_lock.digest(file)
    if actual != expected:
        raise SetupError(
            f"{coordinate.file_name} ({coordinate}) has sha256 {actual}, but the jar lock file "
            f"expects {expected}. Nothing was installed. Try again; if the error persists, the "
            "repository or a proxy serves a different file."
        )


def with_ivy(jars: JarSet, ivy: Ivy, *, cache_folder: Path, progress: Progress = silent) -> Path:
    """Return the folder of a set, downloading the jars with Ivy if necessary."""

    def fetch(wanted: list[Coordinate], folder: Path, count: Count) -> Mapping[Coordinate, Path]:
        return ivy.fetch(wanted, folder, name=jars.title, count=count)

    return ensure(jars, cache_folder=cache_folder, fetch=fetch, progress=progress)


def relock(ivy: Ivy, pyspark: PySpark) -> list[JarSet]:
    """Resolve all sets and write their sums; the jars downloaded now are trusted from now on."""
    wanted = [
        ("kafka", jar_lock.KAFKA, jar_lock.kafka_roots(), False),
        ("kafka-connect", jar_lock.KAFKA, jar_lock.connect_roots(), False),
        ("spark-kafka", pyspark.version, jar_lock.spark_kafka_roots(pyspark), True),
        *(("flink", flink, jar_lock.flink_roots(flink), False) for flink in jar_lock.FLINK),
        ("artemis", jar_lock.ARTEMIS, jar_lock.artemis_roots(), False),
        ("spring-kafka", jar_lock.SPRING_KAFKA, jar_lock.spring_kafka_roots(), False),
        ("hudi", jar_lock.HUDI, jar_lock.hudi_roots(), False),
        ("paimon", jar_lock.PAIMON, jar_lock.paimon_roots(), False),
    ]
    sets: list[JarSet] = []
    for name, version, roots, uses_pyspark in wanted:
        with tempfile.TemporaryDirectory(prefix="onceproof-lock-") as work:
            files = ivy.resolve(roots, Path(work), name=name)
            sums = {
                jar: jar_lock.digest(file)
                for jar, file in files.items()
                if not (uses_pyspark and pyspark.bundles(jar.artifact))
            }
        if name == "kafka-connect":  # used with the broker's jars
            sums = {jar: s for jar, s in sums.items() if jar not in sets[0].sums}
        if len({jar.file_name for jar in sums}) < len(sums):
            raise SetupError(f"Two jars of {name} have the same file name; names must be unique.")
        sets.append(JarSet(name=name, version=version, sums=sums))
    jar_lock.save(sets)
    return sets
