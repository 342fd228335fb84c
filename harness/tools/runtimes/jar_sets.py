"""Get the jars of a runtime in a version of the user's choice.

The first use resolves the version's dependencies with Ivy and writes a lock into the cache. From
then on exactly these jars are used, offline, and every later download is checked against the lock.
"""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, Protocol

from onceproof.harness.tools import cache, jar_lock, jars
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.ivy import Coordinate, Count
from onceproof.harness.tools.jar_lock import JarSet
from onceproof.harness.tools.progress import Progress, Step, silent
from onceproof.harness.tools.runtimes import locks
from onceproof.harness.tools.runtimes.recipes import (
    ARTEMIS,
    FLINK,
    JVM,
    KAFKA,
    Recipe,
    is_usual,
    recipe,
)

_LOCK: Final = "lock.json"
_MB: Final = 1_000_000


class Resolver(Protocol):
    """What downloads jars: `Ivy`."""

    def resolve(
        self, roots: tuple[Coordinate, ...], folder: Path, *, name: str, count: Count
    ) -> Mapping[Coordinate, Path]:
        """Download jars and their dependencies."""

    def fetch(
        self, jars: list[Coordinate], folder: Path, *, name: str, count: Count
    ) -> Mapping[Coordinate, Path]:
        """Download exactly these jars."""


def chosen(versions: Mapping[str, str], get: Callable[[str, str], Path]) -> dict[str, Path]:
    """Return the folders of the runtimes of `JVM` that are not in their usual version.

    Flink is always among them, because scenarios differ in its usual version. The brokers are not:
    their jars are part of the local stage. `get` is `folder`, whose errors are raised.
    """
    wanted = {
        runtime: versions[runtime]
        for runtime in JVM
        if runtime in versions
        and runtime != KAFKA
        and (runtime == FLINK or not is_usual(runtime, versions[runtime]))
    }
    with ThreadPoolExecutor(2, thread_name_prefix="setup-runtimes") as pool:
        jobs = {name: pool.submit(get, name, version) for name, version in wanted.items()}
    return {runtime: job.result() for runtime, job in jobs.items()}


def folder(
    runtime: str, version: str, ivy: Resolver, *, cache_folder: Path, progress: Progress = silent
) -> Path:
    """Return the folder of a runtime's jars, downloading them if necessary.

    Raises:
        SetupError: the version does not exist, or a jar cannot be downloaded.
    """
    if is_usual(runtime, version):
        name = runtime if runtime in (FLINK, ARTEMIS) else KAFKA
        return _ensure(jar_lock.load(name, version), ivy, cache_folder, progress)
    wanted = recipe(runtime, version)
    return of_recipe(wanted, ivy, cache_folder=cache_folder, progress=progress)


def of_recipe(
    wanted: Recipe, ivy: Resolver, *, cache_folder: Path, progress: Progress = silent
) -> Path:
    """Return the folder of a recipe's jars; raises as `folder`."""
    place = cache_folder / "runtimes" / _name(wanted)

    def build(into: Path) -> None:
        _resolve(wanted, ivy, into, cache_folder=cache_folder, progress=progress)

    def waiting() -> None:
        message = "waiting for another process to download it"
        progress(Step(tool=wanted.runtime, message=message))

    cache.install(place, build, usable=lambda p: _usable(wanted, p), waiting=waiting)
    return _ensure(_load(wanted, place), ivy, cache_folder, progress)


def _name(wanted: Recipe) -> str:
    """Return a folder name with a hash of the recipe, so that a changed one is resolved again."""
    text = "\n".join([*map(str, wanted.roots), *sorted(wanted.left_out)])
    return f"{wanted.runtime}-{wanted.version}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _load(wanted: Recipe, place: Path) -> JarSet:
    return jar_lock.load(wanted.runtime, wanted.version, lock=place / _LOCK)


def _usable(wanted: Recipe, place: Path) -> bool:
    try:
        return bool(_load(wanted, place).sums)
    except SetupError:
        return False


def _resolve(
    wanted: Recipe, ivy: Resolver, into: Path, *, cache_folder: Path, progress: Progress
) -> None:
    """Resolve and install the jars, and write their lock into a folder."""
    count = _counter(wanted, progress)
    with tempfile.TemporaryDirectory(dir=into, prefix=".work-") as work:
        found = ivy.resolve(wanted.roots, Path(work), name=wanted.title, count=count)
        files = {j: file for j, file in found.items() if j.artifact not in wanted.left_out}
        if len({jar.file_name for jar in files}) < len(files):
            raise SetupError(f"Two jars of {wanted.title} have the same file name.")
        locked = JarSet(
            name=wanted.runtime,
            version=wanted.version,
            sums={jar: jar_lock.digest(file) for jar, file in files.items()},
        )
        sums = {str(jar): digest for jar, digest in locked.sums.items()}
        locks.check(cache_folder, _name(wanted), sums)
        size = sum(file.stat().st_size for file in files.values())

        def fetch(
            wanted: list[Coordinate], folder: Path, count: Count
        ) -> Mapping[Coordinate, Path]:
            return {jar: files[jar] for jar in wanted}

        jars.ensure(locked, cache_folder=cache_folder, fetch=fetch)
    jar_lock.save([locked], lock=into / _LOCK)
    message = f"downloaded {len(locked.sums)} jars, {size / _MB:.0f} MB"
    progress(Step(tool=wanted.runtime, message=message))


def _counter(wanted: Recipe, progress: Progress) -> Callable[[int], None]:
    """Return a function that reports every tenth jar; how many there will be is not known."""
    done = 0
    lock = threading.Lock()

    def count(more: int) -> None:
        nonlocal done
        with lock:
            done += more
            if done % 10 == 0:
                progress(Step(tool=wanted.runtime, message=f"downloaded {done} jars"))

    progress(Step(tool=wanted.runtime, message=f"downloading {wanted.version} with all it needs"))
    return count


def _ensure(locked: JarSet, ivy: Resolver, cache_folder: Path, progress: Progress) -> Path:
    def fetch(wanted: list[Coordinate], folder: Path, count: Count) -> Mapping[Coordinate, Path]:
        return ivy.fetch(wanted, folder, name=locked.title, count=count)

    return jars.ensure(locked, cache_folder=cache_folder, fetch=fetch, progress=progress)
