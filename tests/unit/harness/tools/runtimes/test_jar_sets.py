"""Jars of chosen versions: resolved once, locked in the cache, and checked from then on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

import pytest

from onceproof.harness.tools import jar_lock
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.ivy import Coordinate, Count
from onceproof.harness.tools.progress import Step
from onceproof.harness.tools.runtimes import jar_sets

CLIENTS = Coordinate(group="org.apache.kafka", artifact="kafka-clients", version="3.0.0")
NEEDED = Coordinate(group="org.slf4j", artifact="slf4j-api", version="1.7.30")
REPLACED = Coordinate(group="ch.qos.reload4j", artifact="reload4j", version="1.2.19")


class FakeIvy:
    """Serves files whose content is their coordinate, and counts what it was asked for."""

    def __init__(self, *resolved: Coordinate, forged: str = "") -> None:
        self.resolved = resolved
        self.forged = forged
        self.resolutions: list[tuple[Coordinate, ...]] = []
        self.fetched: list[Coordinate] = []

    def resolve(
        self, roots: tuple[Coordinate, ...], folder: Path, *, name: str, count: Count
    ) -> Mapping[Coordinate, Path]:
        self.resolutions.append(roots)
        return self._files(self.resolved, folder, count)

    def fetch(
        self, jars: list[Coordinate], folder: Path, *, name: str, count: Count
    ) -> Mapping[Coordinate, Path]:
        self.fetched += jars
        return self._files(jars, folder, count)

    def _files(
        self, jars: Iterable[Coordinate], folder: Path, count: Count
    ) -> dict[Coordinate, Path]:
        found = {}
        for jar in jars:
            found[jar] = folder / jar.file_name
            found[jar].write_text(f"{jar}{self.forged}")
            count(1)
        return found


@pytest.fixture
def ivy() -> FakeIvy:
    return FakeIvy(CLIENTS, NEEDED, REPLACED)


@pytest.fixture
def get(ivy: FakeIvy, tmp_path: Path) -> Callable[[], Path]:
    return partial(jar_sets.folder, "kafka-clients", "3.0.0", ivy, cache_folder=tmp_path)


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.glob("*.jar"))


def test_version_is_resolved_once(get: Callable[[], Path], ivy: FakeIvy) -> None:
    first = get()
    assert names(first) == ["kafka-clients-3.0.0.jar", "slf4j-api-1.7.30.jar"]
    assert get() == first
    assert CLIENTS in ivy.resolutions[0]
    assert (len(ivy.resolutions), ivy.fetched) == (1, [])


def test_lost_jars_are_downloaded_by_the_lock(get: Callable[[], Path], ivy: FakeIvy) -> None:
    first = get()
    (first / "slf4j-api-1.7.30.jar").unlink()
    ivy.resolved = ()  # what it would resolve today does not count
    assert get() == first
    assert names(first) == ["kafka-clients-3.0.0.jar", "slf4j-api-1.7.30.jar"]
    assert (len(ivy.resolutions), sorted(ivy.fetched)) == (1, [CLIENTS, NEEDED])


def test_later_download_must_match_the_lock(get: Callable[[], Path], ivy: FakeIvy) -> None:
    (get() / "slf4j-api-1.7.30.jar").unlink()
    ivy.forged = "!"
    with pytest.raises(SetupError, match=r"has sha256 .* expects"):
        get()


def test_lock_has_the_format_of_the_shipped_one(get: Callable[[], Path], tmp_path: Path) -> None:
    folder = get()
    (lock,) = tmp_path.glob("runtimes/kafka-clients-3.0.0-*/lock.json")
    locked = jar_lock.load("kafka-clients", "3.0.0", lock=lock)
    assert sorted(locked.sums) == [CLIENTS, NEEDED]
    assert locked.folder_name == folder.name


@pytest.mark.parametrize("content", ["", "[]", "{}"])
def test_damaged_lock_is_resolved_again(
    content: str, get: Callable[[], Path], ivy: FakeIvy, tmp_path: Path
) -> None:
    first = get()
    (lock,) = tmp_path.glob("runtimes/*/lock.json")
    lock.write_text(content)
    assert get() == first
    assert len(ivy.resolutions) == 2


def test_processes_resolve_once(get: Callable[[], Path], ivy: FakeIvy) -> None:
    threads = [threading.Thread(target=get) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ivy.resolutions) == 1


def test_failed_resolution_leaves_nothing(tmp_path: Path) -> None:
    class Absent(FakeIvy):
        def resolve(self, *_: object, **__: object) -> Mapping[Coordinate, Path]:
            raise SetupError("the Maven repository does not have it")

    with pytest.raises(SetupError, match="does not have it"):
        jar_sets.folder("kafka", "3.9.9", Absent(), cache_folder=tmp_path)
    assert not [f for f in tmp_path.rglob("*") if f.is_file() and f.suffix != ".lock"]


def test_jars_of_the_same_name_are_refused(tmp_path: Path) -> None:
    other = Coordinate(group="org.other", artifact="kafka-clients", version="3.0.0")
    with pytest.raises(SetupError, match="same file name"):
        jar_sets.folder("kafka-clients", "3.0.0", FakeIvy(CLIENTS, other), cache_folder=tmp_path)


def test_usual_versions_use_the_shipped_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def ensure(jars: jar_lock.JarSet, **_: object) -> Path:
        asked.append(jars.title)
        return tmp_path

    monkeypatch.setattr(jar_sets.jars, "ensure", ensure)
    flink = next(iter(jar_lock.FLINK))
    wanted = (("kafka", jar_lock.KAFKA), ("kafka-clients", jar_lock.KAFKA), ("flink", flink))
    for runtime, version in wanted:
        jar_sets.folder(runtime, version, FakeIvy(), cache_folder=tmp_path)
    assert asked == [f"kafka {jar_lock.KAFKA}", f"kafka {jar_lock.KAFKA}", f"flink {flink}"]


def test_progress_names_jars_and_size(ivy: FakeIvy, tmp_path: Path) -> None:
    steps: list[Step] = []
    jar_sets.folder("kafka-clients", "3.0.0", ivy, cache_folder=tmp_path, progress=steps.append)
    assert [step.message for step in steps] == [
        "downloading 3.0.0 with all it needs",
        "downloaded 2 jars, 0 MB",
        "kafka-clients 3.0.0 is ready",
    ]


def test_chosen_leaves_out_brokers_and_usual_versions() -> None:
    def get(runtime: str, version: str) -> Path:
        return Path(f"/{runtime}-{version}")

    flink = next(iter(jar_lock.FLINK))
    assert jar_sets.chosen({"kafka": "3.9.2", "librdkafka": "2.1.0"}, get) == {}
    assert jar_sets.chosen(
        {"kafka-clients": jar_lock.KAFKA, "connect": "3.9.2", "flink": flink}, get
    ) == {"connect": Path("/connect-3.9.2"), "flink": Path(f"/flink-{flink}")}
